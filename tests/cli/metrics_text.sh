# What three loggers say of one job, without a trace: one run, its loss and the step where it jumps.
tscope report --full data/run_metrics
