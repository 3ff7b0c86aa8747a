/* SPDX-License-Identifier: MIT */
/* Communication under and beside computation, by kind and by group, never across devices. */
#include "analysis_check.h"

#include "check.h"

#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"
#define ALL_GATHER "ncclDevKernel_AllGather_RING_LL(Args)"
#define GROUP(name, description, size)                                                             \
	"\"Collective name\": \"allreduce\", \"Process Group Name\": \"" name                      \
	"\", \"Process Group Description\": \"" description "\", \"Group size\": " #size

TEST(exposed_and_overlapped)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "sgemm", 0, 7, 0, 100, 0);
	test_kernel(t, ALL_REDUCE, 0, 20, 50, 100, 0);
	test_kernel(t, ALL_GATHER, 0, 24, 140, 100, 0);
	test_kernel(t, "sgemm", 0, 7, 200, 20, 0);
	struct analyzed *a = analyze(t);

	/* comm [50, 240); under compute [50, 100) and [200, 220); span 240. */
	check_facts(a, "overlap: comm_ns overlapped_ns exposed_ns overlap_ratio exposed_comm_ratio",
		    "190 70 120 0.368421 0.5");
	check_table(a, "overlap.by_kind: kind count comm_ns exposed_ns overlap_ratio",
		    "all_gather 1 100 80 0.2\nall_reduce 1 100 50 0.5\n");
	check_table(a, "overlap.by_group: group", "");
}

TEST(devices_do_not_hide_each_other)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "sgemm", 0, 7, 0, 100, 0);
	test_kernel(t, ALL_REDUCE, 1, 20, 0, 100, 0);
	test_kernel(t, ALL_REDUCE, 0, 20, 40, 100, 0);
	struct analyzed *a = analyze(t);

	check_device_facts(a, 0, "overlap: comm_ns overlapped_ns exposed_ns exposed_comm_ratio",
			   "100 60 40 0.285714"); /* 40 ÷ 140 */
	check_device_facts(a, 1, "overlap: comm_ns overlapped_ns exposed_ns exposed_comm_ratio",
			   "100 0 100 1");
	check_facts(a, "overlap: comm_ns overlapped_ns exposed_ns exposed_comm_ratio",
		    "200 60 140 0.583333"); /* 140 ÷ 240 */
	check_table(a, "overlap.by_kind: kind count comm_ns exposed_ns", "all_reduce 2 200 140\n");
	/* All of the second device's, and what the first one's product leaves. */
	check_table(a, "overlap.exposed: max_start_ns max_ns", "0 100\n100 40\n");
}

TEST(groups_by_name_and_description)
{
	struct test_trace *t = test_trace_new();

	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 0, 100, 0, GROUP("0", "default_pg", 8));
	test_device_args(t, "kernel", ALL_REDUCE, 0, 24, 50, 100, 0, GROUP("0", "default_pg", 8));
	test_device_args(t, "kernel", ALL_REDUCE, 0, 28, 500, 10, 0, GROUP("3", "tp", 2));
	test_kernel(t, ALL_REDUCE, 0, 28, 600, 10, 0);
	struct analyzed *a = analyze(t);

	/* Two kernels of one group at once are one union: [0, 150). */
	check_table(a, "overlap.by_group: group description size count comm_ns exposed_ns",
		    "0 default_pg 8 2 150 150\n3 tp 2 1 10 10\n");
	check_table(a, "overlap.by_kind: kind count comm_ns", "all_reduce 4 170\n");
}

TEST(without_communication)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "sgemm", 0, 7, 0, 100, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "overlap: comm_ns overlapped_ns exposed_ns overlap_ratio exposed_comm_ratio",
		    "0 0 0 - 0");
	check_table(a, "overlap.by_kind: kind", "");
}

TEST(without_device)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "overlap: comm_ns exposed_ns overlap_ratio exposed_comm_ratio", "0 0 - -");
}
