# A step of the job has 6 × (4 × 8 × 8 + 2 × 8 + 2 × 8 × 2) = 1824 FLOPs; rank 0 of 2 has half of them.
sizes=batch=1,seq=1,layers=1,hidden=8,heads=4,ffn=2
tscope trace --full --quiet --model gpt:$sizes --fail-on 'efficiency.flops_per_step!=912' \
	--fail-on 'efficiency.flops_source!=model' data/two_steps.json
tscope trace --full --quiet --model gpt:$sizes,devices=4 --fail-on 'efficiency.flops_per_step!=456' \
	data/two_steps.json
tscope report --full --quiet --model gpt:$sizes,recompute --fail-on 'efficiency.flops_per_step!=912' \
	--fail-on 'efficiency.hardware_flops_per_step!=1216' data/run_healthy
tscope trace --full --quiet --flops-per-step 5 --model gpt:$sizes \
	--fail-on 'efficiency.flops_per_step!=5' data/two_steps.json
