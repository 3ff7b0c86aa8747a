# Figures that cannot tell: neither held nor, with --undecided pass, a failure.
steps() { for i in 1 2 3 4; do echo "{\"step\":$i,\"phases\":{\"forward\":0.03,\"data\":$1}}"; done; }
for phase in 0.04 NaN -1 1e300 '"0.04"' '[1]'; do
	mkdir run && steps "$phase" >run/steps.jsonl
	tscope report --full run --quiet --fail-on 'step_time.mean_ms>60' >/dev/null; echo "$phase: $?"
	(steps "$phase" | head -1; steps 0.01) >run/steps.jsonl
	sed -i '1s/"step":1/"step":0/' run/steps.jsonl
	tscope report --full run --quiet --fail-on 'step_time.mean_ms>60' --output report; echo "$phase, once: $?"
	tail -2 report
	rm -r run
done
# At 40 TFLOP/s 1e13 FLOPs are 500 % of a step of 50 ms, which is wrong; 1.4e12 are 70 %, and 30 ms compute.
mkdir run && steps 0.02 >run/steps.jsonl
for flops in 1e13 1.4e12 1e12; do
	tscope report --full run --quiet --peak-tflops 40 --flops-per-step $flops --fail-on 'mfu<0.35' \
		--undecided pass --output report; echo "$flops: $?"
	tail -2 report
done
