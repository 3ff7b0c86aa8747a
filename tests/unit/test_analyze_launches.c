/* SPDX-License-Identifier: MIT */
/* Launch calls, their delays, and calls that stall the host. */
#include "analysis_check.h"

#include <stdio.h>

#include "check.h"

/*
 * Calls at 0, 100 and 290 (10 ns each) start kernels [20, 220), [220, 260) and
 * [300, 310): delays 20, 120 and 10, from the end of the calls 10, 110, 0.
 */
TEST(delays_and_idle_time)
{
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaLaunchKernel", 1, 0, 10, 1);
	test_call(t, "cudaLaunchKernel", 1, 100, 10, 2);
	test_call(t, "cuLaunchKernel", 1, 290, 10, 3);
	test_kernel(t, "k", 0, 7, 20, 200, 1);
	test_kernel(t, "k", 0, 7, 220, 40, 2);
	test_kernel(t, "k", 0, 7, 300, 10, 3);
	struct analyzed *a = analyze(t);

	check_facts(a, "launches: launch_count launch_ns", "3 30");
	/* 95th: place 1.9, 20 + 0.9 × 100. */
	check_facts(a, "launches: delay_mean_ns delay_p50_ns delay_p95_ns delay_from_end_p50_ns",
		    "50 20 110 10");
	/* One of the later two was launched while the device ran; idle 260 … 300, the host's to 290. */
	check_facts(a, "launches: queued_ratio host_bound_ratio", "0.5 0.75");
	check_table(a, "launches.by_name: name kind count total_ns mean_ns max_ns",
		    "cudaLaunchKernel launch 2 20 10 10\ncuLaunchKernel launch 1 10 10 10\n");
}

TEST(start_before_launch_is_no_delay)
{
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaLaunchKernel", 1, 105, 10, 1);
	test_kernel(t, "k", 0, 7, 100, 50, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "launches: delay_mean_ns delay_p50_ns delay_from_end_p50_ns", "0 0 0");
}

TEST(synchronisation_by_caller)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::item", 1, 0, 100);
	test_call(t, "cudaStreamSynchronize", 1, 10, 80, 0);
	test_op(t, "aten::item", 1, 200, 100);
	test_call(t, "cudaStreamSynchronize", 1, 210, 20, 0);
	test_call(t, "cudaDeviceSynchronize", 1, 400, 30, 0);
	test_call(t, "cudaEventQuery", 1, 500, 1, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "launches: sync_count sync_ns launch_count delay_p50_ns queued_ratio",
		    "3 130 0 - -");
	check_table(a, "launches.syncs: op call count total_ns",
		    "aten::item cudaStreamSynchronize 2 100\n- cudaDeviceSynchronize 1 30\n");
}

/* Three steps of 1000 ns with 1, 2 and 3 launches; the first one is not steady. */
TEST(figures_of_steps)
{
	struct test_trace *t = test_trace_new();
	static const char *const markers[] = { "ProfilerStep#5", "ProfilerStep#6",
					       "ProfilerStep#7" };
	uint64_t correlation = 0;

	for (int step = 0; step < 3; step++) {
		int64_t start_ns = step * 1000;
		test_annotation(t, markers[step], 1, start_ns, 1000);
		test_call(t, "cudaMalloc", 1, start_ns + 1, 5, 0);
		test_call(t, "cudaFree", 1, start_ns + 10, 7, 0);
		for (int i = 0; i <= step; i++) {
			correlation++;
			test_call(t, "cudaLaunchKernel", 1, start_ns + 100 + i * 10, 5,
				  correlation);
			test_kernel(t, "k", 0, 7, start_ns + 200 + i * 10, 5, correlation);
		}
	}
	struct analyzed *a = analyze(t);

	check_facts(a, "launches: malloc_count malloc_ns free_count free_ns", "3 15 3 21");
	int64_t counted = 0, launches = 0, steady = 0;
	for (uint32_t i = 0; i < 3; i++) {
		bool is_counted = tscope_timeline_step(a->timeline, i).mark == TSCOPE_STEP_COUNTED;
		counted += is_counted;
		launches += is_counted ? i + 1 : 0;
		steady += is_counted && i > 0;
	}
	assert_true(steady > 0);
	char expected[64];
	snprintf(expected, sizeof(expected), "%.6g %d %d", (double)launches / (double)counted,
		 (int)steady, (int)steady);
	check_facts(a, "launches: launches_per_step steady_malloc_count steady_free_count",
		    expected);
}

/*
 * Steps of 1000 ns. The first fills the cache; in the second and the fourth the driver is asked, in
 * the third only for pinned memory of the host.
 */
TEST(allocations_of_later_steps)
{
	struct test_trace *t = test_trace_new();
	static const char *const markers[] = { "ProfilerStep#1", "ProfilerStep#2", "ProfilerStep#3",
					       "ProfilerStep#4" };

	for (int i = 0; i < 4; i++) {
		test_annotation(t, markers[i], 1, i * 1000, 1000);
		test_call(t, "cudaLaunchKernel", 1, i * 1000 + 500, 5, (uint64_t)i + 1);
		test_kernel(t, "k", 0, 7, i * 1000 + 600, 300, (uint64_t)i + 1);
	}
	test_call(t, "cudaMalloc", 1, 10, 100, 0);
	test_call(t, "cudaMalloc", 1, 1010, 30, 0);
	test_call(t, "cudaFree", 1, 1050, 70, 0);
	test_call(t, "cudaHostAlloc", 1, 2010, 90, 0);
	test_call(t, "cuMemCreate", 1, 3010, 11, 0);
	struct analyzed *a = analyze(t);

	check_facts(a,
		    "launches: steady_step_count allocating_step_count steady_malloc_count "
		    "steady_malloc_ns steady_free_count steady_free_ns uncached_ratio",
		    "3 2 2 41 1 70 -");
}

/*
 * 24 of 30 new tensors go to the driver, so the cache is off; with 19 nothing is said. Nor where the
 * device is full, so that the cache frees what it has before it asks again.
 */
TEST(tensors_without_a_cache)
{
	static const struct {
		int uncached;
		bool frees;
		const char *ratio;
	} cases[] = { { 24, false, "0.8" }, { 19, false, "-" }, { 30, true, "-" } };

	for (size_t c = 0; c < TSI_COUNT_OF(cases); c++) {
		struct test_trace *t = test_trace_new();
		for (int i = 0; i < 30; i++) {
			test_op(t, i % 2 ? "aten::empty" : "aten::empty_strided", 1, i * 100, 50);
			if (i < cases[c].uncached)
				test_call(t, "cudaMalloc", 1, i * 100 + 10, 20, 0);
			if (!cases[c].frees)
				continue;
			test_call(t, "cudaFree", 1, i * 100 + 32, 2, 0);
			test_call(t, "cudaMalloc", 1, i * 100 + 35, 10, 0);
		}
		test_op(t, "aten::mm", 1, 5000, 50);
		struct analyzed *a = analyze(t);
		check_facts(a, "launches: uncached_ratio", cases[c].ratio);
		check_doubt(a, "launches.steady_malloc_count",
			    "one complete step, and it fills the allocator's cache: record 3 or "
			    "more");
	}
}

TEST(without_calls)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a,
		    "launches: launch_count sync_count delay_mean_ns host_bound_ratio "
		    "steady_malloc_count",
		    "0 0 - - -");
	check_table(a, "launches.by_name: name", "");
	check_table(a, "launches.syncs: call", "");
}

/* Calls that no name tells of count as launches where device work is linked to them. */
TEST(linked_calls_of_unknown_names)
{
	struct test_trace *t = test_trace_new();

	test_call(t, "vendorEnqueue", 1, 0, 10, 1);
	test_call(t, "vendorQuery", 1, 20, 10, 2);
	test_kernel(t, "k", 0, 7, 100, 10, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "launches: launch_count launch_ns", "1 10");
}
