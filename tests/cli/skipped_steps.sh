# Steps that no figure has are counted in the head: marks within steps, and those that ranks lack.
mark() {
	echo "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#$1\"," \
		"\"pid\": 1, \"tid\": 1, \"ts\": $2, \"dur\": $3}"
}
{
	echo '{"traceEvents": ['
	mark 1 0 1000
	echo ,
	mark 7 100 300
	echo ,
	mark 8 400 300
	echo ,
	mark 2 1000 1000
	echo ']}'
} >nested.json
tscope trace nested.json | head -n 4
tscope report nested.json | head -n 4
for rank in 0 1 2; do
	mkdir -p run/rank$rank
	for step in 0 1 2 3 4 5 6 7 8 9; do
		[ $rank = 1 ] && [ $step = 5 ] ||
			echo "{\"step\": $step, \"phases\": {\"compute\": 0.1}}"
	done >run/rank$rank/steps.jsonl
done
tscope report run
