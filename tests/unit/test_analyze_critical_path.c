/* SPDX-License-Identifier: MIT */
/* What the critical path is made of; how it is found: test_path_walk.c. */
#include "analysis_check.h"

#include "check.h"
#include "memory_sweep.h"
#include "timeline/timeline.h"

enum { MAIN = 1 };

/*
 * One step, [0, 1000): a loader until 100, a kernel [130, 500) launched at 110, a collective
 * [510, 700) and a copy [705, 760) queued behind it, for which the host waits until 800.
 *
 *	data    [0, 100)
 *	host    [100, 110) in nothing, [760, 800) in the call, [800, 900) in aten::item, 100 more
 *	launch  [110, 130)
 *	compute [130, 500), gap [500, 510), comm [510, 700), gap [700, 705), copy [705, 760)
 */
static struct test_trace *one_step(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, "enumerate(DataLoader)#it.__next__", MAIN, 0, 100);
	test_call(t, "cudaLaunchKernel", MAIN, 110, 10, 1);
	test_kernel(t, "gemm", 0, 7, 130, 370, 1);
	test_call(t, "cudaLaunchKernel", MAIN, 140, 10, 2);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 7, 510, 190, 2);
	test_op(t, "aten::item", MAIN, 200, 700);
	test_call(t, "cudaMemcpyAsync", MAIN, 210, 10, 3);
	test_memcpy(t, "Memcpy DtoH (Device -> Pinned)", 0, 7, 705, 55, 3, 4);
	test_call(t, "cudaStreamSynchronize", MAIN, 230, 570, 0);
	return t;
}

TEST(composition)
{
	struct analyzed *a = analyze(one_step());

	check_facts(a, "critical_path: step_count length_ns coverage_ratio", "1 1000 1");
	/* host 10 + 40 + 100 + 100; script 10 + 100 */
	check_facts(a,
		    "critical_path: compute_ns comm_ns copy_ns launch_ns device_gap_ns host_ns "
		    "data_ns script_ns",
		    "370 190 55 20 15 250 100 110");
	check_facts(a, "critical_path: sync_is_recorded", "no");
	check_table(a, "critical_path.lines: line step_ns share_ratio",
		    "compute 370 0.37\nhost 250 0.25\ncomm 190 0.19\ndata 100 0.1\n"
		    "copy 55 0.055\nlaunch 20 0.02\ndevice_gap 15 0.015\n");
	check_table(a, "critical_path.by_kernel: name count total_ns share_ratio",
		    "gemm 1 370 0.37\nncclDevKernel_AllReduce_Sum_f32_RING_LL 1 190 0.19\n"
		    "Memcpy DtoH (Device -> Pinned) 1 55 0.055\n");
	check_table(a, "critical_path.by_operator: name count total_ns share_ratio",
		    "aten::item 1 100 0.1\nenumerate(DataLoader)#it.__next__ 1 100 0.1\n"
		    "cudaStreamSynchronize 1 40 0.04\n");
}

/*
 * Three steps of 100, 101 and 100 ns, the first two with 50 of an operator each, the last
 * without: of 301 ns 100 in it and 201 in nothing. A mean step has 100.33, an operator 33.33.
 */
TEST(means_of_steps)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 101);
	test_annotation(t, "ProfilerStep#3", MAIN, 201, 100);
	test_op(t, "aten::mm", MAIN, 0, 50);
	test_op(t, "aten::mm", MAIN, 150, 50);
	struct analyzed *a = analyze(t);

	check_facts(a, "critical_path: step_count length_ns host_ns script_ns data_ns",
		    "3 100 100 67 0");
	/* There is no device, and nobody communicates. */
	check_facts(a,
		    "critical_path: compute_ns comm_ns copy_ns launch_ns device_gap_ns "
		    "sync_is_recorded",
		    "- - - - - -");
	check_table(a, "critical_path.by_operator: name count total_ns", "aten::mm 2 100\n");
	check_table(a, "critical_path.by_kernel: name", "");
}

/*
 * Lines of 1 and 2 ns in three steps: 0.33 and 0.67 of a mean step of 1 ns. Rounded by
 * themselves they are 0 and 1; 2 and 2 of 4 would be 1 and 1 of a length of 1.
 */
TEST(lines_sum_to_the_length)
{
	struct test_trace *t = test_trace_new();

	/* compute 5, launch 5, host 5 of 15 ns in 2 steps: 2.5 each of 7.5, which is 8. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 5);
	test_annotation(t, "ProfilerStep#2", MAIN, 5, 6);
	test_call(t, "cudaLaunchKernel", MAIN, 5, 1, 1);
	test_kernel(t, "k", 0, 7, 10, 5, 1);
	test_kernel(t, "j", 0, 8, 0, 1, 0);
	struct analyzed *a = analyze(t);

	/* The first step launches j alone. Sums so far: 5 compute, 10 launch, 15 host: 3, 5, 8. */
	check_facts(a, "critical_path: step_count length_ns", "2 8");
	check_facts(a, "critical_path: compute_ns launch_ns host_ns", "3 2 3");
}

/* Nothing tells why the first kernel of the second stream began so late. */
TEST(holes_are_not_covered)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k1", 0, 7, 0, 100, 0);
	test_kernel(t, "k2", 0, 20, 39900, 100, 0);
	struct analyzed *a = analyze(t);

	check_facts(a, "critical_path: length_ns coverage_ratio compute_ns", "200 0.005 200");
	/* There is no host in it. */
	check_facts(a, "critical_path: host_ns data_ns script_ns", "- - -");
}

TEST(recorded_synchronisation)
{
	struct test_trace *t = one_step();

	test_device_args(t, "cuda_sync", "Stream Sync", 0, 7, 230, 570, 4, "");
	struct analyzed *a = analyze(t);
	check_facts(a, "critical_path: sync_is_recorded", "yes");
}

TEST(nothing_to_say)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "any", "span", MAIN, 0, 100);
	struct analyzed *a = analyze(t);
	check_facts(a, "critical_path: step_count length_ns coverage_ratio host_ns", "- - - -");
	check_table(a, "critical_path.lines: line", "");
}

/* Impossible durations make all that rests on the device's time doubtful. */
TEST(doubt)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_call(t, "cudaGraphLaunch", MAIN, 100, 10, 1);
	test_kernel(t, "k", 0, 7, 130, 370, 2);
	struct analyzed *a = analyze(t);
	check_reliability(a, "critical_path",
			  "graph launches have no kernel in the trace: device work is missing");
}

TEST(no_memory)
{
	struct tscope_trace *trace = test_trace_finish(one_step());

	sweep_trace(trace, test_timeline(trace, NULL), NULL, 1);
}
