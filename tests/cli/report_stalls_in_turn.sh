# A stall of one rank is in its step, and in the next step of the others: the slowest rank of each
# step takes longer than the run needs for one, which the head says.
put_rank() {
	printf '{"distributedInfo":{"rank":%s,"world_size":2},"traceEvents":[' "$1"
	printf '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%s","pid":1,"tid":1,"ts":%s,"dur":%s},' \
		1 0 10000 2 10000 "$2" 3 "$((10000 + $2))" "$3"
	printf '{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%s,"dur":5,' 10
	printf '"args":{"correlation":1}},{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,'
	printf '"ts":20,"dur":900,"args":{"device":0,"stream":7,"correlation":1}}]}'
}
mkdir run
put_rank 0 20000 10000 >run/rank0.json
put_rank 1 10000 20000 >run/rank1.json
tscope report run | sed -n 1,3p
