/* SPDX-License-Identifier: MIT */
/* Collectives by kind and size, with kernels and without. */
#include "analysis_check.h"

#include "check.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(Args)"
#define META(collective, in, out)                                                                  \
	"\"Collective name\": \"" collective "\", \"In msg nelems\": " #in                         \
	", \"Out msg nelems\": " #out ", \"Group size\": 4, \"dtype\": \"BFloat16\", "             \
	"\"Process Group Name\": \"0\", \"Process Group Description\": \"default_pg\""

TEST(sizes_and_bandwidth)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 0, 100, 0, META("allreduce", 500, 500));
	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 200, 300, 0, META("allreduce", 500, 500));
	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 600, 50, 0, META("allreduce", 100, 100));
	test_device_args(t, "kernel", "ncclDevKernel_AllGather_RING_LL(Args)", 0, 20, 700, 80, 0,
			 META("_allgather_base", 100, 400));
	struct analyzed *a = analyze(t);

	check_facts(a, "collectives: count total_ns bytes unsized_count host_count",
		    "4 530 3000 0 0"); /* 1000 + 1000 + 200 + 800 */
	/* 2200 B in 450 ns, × 2 × 3 ÷ 4; all_gather's size is what comes out: 800 B in 80 ns, × 3 ÷ 4. */
	check_table(a,
		    "collectives.by_kind: kind dtype group group_description group_size count "
		    "bytes total_ns mean_ns",
		    "all_reduce BFloat16 0 default_pg 4 3 2200 450 150\n"
		    "all_gather BFloat16 0 default_pg 4 1 800 80 80\n");
	check_table(a,
		    "collectives.by_kind: algorithm_bytes_per_second bus_bytes_per_second "
		    "is_lower_bound on_host",
		    "4.88889e+09 7.33333e+09 yes no\n1e+10 7.5e+09 yes no\n");
	check_table(
		a,
		"collectives.by_size: kind message_bytes algorithm protocol count total_ns min_ns "
		"max_ns algorithm_bytes_per_second",
		"all_reduce 1000 ring ll 2 400 100 300 5e+09\n"
		"all_gather 800 ring ll 1 80 80 80 1e+10\n"
		"all_reduce 200 ring ll 1 50 50 50 4e+09\n");
}

TEST(kind_by_the_kernels_name)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "ncclKernel_AllReduce_TREE_LL128_Sum_float(Args)", 0, 20, 0, 30, 0);
	test_kernel(t, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(Args)", 0, 20, 50, 10, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "collectives: count bytes unsized_count", "2 - 2");
	check_table(a,
		    "collectives.by_kind: kind dtype group group_size count bytes total_ns "
		    "algorithm_bytes_per_second is_lower_bound",
		    "all_reduce - - - 1 - 30 - -\nsend_recv - - - 1 - 10 - -\n");
	check_table(a, "collectives.by_size: algorithm protocol message_bytes",
		    "tree ll128 -\nring simple -\n");
}

/* Two records launch nothing; the one kernel behind them runs both. A record before is its own. */
TEST(coalesced_records_are_added)
{
	struct test_trace *t = test_trace_new();

	test_span_args(t, "cpu_op", "record_param_comms", 1, 0, 50,
		       "{" META("allreduce", 7, 7) "}");
	test_call(t, "cudaLaunchKernelExC", 1, 10, 5, 1);
	test_span_args(t, "cpu_op", "record_param_comms", 1, 100, 10,
		       "{" META("allreduce", 100, 100) "}");
	test_span_args(t, "cpu_op", "record_param_comms", 1, 120, 10,
		       "{" META("allreduce", 200, 200) "}");
	test_span_args(t, "cpu_op", "record_param_comms", 1, 140, 10, "{" META("wait", 0, 0) "}");
	test_call(t, "cudaLaunchKernelExC", 1, 200, 5, 2);
	test_kernel(t, ALL_REDUCE, 0, 20, 300, 40, 1);
	test_kernel(t, ALL_REDUCE, 0, 20, 400, 60, 2);
	struct analyzed *a = analyze(t);
	check_table(a, "collectives.by_size: kind message_bytes count total_ns group_size",
		    "all_reduce 600 1 60 4\nall_reduce 14 1 40 4\n");
}

/* One record, two kernels: one collective, whose bytes move once. */
TEST(several_kernels_of_one_record)
{
	struct test_trace *t = test_trace_new();

	test_span_args(t, "cpu_op", "record_param_comms", 1, 0, 50,
		       "{" META("allreduce", 500, 500) "}");
	test_call(t, "cudaLaunchKernelExC", 1, 10, 5, 1);
	test_call(t, "cudaLaunchKernelExC", 1, 20, 5, 2);
	test_kernel(t, ALL_REDUCE, 0, 20, 100, 40, 1);
	test_kernel(t, ALL_REDUCE, 0, 20, 200, 60, 2);
	struct analyzed *a = analyze(t);
	check_table(a, "collectives.by_kind: kind count bytes total_ns algorithm_bytes_per_second",
		    "all_reduce 1 1000 100 1e+10\n");
}

TEST(backend_without_kernels)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "gloo:all_reduce", 2, 0, 100);
	test_annotation(t, "gloo:all_reduce", 2, 200, 150);
	test_op(t, "gloo:reduce", 2, 400, 20);          /* as early PyTorch filed it */
	test_annotation(t, "nccl:all_reduce", 1, 0, 5); /* only the launch */
	struct analyzed *a = analyze(t);
	check_facts(a, "collectives: count total_ns host_count", "3 270 3");
	check_table(a, "collectives.by_kind: kind on_host count total_ns mean_ns",
		    "all_reduce yes 2 250 125\nreduce yes 1 20 20\n");
}

#define CALLED(name, tid, at, length, dims, types)                                                 \
	test_span_args(t, "cpu_op", name, tid, at, length,                                         \
		       "{\"Input Dims\": " dims ", \"Input type\": " types "}")
#define ANNOTATED(name, tid, at, length, dims, types)                                              \
	test_span_args(t, "user_annotation", name, tid, at, length,                                \
		       "{\"Input Dims\": " dims ", \"Input type\": " types "}")

/* Lists of tensors hide their sizes in the operator; the backend's span has them. */
TEST(sizes_of_the_spans_above)
{
	struct test_trace *t = test_trace_new();

	CALLED("c10d::allreduce_", 1, 0, 50, "[[], []]", "[\"TensorList\", \"\"]");
	CALLED("record_param_comms", 1, 1, 48, "[[], []]", "[\"TensorList\", \"Scalar\"]");
	ANNOTATED("nccl:all_reduce", 1, 2, 46, "[[394241]]", "[\"float\"]");
	test_call(t, "cudaLaunchKernelExC", 1, 10, 5, 1);
	test_kernel(t, ALL_REDUCE, 0, 20, 100, 40, 1);
	/* The first tensor of c10d is filled: 6 of 4 bytes, the second sent: 10. */
	CALLED("c10d::alltoall_base_", 1, 200, 50, "[[6], [5, 2], []]", "[\"int\", \"int\", \"\"]");
	ANNOTATED("nccl:all_to_all", 1, 202, 46, "[[5, 2]]", "[\"int\"]");
	test_call(t, "cudaLaunchKernelExC", 1, 210, 5, 2);
	test_kernel(t, "ncclDevKernel_SendRecv(Args)", 0, 20, 300, 40, 2);
	CALLED("c10d::_allgather_base_", 1, 400, 50, "[[64], [16], []]",
	       "[\"c10::BFloat16\", \"c10::BFloat16\", \"\"]");
	ANNOTATED("nccl:_all_gather_base", 1, 402, 46, "[[16]]", "[\"c10::BFloat16\"]");
	test_call(t, "cudaLaunchKernelExC", 1, 410, 5, 3);
	test_kernel(t, "ncclDevKernel_AllGather_RING_LL(Args)", 0, 20, 500, 40, 3);
	struct analyzed *a = analyze(t);
	check_facts(a, "collectives: count bytes unsized_count", "3 1577132 0");
	check_table(a, "collectives.by_size: kind dtype message_bytes bus_bytes_per_second",
		    "all_gather BFloat16 128 -\nall_reduce Float 1576964 -\n"
		    "all_to_all Int 40 -\n");
}

/* Kernels of their own: no backend's span, but an operator with the tensor among its arguments. */
TEST(sizes_of_operators_with_their_own_kernels)
{
	struct test_trace *t = test_trace_new();

	CALLED("symm_mem::multimem_all_reduce_", 1, 0, 50, "[[8, 4], [], []]",
	       "[\"c10::BFloat16\", \"\", \"\"]");
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_kernel(t, "multimem_all_reduce_kernel<c10::BFloat16, 16>", 0, 7, 100, 40, 1);
	CALLED("_C_custom_ar::all_reduce", 1, 200, 50, "[[], [3, 5], [3, 5]]",
	       "[\"Scalar\", \"c10::Half\", \"c10::Half\"]");
	test_call(t, "cudaLaunchKernel", 1, 210, 5, 2);
	test_kernel(t, "void vllm::cross_device_reduce_1stage<half, 8>(Args)", 0, 7, 300, 40, 2);
	/* What computes has the name of a collective, too: it says nothing of this kernel. */
	CALLED("aten::scatter", 1, 400, 50, "[[9], [9]]", "[\"float\", \"float\"]");
	test_call(t, "cudaLaunchKernel", 1, 410, 5, 3);
	test_kernel(t, "ncclDevKernel_Generic(Args)", 0, 7, 500, 40, 3);
	struct analyzed *a = analyze(t);
	check_table(a, "collectives.by_size: kind dtype message_bytes",
		    "all_reduce BFloat16 64\nall_reduce Half 30\nunknown - -\n");
}

/* A loss is a tensor of no dimension; what gloo gathers is more than what it is called with. */
TEST(sizes_of_backends_without_kernels)
{
	struct test_trace *t = test_trace_new();

	ANNOTATED("gloo:all_reduce", 2, 0, 100, "[[]]", "[\"float\"]");
	ANNOTATED("gloo:all_reduce", 2, 200, 90, "[[3], [2, 2]]", "[\"float\", \"float\"]");
	ANNOTATED("gloo:all_gather", 2, 400, 80, "[[16]]", "[\"long int\"]");
	struct analyzed *a = analyze(t);
	check_facts(a, "collectives: count bytes unsized_count host_count", "3 32 1 3");
	check_table(a, "collectives.by_size: kind dtype message_bytes",
		    "all_reduce Float 4\nall_reduce Float 28\nall_gather Long -\n");
}

TEST(records_where_there_is_nothing_better)
{
	struct test_trace *t = test_trace_new();

	test_span_args(t, "cpu_op", "record_param_comms", 1, 0, 50,
		       "{" META("allreduce", 500, 500) "}");
	test_span_args(t, "cpu_op", "record_param_comms", 1, 60, 10, "{" META("wait", 0, 0) "}");
	struct analyzed *a = analyze(t);
	check_table(a, "collectives.by_kind: kind on_host count bytes total_ns",
		    "all_reduce yes 1 1000 50\n");
}

TEST(without_collectives)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k", 0, 7, 0, 100, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "collectives: count total_ns bytes unsized_count host_count", "0 0 - 0 0");
	check_table(a, "collectives.by_kind: kind", "");
	check_table(a, "collectives.by_size: kind", "");
}
