head -c 900 data/hang_missing_call/nccl_trace_rank_6 >nccl_trace_rank_6
tscope hang nccl_trace_rank_6
tscope hang data/oom.pickle
mkdir empty && tscope hang empty
