# Of files that are left out for one reason a few are named and the others counted; JSON names all.
mkdir run && cp data/slow_loader.json run/rank0.json
for i in 1 2 3 4 5 6 7; do
	echo '{"traceEvents":[{"ph":"M","name":"process_name","pid":1}]}' >run/started_$i.json
done
echo '{"traceEvents":[]' >run/unfinished.json
tscope report --quiet run
tscope report --quiet --strict run 2>/dev/null
echo $?
tscope report --format json run 2>/dev/null | grep -c 'nothing but metadata'
