# Facts as lines of a history, and the main ones as two services read them; a gate that trips marks the run.
echo metrics
tscope report --format metrics --tag run=nightly --tag time=2026-07-01T12:00:00Z data/run_before | grep -e step_time.mean_ns -e 'efficiency.mfu"'
tscope report --format metrics --tag commit=4cb859f --fail-on 'step_time.mean_ns>1' data/run_before 2>&1 | grep peak_alloc
tscope report --format bmf data/run_before
tscope report --format benchmark data/run_before
tscope report --tag branch=main data/run_before
