tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope memory --full data/memory_timeline.json.gz data/memory_timeline.raw.json.gz
