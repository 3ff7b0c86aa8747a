tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope trace --full data/two_steps.json.gz
