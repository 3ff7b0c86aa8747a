/* SPDX-License-Identifier: MIT */
/* Kernels by name and kind, and how well they use the device. */
#include "analysis_check.h"

#include "check.h"
#include "memory_sweep.h"

#define US 1000

TEST(spread_of_durations)
{
	struct test_trace *t = test_trace_new();
	static const int64_t dur_us[] = { 40, 10, 30, 20 };

	for (int i = 0; i < 4; i++)
		test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, i * 100 * US, dur_us[i] * US, 0);
	test_kernel(t, "void reduce_kernel<512>(float)", 0, 7, 500 * US, 5 * US, 0);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", 0, 20, 600 * US, 15 * US,
		    0);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 7, 700 * US, 99 * US, 0, 10);
	struct analyzed *a = analyze(t);

	check_facts(a, "kernels: count total_ns name_count short_count short_ratio",
		    "6 120000 3 1 0.166667");
	/* place of the 95th percentile: 2.85, so 30 + 0.85 × 10. Shares of 120 µs. */
	check_table(a, "kernels.by_name: name count total_ns mean_ns p50_ns p95_ns min_ns max_ns",
		    "volta_sgemm_128x64_nn 4 100000 25000 25000 38500 10000 40000\n"
		    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args) 1 15000 15000 15000 15000 15000 "
		    "15000\n"
		    "void reduce_kernel<512>(float) 1 5000 5000 5000 5000 5000 5000\n");
	check_table(a, "kernels.by_name: max_start_ns", "0\n600000\n500000\n");
	check_table(a, "kernels.by_name: kind share_ratio blocks_per_sm occupancy_pct",
		    "gemm 0.833333 - -\ncomm 0.125 - -\nreduction 0.0416667 - -\n");
	check_table(
		a, "kernels.by_kind: kind name_count count total_ns share_ratio",
		"gemm 1 4 100000 0.833333\ncomm 1 1 15000 0.125\nreduction 1 1 5000 0.0416667\n");
	check_facts(a, "kernels: tensor_core_ns tensor_core_unknown_ns small_grid_count", "0 0 -");
}

/* The operator knows better than the kernel's name, if it launched most of its time. */
TEST(operators_vote_on_the_kind)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_op(t, "aten::add", 1, 200, 100);
	test_call(t, "cudaLaunchKernel", 1, 210, 5, 2);
	test_op(t, "aten::cudnn_convolution", 1, 400, 100);
	test_call(t, "cudaLaunchKernel", 1, 410, 5, 3);
	test_kernel(t, "mystery", 0, 7, 1000, 60, 1);
	test_kernel(t, "mystery", 0, 7, 1100, 50, 2);
	test_kernel(t, "void vectorized_elementwise_kernel<4>(int)", 0, 7, 1200, 30, 3);
	test_kernel(t, "enigma", 0, 7, 1300, 20, 0);
	struct analyzed *a = analyze(t);

	check_table(
		a, "kernels.by_name: name kind",
		"mystery gemm\nvoid vectorized_elementwise_kernel<4>(int) conv\nenigma other\n");
}

/* Of kernels of no known kind nobody knows what cores they use: more than a tenth are too many. */
TEST(too_many_of_no_known_kind)
{
	for (int64_t other_ns = 10; other_ns <= 11; other_ns++) {
		const char *doubt = "more than 10 % of kernel time is of no known kind";
		struct test_trace *t = test_trace_new();

		test_kernel(t, "sgemm", 0, 7, 0, 90, 0);
		test_kernel(t, "enigma", 0, 7, 100, other_ns, 0);
		struct analyzed *a = analyze(t);
		doubt = other_ns == 11 ? doubt : NULL;
		check_doubt(a, "kernels.tensor_core_ns", doubt);
		check_doubt(a, "kernels.total_ns", NULL);
		check_doubt(a, "flops.coverage_ratio", doubt);
	}
}

/* A fused operator's name says what its products are; its other kernels speak for themselves. */
TEST(names_within_fused_operators)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "vllm::inplace_fused_experts", 1, 0, 300);
	test_call(t, "cudaLaunchKernel", 1, 10, 5, 1);
	test_call(t, "cudaLaunchKernel", 1, 20, 5, 2);
	test_call(t, "cudaLaunchKernel", 1, 30, 5, 3);
	test_call(t, "cudaLaunchKernel", 1, 40, 5, 4);
	test_kernel(t, "nvjet_tst_128x256", 0, 7, 1000, 60, 1);
	test_kernel(t, "mystery", 0, 7, 1100, 50, 2);
	test_kernel(t, "void vllm::moe::moe_align_block_size_kernel<int>", 0, 7, 1200, 40, 3);
	test_kernel(t, "void vllm::act_and_mul_kernel<float>", 0, 7, 1300, 30, 4);
	struct analyzed *a = analyze(t);

	check_table(a, "kernels.by_name: name kind",
		    "nvjet_tst_128x256 moe\nmystery moe\n"
		    "void vllm::moe::moe_align_block_size_kernel<int> routing\n"
		    "void vllm::act_and_mul_kernel<float> elementwise\n");
}

TEST(use_of_the_device)
{
	struct test_trace *t = test_trace_new();

	test_metadata(t, "deviceProperties", "[{\"id\": 0, \"name\": \"X\", \"numSms\": 80}]");
	test_device_args(t, "kernel", "a", 0, 7, 0, 100, 0,
			 "\"blocks per SM\": 0.5, \"est. achieved occupancy %\": 20, "
			 "\"grid\": [40, 1, 1]");
	test_device_args(t, "kernel", "a", 0, 7, 100, 300, 0,
			 "\"blocks per SM\": 4, \"est. achieved occupancy %\": 60, "
			 "\"grid\": [320, 1, 1]");
	/* ROCm: only a grid, 20 × 2 blocks on 80 multiprocessors. */
	test_device_args(t, "kernel", "b", 0, 7, 400, 400, 0, "\"grid\": [20, 2, 1]");
	struct analyzed *a = analyze(t);

	/* a: (0.5 × 100 + 4 × 300) ÷ 400; (20 × 100 + 60 × 300) ÷ 400. */
	check_table(a, "kernels.by_name: name blocks_per_sm occupancy_pct small_grid_count",
		    "a 3.125 50 1\nb 0.5 - 1\n");
	/* (0.5 × 100 + 1 × 300 + 0.5 × 400) ÷ 800. */
	check_facts(a, "kernels: small_grid_count small_grid_ns sm_efficiency_ratio occupancy_pct",
		    "2 500 0.6875 -");
	check_doubt(a, "kernels.occupancy_pct", "50.0 % of kernel time has no estimated occupancy");
}

/* Where exactly a tenth of the time lacks it, the figures are of the rest; beyond, of nothing. */
TEST(kernels_without_launch_configuration)
{
	for (int64_t more = 0; more < 2; more++) {
		struct test_trace *t = test_trace_new();
		test_metadata(t, "deviceProperties", "[{\"id\": 0, \"numSms\": 80}]");
		test_call(t, "cudaGraphLaunch", 1, 0, 1, 1);
		test_device_args(t, "kernel", "a", 0, 7, 0, 900, 0, "\"grid\": [40, 1, 1]");
		test_kernel(t, "of a graph", 0, 7, 900, 100 + more, 1);
		struct analyzed *a = analyze(t);
		check_facts(a, "kernels: small_grid_count small_grid_ns sm_efficiency_ratio",
			    more ? "- - -" : "1 900 0.45");
		if (more)
			check_doubt(a, "kernels.sm_efficiency_ratio",
				    "10.1 % of kernel time has no launch configuration: the "
				    "profiler records none for kernels of graphs");
	}
}

TEST(tensor_cores_by_name)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "ampere_fp16_s16816gemm_fp16_128x64_tn", 0, 7, 0, 100, 0);
	test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, 100, 200, 0);
	test_kernel(t, "triton_tem_fused_mm_0", 0, 7, 300, 50, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "kernels: tensor_core_ns tensor_core_unknown_ns", "100 50");
}

/* Launched in step 1: 300 ns, in step 2: 95, in step 3: 120; in step 4, cut by the end: 999. */
static struct test_trace *four_steps(void)
{
	struct test_trace *t = test_trace_new();

	for (int step = 0; step < 4; step++) {
		static const char *const names[] = { "ProfilerStep#1", "ProfilerStep#2",
						     "ProfilerStep#3", "ProfilerStep#4" };
		test_annotation(t, names[step], 1, step * 1000, 1000);
	}
	test_op_inputs(t, "aten::mm", 1, 5, 10, "[[2, 3], [3, 4]]", "[\"float\", \"float\"]", NULL);
	test_call(t, "cudaLaunchKernel", 1, 10, 1, 1);
	test_kernel(t, "gemm", 0, 7, 500, 100, 1);
	test_call(t, "cudaLaunchKernel", 1, 20, 1, 2);
	test_kernel(t, "gemm", 0, 7, 1100, 200, 2); /* runs in step 2 */
	test_op_inputs(t, "aten::mm", 1, 1005, 10, "[[2, 3], [3, 4]]", "[\"float\", \"float\"]",
		       NULL);
	test_call(t, "cudaLaunchKernel", 1, 1010, 1, 3);
	test_kernel(t, "gemm", 0, 7, 1500, 60, 3);
	test_call(t, "cudaLaunchKernel", 1, 1020, 1, 4);
	test_kernel(t, "add", 0, 7, 1600, 30, 4);
	test_kernel(t, "add", 0, 7, 1700, 5, 0); /* by its own start */
	test_op(t, "aten::add", 1, 2005, 20);
	test_call(t, "cudaLaunchKernel", 1, 2010, 1, 5);
	test_kernel(t, "add", 0, 7, 2500, 50, 5);
	test_call(t, "cudaLaunchKernel", 1, 2020, 1, 6);
	test_kernel(t, "add", 0, 7, 2600, 70, 6);
	test_call(t, "cudaLaunchKernel", 1, 3010, 1, 7);
	test_kernel(t, "gemm", 0, 7, 3500, 999, 7);
	return t;
}

/*
 * gemm takes 300, 60 and 0 ns of the three: mean 120, squares 180², 60², 120² sum to 50400, ÷ 2
 * is 158.7². add takes 0, 35 and 120: mean 51.67, squares sum to 7616.7, ÷ 2 is 61.7².
 */
TEST(work_of_the_steps_that_count)
{
	struct analyzed *a = analyze(four_steps());

	check_table(a,
		    "kernels.by_name: name count total_ns counted counted_ns step_deviation_ns "
		    "counted_unlinked",
		    "gemm 4 1359 3 360 159 0\nadd 4 155 4 155 62 1\n");
	check_table(a, "kernels.by_launcher: name operator inputs counted counted_ns",
		    "gemm - - 1 200\n"
		    "gemm aten::mm [[2, 3], [3, 4]] float, float 2 160\n"
		    "add aten::add - 2 120\n"
		    "add - - 2 35\n");
}

/* Where all steps are marked, what was launched in any of them counts; nothing behind them does. */
TEST(work_where_no_step_counts)
{
	const struct tscope_timeline_options all_are_warmup = { .warmup = 9 };
	struct analyzed *a = analyze_steps_of(four_steps(), &all_are_warmup);
	check_facts(a, "steps: count counted_count", "4 0");
	check_table(a, "kernels.by_name: name counted counted_ns step_deviation_ns",
		    "gemm 4 1359 -\nadd 4 155 -\n");
}

TEST(every_allocation_may_fail)
{
	struct analyzed *a = analyze(four_steps());

	sweep_trace(a->trace, a->timeline, NULL, 50);
}

TEST(without_kernels)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "kernels: count total_ns short_ratio occupancy_pct sm_efficiency_ratio",
		    "0 0 - - -");
	check_table(a, "kernels.by_name: name", "");
	check_table(a, "kernels.by_kind: kind", "");
	check_table(a, "kernels.by_launcher: name", "");
}
