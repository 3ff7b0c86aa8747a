tscope trace data
