tscope --version | grep -q '^zlib [0-9]' || exit 77
tscope memory data/memory_timeline.json.gz data/memory_timeline.raw.json.gz
