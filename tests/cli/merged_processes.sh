# Traces of two processes that jq put into one file: whose the steps are is said in the head.
rank() {
	for step in 1 2; do
		echo "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#$step\"," \
			"\"pid\": $1, \"tid\": $1, \"ts\": $((step * $2)), \"dur\": $2},"
		echo "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\"," \
			"\"pid\": $1, \"tid\": $1, \"ts\": $((step * $2 + 5)), \"dur\": 20}$3"
		[ $step = 2 ] || echo ,
	done
}
{
	echo '{"traceEvents": ['
	rank 4242 100 ""
	echo ,
	rank 4243 300 ""
	echo ']}'
} >both.json
tscope trace both.json | head -n 6
tscope report both.json | head -n 6
# Figures that mix them decide no gate and are not whole.
for command in trace report; do
	tscope $command both.json --fail-on 'step_time.mean_ms>500' 2>&1 >/dev/null
	tscope $command both.json --fail-on 'step_time.mean_us>50' >/dev/null 2>&1
	echo "tripped: exit $?"
	tscope $command both.json --strict 2>&1 >/dev/null
	echo "strict: exit $?"
done
