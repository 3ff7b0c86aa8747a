[ -e /dev/full ] || exit 77
tscope trace --output /dev/full data/two_steps.json
