tscope trace --step-marker train_loop data/two_steps.json | head -3
tscope report --step-marker train_loop data/two_steps.json | head -3
tscope report --scalar loss=nothing data/run_metrics | head -3
tscope trace data
tscope trace --fail-on 'mfu<35' data/flops.json
tscope trace --quiet --fail-on 'mfu<35%' data/flops.json | tail -4
tscope trace --quiet --fail-on 'overlap.exposed_comm_ratio>10%' --fail-on 'step_time.mean_ms>0.1' data/two_steps.json | tail -5
tscope rules sync
tscope trace --flops_per_step 1 data/flops.json
