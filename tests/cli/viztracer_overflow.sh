# What the ring buffer lost is told before all figures, by both commands.
tscope trace data/viztracer_overflow.json
tscope report --top 1 data/viztracer_overflow.json
