tscope trace --full data/rocm.json
