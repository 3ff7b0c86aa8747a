/* SPDX-License-Identifier: MIT */
/* Device time that known remedies could win, event by event. */
#include "analysis_check.h"

#include "check.h"

#define US 1000
#define ADD "void at::native::vectorized_elementwise_kernel<4, add>(int)"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"

/* One step of 1 ms. */
static struct test_trace *one_step(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 1000 * US);
	return t;
}

/* Gaps count between two short kernels only, up to 100 µs. */
TEST(gaps_between_short_kernels)
{
	struct test_trace *t = one_step();

	test_call(t, "cudaLaunchKernel", 1, 5 * US, 5 * US, 1);
	test_call(t, "cudaLaunchKernel", 1, 20 * US, 10 * US, 2);
	test_call(t, "cudaLaunchKernel", 1, 31 * US, 2 * US, 3);
	test_call(t, "cudaLaunchKernel", 1, 33 * US, 2 * US, 4);
	test_kernel(t, "a", 0, 7, 10 * US, 5 * US, 1);
	/* 20 µs idle, 15 of them before its launch returned. */
	test_kernel(t, "b", 0, 7, 35 * US, 5 * US, 2);
	/* 4 µs after it was launched. */
	test_kernel(t, "c", 0, 7, 44 * US, 5 * US, 3);
	/* 100 µs long, the most that counts; launched long ago. */
	test_kernel(t, "d", 0, 7, 149 * US, 5 * US, 4);
	/* Too far; too long a kernel after it, and too long a one before the last. */
	test_kernel(t, "e", 0, 7, 255 * US, 5 * US, 0);
	test_kernel(t, "long", 0, 7, 265 * US, 10 * US, 0);
	test_kernel(t, "f", 0, 7, 280 * US, 5 * US, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: wall_total_ns step_count", "1000000 1");
	check_facts(a,
		    "opportunities: short_gap_count short_gap_total_ns short_gap_host_total_ns "
		    "short_gap_graph_total_ns",
		    "3 124000 15000 0");
	check_table(a,
		    "opportunities.by_operator: remedy operator event count ns start_ns longest_ns",
		    "launch_less - d 3 124000 49000 100000\n");
}

/* Runs on one stream; what is short neither counts nor ends a run. */
TEST(runs_of_elementwise_kernels)
{
	struct test_trace *t = one_step();

	test_op(t, "aten::add", 1, 1 * US, 10 * US);
	test_call(t, "cudaLaunchKernel", 1, 2 * US, 1 * US, 1);
	test_call(t, "cudaLaunchKernel", 1, 4 * US, 1 * US, 2);
	test_kernel(t, ADD, 0, 7, 10 * US, 30 * US, 1);
	test_kernel(t, ADD, 0, 7, 40 * US, 5 * US, 0);
	test_kernel(t, ADD, 0, 7, 45 * US, 20 * US, 2);
	/* Another stream's runs beside it: of its 20 µs 5 are the device's own. */
	test_kernel(t, ADD, 0, 9, 50 * US, 20 * US, 0);
	test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, 70 * US, 100 * US, 0);
	test_kernel(t, "void reduce_kernel<512>(float)", 0, 7, 170 * US, 10 * US, 0);
	/* Fused by a compiler. */
	test_kernel(t, "triton_poi_fused_add_0", 0, 7, 180 * US, 50 * US, 0);
	struct analyzed *a = analyze(t);

	/* 30 + 20 + 5 + 10; saved: 20 of the first run. */
	check_facts(a, "opportunities: fusible_count fusible_total_ns fusible_saving_total_ns",
		    "4 65000 20000");
	check_table(a,
		    "opportunities.by_operator: remedy operator event count ns start_ns longest_ns",
		    "fuse aten::add " ADD " 2 50000 10000 30000\n"
		    "fuse - " ADD " 2 15000 50000 20000\n");
}

TEST(layouts_and_copies)
{
	struct test_trace *t = one_step();

	test_kernel(t, "void cudnn::ops::nchwToNhwcKernel<float>(float)", 0, 7, 10 * US, 8 * US, 0);
	test_kernel(t, "batched_transpose_32x32_half", 0, 7, 18 * US, 12 * US, 0);
	test_memcpy(t, "Memcpy DtoD", 0, 7, 40 * US, 2 * US, 0, 65536);
	test_memcpy(t, "Memcpy DtoD", 0, 7, 50 * US, 2 * US, 0, 65537);
	test_memcpy(t, "Memcpy DtoD", 0, 9, 60 * US, 4 * US, 0, 4);
	/* Hides 3 of its 4 µs. */
	test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, 61 * US, 10 * US, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: layout_count layout_total_ns", "2 20000");
	/* Idle before them 10 and 8 µs. */
	check_facts(a,
		    "opportunities: small_copy_count small_copy_total_ns small_copy_gap_total_ns",
		    "2 3000 18000");
}

TEST(tiny_collectives)
{
	struct test_trace *t = one_step();

	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 10 * US, 20 * US, 0,
			 "\"Collective name\": \"allreduce\", \"In msg nelems\": 262144, "
			 "\"Out msg nelems\": 262144, \"dtype\": \"Float\"");
	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 30 * US, 20 * US, 0,
			 "\"Collective name\": \"allreduce\", \"In msg nelems\": 262145, "
			 "\"Out msg nelems\": 262145, \"dtype\": \"Float\"");
	/* Of unknown size, half hidden. */
	test_kernel(t, ALL_REDUCE, 0, 20, 50 * US, 20 * US, 0);
	test_kernel(t, "volta_sgemm_128x64_nn", 0, 7, 60 * US, 10 * US, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: tiny_comm_count tiny_comm_exposed_total_ns", "2 30000");
}

TEST(kernels_of_the_optimizer)
{
	struct test_trace *t = one_step();

	test_annotation(t, "Optimizer.step#SGD.step", 1, 1 * US, 100 * US);
	test_op(t, "aten::add_", 1, 2 * US, 5 * US);
	test_call(t, "cudaLaunchKernel", 1, 2 * US, 1 * US, 1);
	test_call(t, "cudaLaunchKernel", 1, 4 * US, 1 * US, 2);
	test_kernel(t, ADD, 0, 7, 10 * US, 30 * US, 1);
	test_kernel(t, "multi_tensor_apply_kernel", 0, 7, 45 * US, 20 * US, 2);
	test_kernel(t, ADD, 0, 7, 70 * US, 30 * US, 0);
	struct analyzed *a = analyze(t);

	check_facts(a,
		    "opportunities: optimizer_count optimizer_grouped_count optimizer_total_ns "
		    "optimizer_gap_total_ns",
		    "2 1 50000 5000");
	check_facts(a, "opportunities: fusible_count", "1");
}

/*
 * Passes over all tensors: aten::mul_ in 30 + 10 µs, aten::add_ in 10 µs. A fused optimizer takes at
 * least 40 of all 160 µs. Of the short kernels of aten::sqrt, 50 µs together, latency is the most,
 * and those of 60 µs that no operator launched may be of several passes.
 */
TEST(a_fused_optimizer_moves_its_bytes)
{
	struct test_trace *t = one_step();

	test_annotation(t, "Optimizer.step#SGD.step", 1, 1 * US, 600 * US);
	for (int i = 0; i < 3; i++) {
		test_op(t, i < 2 ? "aten::mul_" : "aten::add_", 1, (2 + 4 * i) * US, 3 * US);
		test_call(t, "cudaLaunchKernel", 1, (2 + 4 * i) * US, 1 * US, i + 1);
	}
	test_kernel(t, ADD, 0, 7, 20 * US, 30 * US, 1);
	test_kernel(t, ADD, 0, 7, 50 * US, 10 * US, 2);
	test_kernel(t, ADD, 0, 7, 70 * US, 10 * US, 3);
	for (int i = 0; i < 5; i++) {
		test_op(t, "aten::sqrt", 1, (20 + 4 * i) * US, 3 * US);
		test_call(t, "cudaLaunchKernel", 1, (20 + 4 * i) * US, 1 * US, i + 4);
		test_kernel(t, ADD, 0, 7, (80 + 10 * i) * US, 9999, i + 4);
	}
	test_call(t, "cudaLaunchKernel", 1, 50 * US, 1 * US, 9);
	test_kernel(t, ADD, 0, 7, 140 * US, 60 * US, 9);
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: optimizer_total_ns optimizer_saving_total_ns",
		    "159995 119995");
}

/* Steps that do not count are left out: here all that lies before the first. */
TEST(only_steps_that_count)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 500 * US, 100 * US);
	test_kernel(t, ADD, 0, 7, 10 * US, 30 * US, 0);
	test_kernel(t, ADD, 0, 7, 510 * US, 40 * US, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: wall_total_ns fusible_count fusible_total_ns",
		    "100000 1 40000");
}

TEST(without_a_device)
{
	struct test_trace *t = one_step();
	struct analyzed *a = analyze(t);

	check_facts(a, "opportunities: wall_total_ns fusible_count", "- -");
}
