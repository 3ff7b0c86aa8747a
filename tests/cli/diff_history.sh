# More than two: a row for each, and the first against the last; of eight on, where figures changed.
tscope diff data/run_before data/run_before data/run_after
for i in 1 2 3 4 5 6; do
	tscope report --format baseline --output $i.json data/run_$([ $i -lt 4 ] && echo before || echo after)
done
tscope diff --show history 1.json 2.json 3.json data/run_before 4.json 5.json 6.json data/run_after
