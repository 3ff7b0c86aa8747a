# Two ranks of a run without a fault differ by noise.
tscope diff --full data/run_healthy/rank0 data/run_healthy/rank1
