/* SPDX-License-Identifier: MIT */
/* How busy devices are, alone and together, and how much work waits in their queues. */
#include "analysis_check.h"

#include "check.h"

/* Kernel [100, 200), comm [150, 350) on another stream, copy [400, 450); launched at 0, 20, 380. */
static void add_device_0(struct test_trace *t)
{
	test_call(t, "cudaLaunchKernel", 1, 0, 10, 1);
	test_call(t, "cudaLaunchKernelExC", 1, 20, 10, 2);
	test_call(t, "cudaMemcpyAsync", 1, 380, 10, 3);
	test_kernel(t, "sgemm", 0, 7, 100, 100, 1);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", 0, 20, 150, 200, 2);
	test_memcpy(t, "Memcpy DtoH (Device -> Pinned)", 0, 7, 400, 50, 3, 1000);
}

TEST(one_device)
{
	struct test_trace *t = test_trace_new();

	add_device_0(t);
	struct analyzed *a = analyze(t);

	/* span 100 … 450; busy [100, 350) and [400, 450). */
	check_facts(a, "device_busy: span_ns busy_ns idle_ns compute_ns comm_ns copy_ns",
		    "350 300 50 100 200 50");
	/* 300 ÷ 350; (100 + 200 + 50) ÷ 300. */
	check_facts(a, "device_busy: utilisation_ratio concurrency event_count event_ns",
		    "0.857143 1.16667 3 350");
	/*
	 * Waiting within the span: the kernel not at all, the comm kernel 100 … 150,
	 * the copy 380 … 400: 70 ÷ 350. At 20 two are launched and none has started.
	 */
	check_facts(a, "device_busy: queue_mean queue_max", "0.2 2");
	check_table(a, "device_busy.idle_histogram: upper_ns count total_ns share_ratio",
		    "1000 1 50 1\n");
	check_reliability(a, "device_busy", NULL);
}

TEST(devices_are_added_not_pooled)
{
	struct test_trace *t = test_trace_new();

	add_device_0(t);
	test_kernel(t, "sgemm", 1, 7, 2000, 60, 0);
	test_kernel(t, "sgemm", 1, 7, 2100, 40, 0);
	struct analyzed *a = analyze(t);

	check_device_facts(a, 0, "device_busy: span_ns busy_ns idle_ns compute_ns queue_max",
			   "350 300 50 100 2");
	check_device_facts(a, 1, "device_busy: span_ns busy_ns idle_ns compute_ns queue_max",
			   "140 100 40 100 -");
	check_facts(a, "device_busy: span_ns busy_ns idle_ns compute_ns comm_ns copy_ns",
		    "490 400 90 200 200 50");
}

TEST(idle_intervals_fall_into_classes)
{
	struct test_trace *t = test_trace_new();
	int64_t start_ns = 0;
	/* Idle 999 and 1000 ns lie on both sides of a border; 2 s is beyond all of them. */
	static const int64_t idle_ns[] = { 999, 1000, 5000, 2000000000 };

	test_kernel(t, "k", 0, 7, start_ns, 10, 0);
	for (size_t i = 0; i < 4; i++) {
		start_ns += 10 + idle_ns[i];
		test_kernel(t, "k", 0, 7, start_ns, 10, 0);
	}
	struct analyzed *a = analyze(t);
	check_table(a, "device_busy.idle_histogram: upper_ns count total_ns",
		    "1000 1 999\n10000 2 6000\n- 1 2000000000\n");
}

TEST(no_device)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a,
		    "device_busy: span_ns busy_ns idle_ns utilisation_ratio concurrency queue_mean",
		    "0 0 0 - - -");
	check_table(a, "device_busy.idle_histogram: count", "");
}

/* A kernel that starts 5 ns before its call: clocks differ, it did not wait. */
TEST(launch_after_start_is_no_negative_wait)
{
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaLaunchKernel", 1, 105, 10, 1);
	test_kernel(t, "k", 0, 7, 100, 50, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "device_busy: queue_mean queue_max", "0 0");
}
