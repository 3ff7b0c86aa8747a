tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope memory --format json data/memory_timeline.raw.json.gz
