[ -e /dev/full ] || exit 77
tscope trace data/two_steps.json >/dev/full
