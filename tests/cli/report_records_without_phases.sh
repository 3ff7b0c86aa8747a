# Losses alone: the times are the trace's. Without a trace there are none, and gates say so.
mkdir -p run/rank0
cp data/run_mixed/rank0/trace.json run/rank0
sed 's/"phases":{[^}]*}/"phases":{}/' data/run_mixed/rank0/steps.jsonl >run/rank0/steps.jsonl
tscope report --full --quiet --fail-on 'step_time.mean_ms<0.9' run
rm run/rank0/trace.json
tscope report --full --quiet --fail-on 'step_time.mean_ms>1' run
