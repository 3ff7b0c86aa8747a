# Whose word is taken for FLOPs and peak; testdata/README.md works the figures out.
figures() {
	tscope trace --format json "$@" |
		grep -E '^ *"(mfu|hfu|achieved_tflops|flops_(per_step|coverage_ratio|source)|peak_(flops|source))":'
	echo
}
figures data/flops.json
figures --peak-tflops 300 data/flops.json
figures --flops-per-step 270e9 --peak-tflops 300 data/flops.json
model=gpt:batch=2,seq=1000,layers=1,hidden=1000,heads=10,ffn=4000,vocab=1000
figures --model $model --peak-tflops 300 data/flops.json
figures --model $model,recompute --peak-tflops 300 data/flops.json
# FLOPs that are given are no lower bound.
figures --flops-per-step 200e9 data/flops_part.json
