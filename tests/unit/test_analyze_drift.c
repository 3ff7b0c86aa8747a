/* SPDX-License-Identifier: MIT */
/* Kernels that are launched alike, in the last third of the steps against the first. */
#include "analysis_check.h"

#include <stdio.h>

#include "check.h"

#define US 1000
#define MS (1000 * US)
#define FACTS "drift: step_count kernel_count compared_ratio factor agree_ratio lost_ns"
#define KERNELS "drift.kernels: name early_ns late_ns total_ns max_start_ns max_ns"

/* A kernel in the step that starts there, which an operator on these inputs launches. */
static void product(struct test_trace *t, const char *name, int64_t at_ns, int64_t dur_us,
		    const char *dims)
{
	static uint64_t correlation;

	test_op_inputs(t, "aten::mm", 1, at_ns, 10 * US, dims, "[\"float\", \"float\"]", NULL);
	test_call(t, "cudaLaunchKernel", 1, at_ns + US, US, ++correlation);
	test_device_args(t, "kernel", name, 0, 7, at_ns + 5 * US, dur_us * US, correlation,
			 "\"grid\": [40, 1, 1], \"blocks per SM\": 2");
}

/* Steps of 1 ms, in each of which two products take so many µs. */
static struct test_trace *steps(size_t count, const int64_t (*dur_us)[2])
{
	struct test_trace *t = test_trace_new();

	for (size_t i = 0; i < count; i++) {
		char name[40];
		int64_t at_ns = (int64_t)i * MS;
		snprintf(name, sizeof(name), "ProfilerStep#%zu", i + 1);
		test_annotation(t, name, 1, at_ns, MS);
		product(t, "sgemm", at_ns, dur_us[i][0], "[[2, 3], [3, 4]]");
		product(t, "sgemm", at_ns + 500 * US, dur_us[i][1], "[[2, 3], [3, 8]]");
	}
	return t;
}

/*
 * The first two steps of five against the last two: 100 → 110 µs, 200 → 208. Of 530 and 1020 µs
 * the factor 1.04 has more than half, and that of 1.10 drifts at least half as much: all agree.
 * A step takes (530 + 1020) ÷ 5 = 310 µs, which were 300.
 */
TEST(two_products)
{
	static const int64_t dur_us[][2] = {
		{ 98, 200 }, { 102, 200 }, { 110, 204 }, { 109, 209 }, { 111, 207 }
	};

	struct analyzed *a = analyze(steps(5, dur_us));
	check_facts(a, FACTS, "5 2 1 1.04 1 10000");
	check_table(a, KERNELS,
		    "sgemm 200000 208000 1020000 3505000 209000\n"
		    "sgemm 100000 110000 530000 4005000 111000\n");
}

/* Longer sequences slow the one; the median is the other's, which 200 of 560 µs disagree with. */
TEST(one_of_two)
{
	static const int64_t dur_us[][2] = {
		{ 20, 100 }, { 20, 100 }, { 40, 100 }, { 60, 100 }, { 60, 100 }
	};

	struct analyzed *a = analyze(steps(5, dur_us));
	check_facts(a, FACTS, "5 2 1 1 0 20000");
}

TEST(too_few_steps)
{
	static const int64_t dur_us[][2] = {
		{ 100, 100 }, { 100, 100 }, { 110, 110 }, { 110, 110 }
	};

	struct analyzed *a = analyze(steps(4, dur_us));
	check_facts(a, FACTS, "4 0 - - - -");
}

/* Not compared: twice in a step, in no other; shorter than 10 µs; without inputs on a full grid. */
TEST(what_is_not_alike)
{
	static const int64_t dur_us[][2] = {
		{ 9, 100 }, { 9, 100 }, { 9, 100 }, { 20, 100 }, { 20, 100 }
	};

	struct test_trace *t = steps(5, dur_us);
	product(t, "sgemm", 2 * MS + 700 * US, 100, "[[2, 3], [3, 8]]");
	for (int64_t i = 0; i < 5; i++) {
		test_device_args(t, "kernel", "persistent_gemm", 0, 7, i * MS + 900 * US, 50 * US,
				 0, "\"grid\": [108, 1, 1], \"blocks per SM\": 1");
		test_device_args(t, "kernel", "gemm_of_tiles", 0, 7, i * MS + 950 * US, 11 * US, 0,
				 "\"grid\": [90, 1, 1], \"blocks per SM\": 0.83");
		test_kernel(t, "void reduce_kernel(float)", 0, 7, i * MS + 970 * US, 20 * US, 0);
	}
	struct analyzed *a = analyze(t);
	/* 5 × 11 µs of 67 + 600 + 250 + 55. */
	check_facts(a, FACTS, "5 1 0.0565844 1 0 0");
	check_table(a, "drift.kernels: name", "gemm_of_tiles\n");
}

TEST(without_devices)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, FACTS, "- - - - - -");
}
