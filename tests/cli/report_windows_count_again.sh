# Two windows of each rank that both begin with step 0: all four pairs of steps are compared.
for rank in 0 1; do
	mkdir -p run/rank$rank
	sed "s/\"rank\": 0/\"rank\": $rank/" data/two_steps.json >run/rank$rank/a.json
	sed "s/\"rank\": 0/\"rank\": $rank/; s/1790857026000000000/1790857027000000000/" data/two_steps.json >run/rank$rank/b.json
done
tscope report --format json run | grep -E '"(n_steps|dropped_step_count)"'
