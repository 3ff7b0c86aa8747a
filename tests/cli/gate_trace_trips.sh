# Gates close the report of a trace; what needs several ranks is not known here.
tscope trace --full --fail-on 'step_time.mean_us>320' --fail-on GPU.IDLE --fail-on 'severity>=high' \
	--fail-on straggler --fail-on 'overlap.exposed_comm_ratio>0.9' data/two_steps.json >report.txt
echo $?
sed -n '/GATES/,$p' report.txt
