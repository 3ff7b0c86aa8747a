tscope report data/serving_graphs
tscope trace data/serving_graphs/capture_traces/bs_4_rank0.json
