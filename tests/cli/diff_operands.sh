tscope diff
echo $?
tscope diff data/run_before
echo $?
tscope diff --tolerance 2 data/run_before data/run_after
echo $?
tscope report --no-significance data/run_before
echo $?
