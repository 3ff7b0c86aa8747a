# What the ring buffer lost is told before all figures, by both commands.
tscope trace --full data/viztracer_overflow.json
tscope report --full --top 1 data/viztracer_overflow.json
