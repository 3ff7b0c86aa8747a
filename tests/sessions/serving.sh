# SPDX-License-Identifier: MIT
# A trace of an inference engine: its iterations are the steps, whose gaps are on the host.
. "$(dirname "$0")/answers.sh"

i=0
while [ $i -lt 6 ]; do
	t=$((1000 + i * 1000))
	[ $i -eq 0 ] || printf ','
	cat <<EVENTS
{"ph":"X","cat":"user_annotation","name":"execute_8_512","pid":1,"tid":1,"ts":$t,"dur":900},
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":$((t + 500)),"dur":60},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":$((t + 510)),"dur":10,
 "args":{"correlation":$((i + 1))}},
{"ph":"X","cat":"kernel","name":"void gemm_kernel<float, 128>(float*)","pid":0,"tid":7,
 "ts":$((t + 525)),"dur":300,
 "args":{"device":0,"stream":7,"correlation":$((i + 1)),"grid":[64,1,1],"block":[128,1,1]}}
EVENTS
	i=$((i + 1))
done >events
printf '{"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3"}],"traceEvents":[' >serving.json
cat events >>serving.json
printf ']}' >>serving.json

ask 0 'tscope trace serving.json'
fits 24 80
says 'where the time of a step goes \(983\.3 µs, mean of 6\)'
says 'launch stall'
ask 0 'tscope trace --full serving.json'
says 'gemm_kernel<float, 128>|gemm_kernel'
ask 0 'tscope trace --step-marker aten::mm serving.json'
keeps_quiet_about 'no span has this name'
ask 0 'tscope trace --step-marker decode_loop serving.json'
says '--step-marker decode_loop: no span has this name'
leave
