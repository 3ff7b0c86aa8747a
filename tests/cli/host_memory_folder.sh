# A capture for each rank, that of a child, among checkpoints; what memray says of one beside it.
mkdir -p run/checkpoint
cp data/host_memory/leak.bin run/rank0.bin
cp data/host_memory/killed.bin run/rank1.bin
cp data/host_memory/killed.bin run/rank1.bin.4712
cp data/host_memory/stats.bin.json run/rank0.bin.json
printf '\0\0\200?\0\0\200?' > run/checkpoint/pytorch_model.bin
printf 'PK\3\4' > run/checkpoint/training_args.bin
tscope report --full run
echo $?
tscope report --full --verbose run | grep bin
