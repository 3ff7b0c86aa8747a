tscope diff --output report.txt --fail-on 'step_time.mean_ns>+5%' data/run_before data/run_after
echo $?
head -n 8 report.txt
