cp -r data/hang_missing_call dumps && chmod -R u+w dumps
head -c 900 data/hang_missing_call/nccl_trace_rank_6 >dumps/nccl_trace_rank_6
tscope hang --fail-on HANG.MISSING_CALL dumps
