# Which files about memory do not speak: of several failed requests, of ranks without steps.
mkdir -p run/rank0
cp data/run_memory/rank0/trace.json run/rank0/
for rank in 1 2; do
	cp data/oom.pickle run/rank$rank.pickle
done
tscope report --format json run | sed -n '/"notes"/,/\]/p'
