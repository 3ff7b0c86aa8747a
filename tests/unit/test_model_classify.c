/* SPDX-License-Identifier: MIT */
/* model/trace/classify.c: every row of every table, and the words that must not fit. */
#include "model/trace/classify.h"

#include "check.h"

static struct str text_of(const char *text)
{
	return (struct str){ text, strlen(text) };
}

TEST(categories)
{
	static const struct {
		const char *category;
		enum category_use use;
		enum tscope_span_class span_class;
		bool is_kineto;
	} cases[] = {
		{ "cpu_op", USE_SPAN, TSCOPE_SPAN_CPU_OP, true },
		{ "Operator", USE_SPAN, TSCOPE_SPAN_CPU_OP, true },
		{ "user_annotation", USE_SPAN, TSCOPE_SPAN_ANNOTATION, true },
		{ "cuda_runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "cuda_driver", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "Runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "xpu_runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "xpu_driver", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "mtia_runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "mtia_workloadd", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "glow_runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "hpu_op", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "privateuse1_runtime", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "privateuse1_driver", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "enqueue", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "dequeue", USE_SPAN, TSCOPE_SPAN_RUNTIME, true },
		{ "overhead", USE_SPAN, TSCOPE_SPAN_OVERHEAD, true },
		{ "trace_event_overhead", USE_SPAN, TSCOPE_SPAN_OVERHEAD, false },
		{ "kernel", USE_SPAN, TSCOPE_SPAN_KERNEL, true },
		{ "Kernel", USE_SPAN, TSCOPE_SPAN_KERNEL, true },
		{ "mtia_ccp_events", USE_SPAN, TSCOPE_SPAN_KERNEL, true },
		{ "collective_comm", USE_SPAN, TSCOPE_SPAN_COMM, true },
		{ "Communication", USE_SPAN, TSCOPE_SPAN_COMM, true },
		{ "gpu_memcpy", USE_SPAN, TSCOPE_SPAN_MEMCPY, true },
		{ "Memcpy", USE_SPAN, TSCOPE_SPAN_MEMCPY, true },
		{ "gpu_memset", USE_SPAN, TSCOPE_SPAN_MEMSET, true },
		{ "Memset", USE_SPAN, TSCOPE_SPAN_MEMSET, true },
		{ "python_function", USE_FRAME, TSCOPE_SPAN_PYTHON, true },
		{ "FEE", USE_SPAN, TSCOPE_SPAN_PYTHON, false },
		{ "fee", USE_SPAN, TSCOPE_SPAN_PYTHON, false },
		{ "Trace", USE_CAPTURE, TSCOPE_SPAN_OTHER, true },
		{ "gpu_user_annotation", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "gpu_user_Annotation", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "cuda_sync", USE_SYNC, TSCOPE_SPAN_OTHER, true },
		{ "xpu_sync", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "cuda_event", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "cuda_profiler_range", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "hardware_counters", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "mtia_counters", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "mtia_insight", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "xpu_scope_profiler", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "external_correlation", USE_NONE, TSCOPE_SPAN_OTHER, true },
		{ "cpu_instant_event", USE_NONE, TSCOPE_SPAN_OTHER, true },
		/* lists, and what nobody knows */
		{ "foo,cpu_op", USE_SPAN, TSCOPE_SPAN_CPU_OP, true },
		{ "foo, kernel ,cpu_op", USE_SPAN, TSCOPE_SPAN_KERNEL, true },
		{ "", USE_SPAN, TSCOPE_SPAN_OTHER, false },
		{ ",", USE_SPAN, TSCOPE_SPAN_OTHER, false },
		{ "cpu_op2", USE_SPAN, TSCOPE_SPAN_OTHER, false },
		{ "toplevel,ipc", USE_SPAN, TSCOPE_SPAN_OTHER, false },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		const struct category_rule *rule =
			tsi_classify_category(text_of(cases[i].category));
		print_message("%s\n", cases[i].category);
		assert_int_equal(rule->use, cases[i].use);
		assert_int_equal(rule->span_class, cases[i].span_class);
		assert_int_equal(rule->is_kineto, cases[i].is_kineto);
	}
}

TEST(device_names)
{
	static const struct {
		const char *name;
		uint8_t given, expected; /* enum tscope_span_class */
	} cases[] = {
		{ "sm90_xmma_gemm_bf16", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_KERNEL },
		{ "ncclDevKernel_Generic_4(x)", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_COMM },
		{ "__amd_rocclr_copyBuffer.kd", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "__amd_rocclr_copyBufferAligned", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "__amd_rocclr_fillBufferAligned.kd", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMSET },
		{ "CopyHostToDevice", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "CopyDeviceToHost", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "CopyDeviceToDevice", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "hipMemcpyAsync", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		{ "hipMemsetAsync", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMSET },
		{ "FillBuffer", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMSET },
		{ "dma_request", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_MEMCPY },
		/* only kernels are looked at twice */
		{ "ncclKernel_AllReduce", TSCOPE_SPAN_MEMCPY, TSCOPE_SPAN_MEMCPY },
		{ "hipblasLt_gemm", TSCOPE_SPAN_KERNEL, TSCOPE_SPAN_KERNEL },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_classify_device_name(text_of(cases[i].name), cases[i].given),
				 cases[i].expected);
	}
	assert_true(tsi_is_device_mark(TSI_STR("event_wait")));
	assert_true(tsi_is_device_mark(TSI_STR("event_record")));
	assert_false(tsi_is_device_mark(TSI_STR("event_wait_kernel")));
}

TEST(host_names)
{
	static const struct {
		const char *name;
		uint8_t given, expected; /* enum tscope_span_class */
	} cases[] = {
		{ "ProfilerStep#5", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_ANNOTATION },
		{ "Optimizer.step#SGD.step", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_ANNOTATION },
		{ "Optimizer.zero_grad#SGD.zero_grad", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_ANNOTATION },
		{ "enumerate(DataLoader)#_Iter.__next__", TSCOPE_SPAN_CPU_OP,
		  TSCOPE_SPAN_ANNOTATION },
		{ "enumerate(DataPipe)#ShufflerIterDataPipe", TSCOPE_SPAN_CPU_OP,
		  TSCOPE_SPAN_ANNOTATION },
		{ "DistributedDataParallel.forward", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_ANNOTATION },
		{ "## forward ##", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_ANNOTATION },
		{ "aten::mm", TSCOPE_SPAN_CPU_OP, TSCOPE_SPAN_CPU_OP },
		{ "aten::mm", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_CPU_OP },
		{ "event/forward", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_ANNOTATION },
		{ "callback/X/event/init", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_ANNOTATION },
		{ "algorithm/X/event/init", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_ANNOTATION },
		{ "dataloader/train", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_ANNOTATION },
		{ "events/forward", TSCOPE_SPAN_OTHER, TSCOPE_SPAN_OTHER },
		{ "event/forward", TSCOPE_SPAN_RUNTIME, TSCOPE_SPAN_RUNTIME },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_classify_host_name(text_of(cases[i].name), cases[i].given),
				 cases[i].expected);
	}
}

TEST(calls)
{
	static const struct {
		const char *name;
		enum call_kind kind;
	} cases[] = {
		{ "cudaLaunchKernel", CALL_LAUNCH },
		{ "cudaLaunchKernelExC", CALL_LAUNCH },
		{ "cuLaunchKernelEx", CALL_LAUNCH },
		{ "cudaLaunchCooperativeKernel", CALL_LAUNCH },
		{ "hipModuleLaunchKernel", CALL_LAUNCH },
		{ "hipExtModuleLaunchKernel", CALL_LAUNCH },
		{ "urEnqueueKernelLaunch", CALL_LAUNCH },
		{ "launch_kernel", CALL_LAUNCH },
		{ "cudaLaunchHostFunc", CALL_OTHER },
		{ "cudaGraphLaunch", CALL_GRAPH_LAUNCH },
		{ "hipGraphLaunch", CALL_GRAPH_LAUNCH },
		{ "cudaGraphInstantiate", CALL_OTHER },
		{ "cudaMemcpyAsync", CALL_MEMCPY },
		{ "hipMemcpyWithStream", CALL_MEMCPY },
		{ "zeCommandListAppendMemoryCopy", CALL_MEMCPY },
		{ "cudaMemsetAsync", CALL_MEMSET },
		{ "zeCommandListAppendMemoryFill", CALL_MEMSET },
		{ "urEnqueueUSMFill", CALL_MEMSET },
		{ "cudaStreamSynchronize", CALL_SYNC },
		{ "cudaDeviceSynchronize", CALL_SYNC },
		{ "cudaEventSynchronize", CALL_SYNC },
		{ "cuCtxSynchronize", CALL_SYNC },
		{ "cudaStreamWaitEvent", CALL_EVENT },
		{ "cudaEventRecord", CALL_EVENT },
		{ "hipEventQuery", CALL_EVENT },
		{ "cudaMalloc", CALL_MALLOC },
		{ "cudaHostAlloc", CALL_MALLOC },
		{ "cuMemAlloc_v2", CALL_MALLOC },
		{ "cuMemCreate", CALL_MALLOC },
		{ "cudaFree", CALL_FREE },
		{ "cuMemRelease", CALL_FREE },
		{ "cudaStreamBeginCapture", CALL_CAPTURE_BEGIN },
		{ "hipStreamEndCapture_spt", CALL_CAPTURE_END },
		{ "cudaStreamIsCapturing", CALL_OTHER },
		{ "cudaMemGetInfo", CALL_OTHER },
		{ "INVALID", CALL_OTHER },
		{ "", CALL_OTHER },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_classify_call(text_of(cases[i].name)), cases[i].kind);
	}
}

TEST(copies)
{
	static const struct {
		const char *name;
		enum copy_direction direction;
		bool pageable;
	} cases[] = {
		{ "Memcpy HtoD (Pageable -> Device)", COPY_H2D, true },
		{ "Memcpy HtoD (Pinned -> Device)", COPY_H2D, false },
		{ "Memcpy DtoH (Device -> Pageable)", COPY_D2H, true },
		{ "Memcpy DtoD (Device -> Device)", COPY_D2D, false },
		{ "Memcpy PtoP (Device -> Device)", COPY_P2P, false },
		{ "Memcpy HtoH (Pageable -> Pinned)", COPY_H2H, true },
		{ "CopyHostToDevice", COPY_H2D, false },
		{ "CopyDeviceToHost", COPY_D2H, false },
		{ "CopyDeviceToDevice", COPY_D2D, false },
		{ "hipMemcpyPeerToPeer", COPY_P2P, false },
		{ "MemcpyHostToHost", COPY_H2H, false },
		{ "HOST_TO_DEVICE", COPY_H2D, false },
		{ "DEVICE_TO_HOST", COPY_D2H, false },
		{ "DEVICE_TO_DEVICE", COPY_D2D, false },
		{ "zeCommandListAppendMemoryCopy(M2D)", COPY_H2D, false },
		{ "zeCommandListAppendMemoryCopy(D2M)", COPY_D2H, false },
		{ "zeCommandListAppendMemoryCopy(D2D)", COPY_D2D, false },
		{ "__amd_rocclr_copyBuffer", COPY_UNKNOWN, false },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_classify_copy(text_of(cases[i].name)), cases[i].direction);
		assert_int_equal(tsi_is_pageable_copy(text_of(cases[i].name)), cases[i].pageable);
	}
}

TEST(comm_kernels)
{
	static const struct {
		const char *name;
		bool is_comm;
		enum collective_kind kind;
	} cases[] = {
		{ "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "ncclAllReduceRingLLKernel_sum_f32(ncclColl)", true, COLLECTIVE_ALL_REDUCE },
		{ "ncclDevKernel_AllGather_RING_LL", true, COLLECTIVE_ALL_GATHER },
		{ "ncclKernel_ReduceScatter_RING_LL_Sum_half", true, COLLECTIVE_REDUCE_SCATTER },
		{ "ncclDevKernel_Reduce_Sum_f32_RING_LL", true, COLLECTIVE_REDUCE },
		{ "ncclKernel_Reduce_RING_LL", true, COLLECTIVE_REDUCE },
		{ "ncclReduceRingLLKernel_sum_f32", true, COLLECTIVE_REDUCE },
		{ "ncclKernel_Broadcast_RING_LL_Sum_int8_t", true, COLLECTIVE_BROADCAST },
		{ "ncclDevKernel_SendRecv", true, COLLECTIVE_SEND_RECV },
		{ "ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", true,
		  COLLECTIVE_UNKNOWN },
		{ "void rcclGenericKernel<1, false>(ncclDevComm*)", true, COLLECTIVE_UNKNOWN },
		{ "void oneccl_allreduce", true, COLLECTIVE_ALL_REDUCE },
		{ "ccl_kernel", true, COLLECTIVE_UNKNOWN },
		{ "ccl::v1::all_gather", true, COLLECTIVE_ALL_GATHER },
		{ "hcclAllReduce", true, COLLECTIVE_ALL_REDUCE },
		{ "hcom_allReduce__033_0", true, COLLECTIVE_ALL_REDUCE },
		{ "gloo_kernel", true, COLLECTIVE_UNKNOWN },
		{ "msccl_kernel", true, COLLECTIVE_UNKNOWN },
		{ "nvshmemx_barrier_all", true, COLLECTIVE_BARRIER },
		{ "void multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "symm_mem_copy", true, COLLECTIVE_UNKNOWN },
		{ "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "one_shot_all_reduce_kernel", true, COLLECTIVE_ALL_REDUCE },
		{ "two_shot_all_reduce_kernel", true, COLLECTIVE_ALL_REDUCE },
		{ "void tensorrt_llm::kernels::oneShotAllReduceKernel<half>", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "void tensorrt_llm::kernels::twoShotAllReduceKernel<half>", true,
		  COLLECTIVE_ALL_REDUCE },
		{ "void flashinfer::trtllm::allreduce_fusion_kernel_oneshot<x>", true,
		  COLLECTIVE_UNKNOWN },
		{ "quick_reduce_kernel", true, COLLECTIVE_ALL_REDUCE },
		{ "void quickreduce::allreduce_prototype<x>", true, COLLECTIVE_ALL_REDUCE },
		{ "userbuffers_fp16_sum_inplace", true, COLLECTIVE_UNKNOWN },
		{ "kuserbuffers_pushsend", true, COLLECTIVE_UNKNOWN },
		{ "void deep_ep::intranode::combine<x, 4>", true, COLLECTIVE_ALL_TO_ALL },
		{ "void dpsk::ep::internode::dispatch<true, 4>(int)", true, COLLECTIVE_ALL_TO_ALL },
		{ "void dpsk::ep::intranode::dispatch<true, 4>(int)", true, COLLECTIVE_ALL_TO_ALL },
		{ "void (anonymous namespace)::nccl_probe<int>()", true, COLLECTIVE_UNKNOWN },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_is_comm_kernel(text_of(cases[i].name)), cases[i].is_comm);
		if (cases[i].kind != COLLECTIVE_UNKNOWN)
			assert_int_equal(tsi_classify_collective(text_of(cases[i].name)),
					 cases[i].kind);
	}
}

/* Kernels that the words of collectives or libraries stand in, but that compute. */
TEST(not_comm_kernels)
{
	static const char *const cases[] = {
		"",
		"void ",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)",
		"void at::native::vectorized_elementwise_kernel<4, nccl::functor>(int)",
		"broadcast_kernel",
		"gather_kernel(ncclComm*)",
		"void at::native::(anonymous namespace)::indexSelect<int>(nccl::x)",
		"hipblasLt_scatter",
		"hipMemcpyAsync",
		"Cijk_Ailk_Bljk_HHS_BH",
		"occl_kernel",
		"moe::dispatch<int>",
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i]);
		assert_false(tsi_is_comm_kernel(text_of(cases[i])));
	}
}

TEST(compute_kernels)
{
	static const char *const cases[] = {
		"void at::native::foo", "my_elementwise",  "reduce_kernel",   "hgemm",
		"cutlass::Kernel",      "nvjet_tst_128",   "Cijk_Ailk",       "triton_poi_0",
		"cub::DeviceScan",      "thrust::copy_if", "CatArrayBatched", "a_copy_b",
		"memcpy_kernel",        "memset_kernel",
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i]);
		assert_true(tsi_is_compute_kernel(text_of(cases[i])));
	}
	assert_false(tsi_is_compute_kernel(TSI_STR("my_ring_kernel")));
}

TEST(collective_names)
{
	static const struct {
		const char *name;
		enum collective_kind kind;
	} cases[] = {
		{ "allreduce", COLLECTIVE_ALL_REDUCE },
		{ "all_reduce", COLLECTIVE_ALL_REDUCE },
		{ "allgather", COLLECTIVE_ALL_GATHER },
		{ "_allgather_base", COLLECTIVE_ALL_GATHER },
		{ "reduce_scatter", COLLECTIVE_REDUCE_SCATTER },
		{ "_reduce_scatter_base", COLLECTIVE_REDUCE_SCATTER },
		{ "broadcast", COLLECTIVE_BROADCAST },
		{ "_broadcast_oop", COLLECTIVE_BROADCAST },
		{ "all_to_all", COLLECTIVE_ALL_TO_ALL },
		{ "all_to_allv", COLLECTIVE_ALL_TO_ALL },
		{ "alltoall", COLLECTIVE_ALL_TO_ALL },
		{ "send", COLLECTIVE_SEND_RECV },
		{ "recv", COLLECTIVE_SEND_RECV },
		{ "barrier", COLLECTIVE_BARRIER },
		{ "reduce", COLLECTIVE_REDUCE },
		{ "_reduce_oop", COLLECTIVE_REDUCE },
		{ "gather", COLLECTIVE_GATHER },
		{ "scatter", COLLECTIVE_SCATTER },
		{ "wait", COLLECTIVE_UNKNOWN },
		{ "", COLLECTIVE_UNKNOWN },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_classify_collective(text_of(cases[i].name)), cases[i].kind);
	}
	assert_true(tsi_is_collective_wait(TSI_STR("wait")));
	assert_true(tsi_is_collective_wait(TSI_STR("init")));
	assert_true(tsi_is_collective_wait(TSI_STR("coalesced")));
	assert_false(tsi_is_collective_wait(TSI_STR("allreduce_coalesced")));
}

TEST(dtypes)
{
	static const struct {
		const char *dtype;
		uint32_t bytes;
	} cases[] = {
		{ "Float", 4 },        { "BFloat16", 2 },       { "Half", 2 },
		{ "Double", 8 },       { "Long", 8 },           { "Int", 4 },
		{ "Short", 2 },        { "Byte", 1 },           { "Char", 1 },
		{ "Bool", 1 },         { "Float8_e4m3fn", 1 },  { "float32", 4 },
		{ "float16", 2 },      { "int64", 8 },          { "int32", 4 },
		{ "ComplexFloat", 8 }, { "ComplexDouble", 16 }, { "", 0 },
		{ "Float9", 0 },       { "long int", 8 },       { "unsigned char", 1 },
		{ "c10::Half", 2 },    { "c10::", 0 },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_dtype_bytes(text_of(cases[i].dtype)), cases[i].bytes);
}

TEST(backends)
{
	static const struct {
		const char *name;
		size_t prefix, kernelless_prefix;
	} cases[] = {
		{ "gloo:all_reduce", 5, 5 },
		{ "mpi:all_reduce", 4, 4 },
		{ "nccl:all_to_all", 5, 0 },
		{ "ucc:barrier", 4, 0 },
		{ "nccl", 0, 0 },
		{ "aten::mm", 0, 0 },
		{ "", 0, 0 },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		assert_int_equal(tsi_backend_prefix(text_of(cases[i].name)), cases[i].prefix);
		assert_int_equal(tsi_kernelless_prefix(text_of(cases[i].name)),
				 cases[i].kernelless_prefix);
	}
}

TEST(phases)
{
	static const struct {
		const char *name;
		enum phase phase;
	} cases[] = {
		{ "ProfilerStep#3", PHASE_FORWARD },
		{ "Optimizer.step#AdamW.step", PHASE_OPTIMIZER },
		{ "autograd::engine::evaluate_function: MmBackward0", PHASE_BACKWARD },
		{ "enumerate(DataLoader)#_X.__next__", PHASE_DATA },
		{ "[pl][profile][Strategy]DDPStrategy.training_step", PHASE_FORWARD },
		{ "[Strategy]SingleDeviceStrategy.backward", PHASE_BACKWARD },
		{ "[pl][profile][_TrainingEpochLoop].train_dataloader_next", PHASE_DATA },
		{ "[pl][profile][LightningModule]Net.optimizer_step", PHASE_COUNT },
		{ "event/dataloader", PHASE_DATA },
		{ "event/forward", PHASE_FORWARD },
		{ "event/loss", PHASE_FORWARD },
		{ "event/backward", PHASE_BACKWARD },
		{ "Optimizer.zero_grad#SGD.zero_grad", PHASE_OPTIMIZER },
		/* Before torch 1.12: no engine spans. */
		{ "AddmmBackward", PHASE_BACKWARD },
		{ "ReluBackward1", PHASE_BACKWARD },
		{ "CudnnConvolutionBackward0", PHASE_BACKWARD },
		{ "torch::autograd::AccumulateGrad", PHASE_BACKWARD },
		{ "aten::convolution_backward", PHASE_COUNT },
		{ "Backward", PHASE_BACKWARD }, /* somebody's own annotation */
		{ "## forward:bottom_mlp ##", PHASE_FORWARD },
		{ "## Backward ##", PHASE_BACKWARD },
		{ "## optimizer ##", PHASE_OPTIMIZER },
		{ "DistributedDataParallel.forward", PHASE_FORWARD },
		{ "forward_backward_func", PHASE_COUNT },
		/* Zero bubble, DualPipe, torch.distributed.pipelining. */
		{ "attn(F)", PHASE_FORWARD },
		{ "MLP(B)", PHASE_BACKWARD },
		{ "attn(W)", PHASE_BACKWARD },
		{ "(W)", PHASE_BACKWARD },
		{ "f(W)x", PHASE_COUNT },
		{ "PP:0F12", PHASE_FORWARD },
		{ "PP:3W0", PHASE_BACKWARD },
		{ "PP:1I2", PHASE_BACKWARD },
		{ "PP:1SEND_F3", PHASE_COUNT },
		{ "PP:", PHASE_COUNT },
		{ "PP:7", PHASE_COUNT },
		{ "aten::mm", PHASE_COUNT },
		{ "", PHASE_COUNT },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_classify_phase(text_of(cases[i].name)), cases[i].phase);
	assert_true(tsi_is_step_marker(TSI_STR("ProfilerStep#0")));
	assert_false(tsi_is_step_marker(TSI_STR("ProfilerStep*")));
	assert_true(tsi_is_autograd_engine(TSI_STR("autograd::engine::x")));
	assert_false(tsi_is_autograd_engine(TSI_STR("torch::autograd::x")));
}

TEST(operators_whose_values_matter)
{
	static const struct {
		const char *name;
		bool needs;
	} cases[] = {
		{ "aten::convolution", true },
		{ "aten::_convolution", true },
		{ "aten::conv1d", true },
		{ "aten::conv_transpose3d", true },
		{ "aten::cudnn_convolution_add_relu", true },
		{ "aten::miopen_depthwise_convolution", true },
		{ "aten::mkldnn_convolution", true },
		{ "aten::thnn_conv2d", true },
		{ "aten::_slow_conv2d_forward", true },
		{ "aten::convolution_backward", true },
		{ "aten::scaled_dot_product_attention", true },
		{ "aten::_scaled_dot_product_cudnn_attention", true },
		{ "aten::_efficient_attention_backward", true },
		{ "flash_attn::_flash_attn_varlen_forward", true },
		{ "FlashAttnFunc", true },
		{ "xformers_flash::flash_fwd", true },
		{ "aiter::fmha_v3_fwd", true },
		{ "aten::_scaled_mm", true },
		{ "aten::_grouped_mm", true },
		{ "aten::_scaled_grouped_mm", true },
		{ "aten::native_layer_norm_backward", true },
		{ "aten::cudnn_batch_norm", true },
		{ "aten::_log_softmax", true },
		{ "aten::native_dropout", true },
		{ "aten::embedding_dense_backward", true },
		{ "aten::index_select", true },
		{ "aten::sum", true },
		{ "aten::argmax", true },
		{ "aten::max", true },
		/* Products and what is done element by element are known by their sizes. */
		{ "aten::mm", false },
		{ "aten::addmm", false },
		{ "aten::linear", false },
		{ "aten::add_", false },
		{ "aten::copy_", false },
		/* These would make a new entry of nearly each call. */
		{ "aten::slice", false },
		{ "aten::select", false },
		{ "aten::view", false },
		{ "aten::as_strided", false },
		{ "aten::fill_", false },
		{ "aten::flatten", false },
		{ "aten::empty_strided", false },
		{ "", false },
	};
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		print_message("%s\n", cases[i].name);
		assert_int_equal(tsi_needs_concrete(text_of(cases[i].name)), cases[i].needs);
	}
}
