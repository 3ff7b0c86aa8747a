# Another format, known and named.
tscope trace data/execution_trace.json
