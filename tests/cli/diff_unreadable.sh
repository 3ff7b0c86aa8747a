# Which side it is that cannot be read is said.
tscope diff data/run_before data/no_such_run
echo $?
tscope diff data/hostile_reduce.pickle data/run_after
echo $?
tscope diff data/execution_trace.json data/two_steps.json
echo $?
# Damage is reported, and decides with --strict.
tscope diff --quiet data/two_steps_cut.json data/two_steps.json
echo $?
tscope diff --quiet --strict data/two_steps_cut.json data/two_steps.json
echo $?
