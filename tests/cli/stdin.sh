# Frames of zstd from standard input: the same figures as of the plain file.
tscope --version | grep -q '^zstd [0-9]' || exit 77
tscope trace --full - <data/two_steps.json.zst
tscope trace --full --format json - <data/two_steps.json.zst | sed -n '/^      "facts"/,$p' >stdin.json
tscope trace --full --format json data/two_steps.json | sed -n '/^      "facts"/,$p' | cmp - stdin.json
