# What is no history, and gates that need one.
echo '{"fact": "step_time.mean_ns"}' | tscope trend -
tscope trend --last 0 history.jsonl
tscope trend --fail-on 'step_time.mean_ns>3 of trend' -
tscope diff --quiet --fail-on 'step_time.mean_ns>+3% of trend' data/run_before data/run_after | grep trend
