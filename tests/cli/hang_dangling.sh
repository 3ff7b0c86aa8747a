# A dump that cannot be read is not left out in silence.
cp -r data/hang_clean dumps && chmod -R u+w dumps
ln -sf nowhere dumps/nccl_trace_rank_1
tscope hang dumps; echo $?
tscope hang --strict dumps >/dev/null; echo $?
rm dumps/nccl_trace_rank_1
tscope hang --strict dumps >/dev/null; echo $?
