tscope trace --format json data/rocm.json
