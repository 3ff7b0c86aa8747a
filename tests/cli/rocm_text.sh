tscope trace data/rocm.json
