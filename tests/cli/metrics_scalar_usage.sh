for value in lr=x loss loss= =x ''; do
	tscope report "--scalar=$value" data/run_healthy
	echo $?
done
tscope trace --scalar loss=x data/two_steps.json
