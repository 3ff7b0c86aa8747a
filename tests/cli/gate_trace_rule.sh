# What a gate asks of a rule is as --rule says.
tscope trace --full --quiet --fail-on GPU.IDLE --rule GPU.IDLE=off data/two_steps.json
echo $?
tscope trace --full --quiet --fail-on 'severity>=high' --rule GPU.IDLE=low \
	--rule EFFICIENCY.LOW_MFU=off data/two_steps.json
echo $?
