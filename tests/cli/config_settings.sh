# SPDX-License-Identifier: MIT
# The project file above the working directory, what each command takes of it, and what of a call holds.
tscope --version | grep -q '^libyaml [0-9]' || exit 77
here=$PWD
{
	mkdir -p project/.git project/a/b
	echo 'top: 1' >.tscope.yaml
	cat >project/.tscope.yaml <<-END
	peak-tflops: 989    # of the device
	top: 20
	report:
	  top: 5
	  fail-on: [mfu<0.35, DIST.STRAGGLER]
	diff:
	  baseline: /runs/good
	  fail-on: 'step_time.mean_ns>+5%'
	END
	cd project/a/b
	tscope config
	tscope config report --top 7 --fail-on 'mfu<0.2' --full --strict=false run
	tscope config report --no-config | head -n 1
	mv ../../.tscope.yaml ../../.git/config.yaml
	tscope config
	tscope config --config ../../.git/config.yaml | head -4
} 2>&1 | sed "s|$here|HERE|g"
