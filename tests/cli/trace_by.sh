# Time by what is asked for, of all and of what a module or a function holds; flame graphs of each kind.
cat > t.json <<'END'
{"schemaVersion": 1, "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 1000},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Net_0", "pid": 1, "tid": 1, "ts": 10, "dur": 500},
{"ph": "X", "cat": "python_function", "name": "net.py(7): forward", "pid": 1, "tid": 1, "ts": 20, "dur": 400},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 1, "tid": 1, "ts": 30, "dur": 100},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 40, "dur": 80, "args": {"Input Dims": [[64, 64], [64, 64]], "Input type": ["float", "float"]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 50, "dur": 5, "args": {"correlation": 1}},
{"ph": "X", "cat": "kernel", "name": "sgemm_32x32", "pid": 0, "tid": 7, "ts": 100, "dur": 300, "args": {"device": 0, "stream": 7, "correlation": 1}},
{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 200, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 205, "dur": 5, "args": {"correlation": 2}},
{"ph": "X", "cat": "kernel", "name": "vectorized_elementwise_kernel", "pid": 0, "tid": 7, "ts": 410, "dur": 60, "args": {"device": 0, "stream": 7, "correlation": 2}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 600, "dur": 5, "args": {"correlation": 3}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": 7, "ts": 700, "dur": 40, "args": {"device": 0, "stream": 7, "correlation": 3, "bytes": 4096}}
]}
END
for by in module source operator kernel category; do
	tscope trace --by $by t.json | sed -n '/ATTRIBUTION/,$p'
done
tscope trace --by kernel --under Linear t.json | sed -n '/ATTRIBUTION/,$p'
tscope trace --by operator --under net.py t.json | sed -n '/ATTRIBUTION/,$p'
tscope trace --under Block t.json | sed -n '/ATTRIBUTION/,$p'
# A report has the same table, for the trace of one rank.
mkdir run
cp t.json run/rank0.json
sed 's/"schemaVersion": 1/&, "distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2}/; s/"dur": 300/"dur": 200/' t.json > run/rank1.json
tscope report --by module --under Linear t.json | sed -n '/ATTRIBUTION/,$p'
tscope report --by kernel --rank 1 run | sed -n '/ATTRIBUTION/,$p'
tscope trace --by colour t.json
echo $?
for by in device host bytes; do
	tscope trace --quiet --output report.txt --flamegraph $by.txt --flamegraph-by $by t.json
	echo $?
	cat $by.txt
done
tscope trace --quiet --output report.txt --flamegraph none.txt --flamegraph-by bytes data/two_steps.json
echo $?
