for option in --flops-per-step=0 --flops-per-step=many --flops-per-step=-1 --flops-per-step= \
	--peak-tflops=nan --peak-tflops=1e999 --pipeline-stages=0 --microbatches=1.5; do
	tscope report "$option" data/two_steps.json
	echo "$option: $?"
done
