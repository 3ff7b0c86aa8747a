/* SPDX-License-Identifier: MIT */
/* What is in each line of the budget: small traces by hand. */
#include "analysis_check.h"

#include "check.h"
#include "memory_sweep.h"

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define ENGINE "autograd::engine::evaluate_function: MmBackward0"
#define ALL_REDUCE "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)"
#define ALL_REDUCE_TREE "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(Args)"
#define ALL_GATHER "ncclDevKernel_AllGather_RING_LL(Args)"
#define REDUCE_SCATTER "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(Args)"
#define MYSTERY "ncclDevKernel_Generic_4(Args)"
#define GROUP(collective, name, description)                                                       \
	"\"Collective name\": \"" collective "\", \"Process Group Name\": \"" name                 \
	"\", \"Process Group Description\": \"" description "\""
#define PARTS "breakdown.parts: line kind name ns"

enum { MAIN = 1, BACKWARD = 2, GLOO = 3 }; /* thread ids */

static void check_parts(struct test_trace *t, const char *expected)
{
	struct analyzed *a = analyze(t);

	check_table(a, PARTS, expected);
}

/* The same with the first steps marked. */
static struct analyzed *analyze_warm(struct test_trace *t, unsigned warmup)
{
	const struct tscope_timeline_options options = { .warmup = warmup };
	return analyze_steps_of(t, &options);
}

/* ---- work that runs ---- */

TEST(of_kernels_the_first_to_start_has_the_instant)
{
	struct test_trace *t = test_trace_new();

	/*
	 * gemm [10,40) 30; add [30,60) has [40,60) 20; gemm [50,55) nothing; softmax [55,80)
	 * has [60,80) 20, and comes after add by name. Nothing is launched: 10 + 20.
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_kernel(t, "gemm", 0, 7, 10, 30, 0);
	test_kernel(t, "add", 0, 8, 30, 30, 0);
	test_kernel(t, "gemm", 0, 7, 50, 5, 0);
	test_kernel(t, "softmax", 0, 9, 55, 25, 0);
	check_parts(t, "compute kernel gemm 30\n"
		       "compute kernel add 20\n"
		       "compute kernel softmax 20\n"
		       "unattributed none  30\n");
}

TEST(steps_cut_a_kernel_and_marked_ones_have_no_part)
{
	struct test_trace *t = test_trace_new();

	/*
	 * Step 1 [0,100) is marked; 2 [100,200) and 3 [200,300) count. gemm [90,110) has 10 of
	 * it, add [190,310) 10 + 100; [110,190) is idle. One of no length keeps step 3 from
	 * looking cut.
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, "ProfilerStep#3", MAIN, 200, 100);
	test_kernel(t, "softmax", 0, 7, 20, 30, 0);
	test_kernel(t, "gemm", 0, 7, 90, 20, 0);
	test_kernel(t, "add", 0, 7, 190, 120, 0);
	test_kernel(t, "softmax", 0, 8, 250, 0, 0);
	struct analyzed *a = analyze_warm(t, 1);
	check_facts(a, "breakdown: wall_total_ns step_count", "200 2");
	check_table(a, PARTS,
		    "compute kernel add 110\ncompute kernel gemm 10\nunattributed none  80\n");
}

TEST(where_no_step_counts_there_is_nothing)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_kernel(t, "gemm", 0, 7, 10, 30, 0);
	struct analyzed *a = analyze_warm(t, 1);
	check_facts(a, "breakdown: wall_total_ns step_count", "- -");
	check_table(a, PARTS, "");
}

TEST(devices_are_summed)
{
	struct test_trace *t = test_trace_new();

	/* gemm 50 + 30; idle 50 and [30,40) + [60,100) */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_kernel(t, "gemm", 0, 7, 0, 50, 0);
	test_kernel(t, "gemm", 1, 7, 0, 30, 0);
	test_kernel(t, "add", 1, 7, 40, 20, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "breakdown: wall_total_ns step_count", "200 2");
	check_table(a, PARTS,
		    "compute kernel gemm 80\ncompute kernel add 20\nunattributed none  100\n");
}

TEST(communication_is_told_by_kind_and_group)
{
	struct test_trace *t = test_trace_new();

	/*
	 * gemm            [0,100)
	 * all_reduce      [50,200)  group 0: exposed [100,200) 100, and [600,640) 40 by another
	 *                           kernel
	 * reduce_scatter  [150,320) group 2: after the other, [200,320) 120
	 * all_reduce      [400,430) group 2: 30
	 * all_gather      [430,450) a group without description: 20
	 * all_gather      [450,460) a group without name: 10
	 * all_gather      [500,505) of no group: 5
	 * by their names  [510,519) in a group: 9, [520,528) in none: 8
	 * broadcast       [528,532) group 2: 4, and all_gather [532,535) 3, by the kernel of these
	 * idle [320,400), [460,500), [505,510), [519,520), [535,600), [640,1000):
	 * 80 + 40 + 5 + 1 + 65 + 360 = 551
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_kernel(t, "gemm", 0, 7, 0, 100, 0);
	test_device_args(t, "kernel", ALL_REDUCE, 0, 20, 50, 150, 0,
			 GROUP("allreduce", "0", "default_pg"));
	test_device_args(t, "kernel", REDUCE_SCATTER, 0, 24, 150, 170, 0,
			 GROUP("_reduce_scatter_base", "2", "dp"));
	test_device_args(t, "kernel", ALL_REDUCE, 0, 24, 400, 30, 0, GROUP("allreduce", "2", "dp"));
	test_device_args(t, "kernel", ALL_GATHER, 0, 24, 430, 20, 0,
			 GROUP("_allgather_base", "3", ""));
	test_device_args(t, "kernel", ALL_GATHER, 0, 24, 450, 10, 0,
			 GROUP("_allgather_base", "", "tp"));
	test_kernel(t, ALL_GATHER, 0, 24, 500, 5, 0);
	test_device_args(t, "kernel", MYSTERY, 0, 24, 510, 9, 0, GROUP("mystery", "2", "dp"));
	test_kernel(t, MYSTERY, 0, 24, 520, 8, 0);
	test_device_args(t, "kernel", MYSTERY, 0, 24, 528, 4, 0, GROUP("broadcast", "2", "dp"));
	test_device_args(t, "kernel", MYSTERY, 0, 24, 532, 3, 0,
			 GROUP("_allgather_base", "2", "dp"));
	test_device_args(t, "kernel", ALL_REDUCE_TREE, 0, 20, 600, 40, 0,
			 GROUP("allreduce", "0", "default_pg"));
	check_parts(t, "compute kernel gemm 100\n"
		       "exposed_comm collective all_reduce in group 0 (default_pg) 140\n"
		       "exposed_comm collective reduce_scatter in group 2 (dp) 120\n"
		       "exposed_comm collective all_reduce in group 2 (dp) 30\n"
		       "exposed_comm collective all_gather in group 3 20\n"
		       "exposed_comm collective all_gather in group tp 10\n"
		       "exposed_comm collective " MYSTERY " in group 2 (dp) 9\n"
		       "exposed_comm collective " MYSTERY " 8\n"
		       "exposed_comm collective all_gather 5\n"
		       "exposed_comm collective broadcast in group 2 (dp) 4\n"
		       "exposed_comm collective all_gather in group 2 (dp) 3\n"
		       "unattributed none  551\n");
}

TEST(copies_that_no_kernel_hides)
{
	struct test_trace *t = test_trace_new();

	/*
	 * gemm [0,40), all_gather [40,60); a copy [30,90) has [60,90) 30, a fill [80,100) has
	 * [90,100) 10; the same copy again in [150,160): 10. Idle [100,150) and [160,200).
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_kernel(t, "gemm", 0, 7, 0, 40, 0);
	test_kernel(t, ALL_GATHER, 0, 8, 40, 20, 0);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 9, 30, 60, 0, 8);
	test_memset(t, 0, 10, 80, 20, 0, 8);
	test_memcpy(t, "Memcpy HtoD (Pinned -> Device)", 0, 9, 150, 10, 0, 8);
	check_parts(t, "compute kernel gemm 40\n"
		       "exposed_comm collective all_gather 20\n"
		       "exposed_copy copy Memcpy HtoD (Pinned -> Device) 40\n"
		       "exposed_copy copy Memset (Device) 10\n"
		       "unattributed none  90\n");
}

/* ---- idle time ---- */

TEST(stalls_are_told_by_what_the_host_was_in)
{
	struct test_trace *t = test_trace_new();

	/*
	 * The loader's [0,100) and [290,410), in the latter an operator that synchronises in
	 * [300,400); launches at 150, by aten::mm, and at 420, by none. gemm [200,250), add
	 * [500,550).
	 *
	 *   [0,100)   loader 100         [290,410) loader 120, whatever is inside
	 *   [100,150) aten::mm 50        [410,420) before the call 10
	 *   [150,160) its call 10        [420,430) the call 10
	 *   [160,200) gap before gemm 40 [430,500) gap before add 70
	 *   [250,290) before the call 40 [550,1000) 450
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, LOADER, MAIN, 0, 100);
	test_op(t, "aten::mm", MAIN, 145, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 150, 10, 1);
	test_kernel(t, "gemm", 0, 7, 200, 50, 1);
	test_annotation(t, LOADER, MAIN, 290, 120);
	test_op(t, "aten::item", MAIN, 295, 110);
	test_call(t, "cudaStreamSynchronize", MAIN, 300, 100, 0);
	test_call(t, "cudaLaunchKernel", MAIN, 420, 10, 2);
	test_kernel(t, "add", 0, 7, 500, 50, 2);
	check_parts(t, "compute kernel add 50\n"
		       "compute kernel gemm 50\n"
		       "data_stall loader " LOADER " 220\n"
		       "launch_stall call cudaLaunchKernel 60\n"
		       "launch_stall operator aten::mm 50\n"
		       "launch_stall call cudaLaunchKernel in aten::mm 10\n"
		       "device_gap kernel add 70\n"
		       "device_gap kernel gemm 40\n"
		       "unattributed none  450\n");
}

TEST(the_outermost_loader_of_an_active_thread_counts)
{
	struct test_trace *t = test_trace_new();

	/*
	 * The backward thread launches at 400 and synchronises in [100,200). Main: one loader
	 * [150,350), within it another [220,260).
	 *   [0,90) before aten::add   [90,210) the node, in it [100,200) sync   [210,350) loader
	 *   [350,400) before and in aten::add   [400,410) its call
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 500);
	test_annotation(t, LOADER, MAIN, 150, 200);
	test_annotation(t, "dataloader", MAIN, 220, 40);
	test_op(t, ENGINE, BACKWARD, 90, 120);
	test_call(t, "cudaDeviceSynchronize", BACKWARD, 100, 100, 0);
	test_op(t, "aten::add", BACKWARD, 390, 30);
	test_call(t, "cudaLaunchKernel", BACKWARD, 400, 10, 1);
	test_kernel(t, "add", 0, 7, 410, 90, 1);
	check_parts(t, "compute kernel add 90\n"
		       "data_stall loader " LOADER " 140\n"
		       "sync_stall call cudaDeviceSynchronize in " ENGINE " 100\n"
		       "launch_stall operator aten::add 160\n"
		       "launch_stall call cudaLaunchKernel in aten::add 10\n");
}

TEST(calls_are_told_by_who_makes_them)
{
	struct test_trace *t = test_trace_new();

	/* Waits of 10, 20 and 30, the last in no operator; then the launch at 60. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_op(t, "aten::item", MAIN, 0, 10);
	test_call(t, "cudaStreamSynchronize", MAIN, 0, 10, 0);
	test_op(t, "aten::nonzero", MAIN, 10, 20);
	test_call(t, "cudaStreamSynchronize", MAIN, 10, 20, 0);
	test_call(t, "cudaStreamSynchronize", MAIN, 31, 29, 0);
	test_call(t, "cudaLaunchKernel", MAIN, 60, 5, 1);
	test_kernel(t, "gemm", 0, 7, 60, 40, 1);
	check_parts(t, "compute kernel gemm 40\n"
		       "sync_stall call cudaStreamSynchronize 29\n"
		       "sync_stall call cudaStreamSynchronize in aten::nonzero 20\n"
		       "sync_stall call cudaStreamSynchronize in aten::item 10\n"
		       "launch_stall call cudaLaunchKernel 1\n");
}

TEST(a_graph_s_launch_is_its_operator_s)
{
	struct test_trace *t = test_trace_new();

	/* Launched at 30; gaps [30,40) and [60,65); copies end the step. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_op(t, "CompiledFunction", MAIN, 10, 50);
	test_call(t, "cudaGraphLaunch", MAIN, 30, 10, 1);
	test_kernel(t, "gemm", 0, 7, 40, 20, 1);
	test_memcpy(t, "Memcpy DtoD (Device -> Device)", 0, 7, 65, 35, 1, 8);
	check_parts(t, "compute kernel gemm 20\n"
		       "exposed_copy copy Memcpy DtoD (Device -> Device) 35\n"
		       "launch_stall operator CompiledFunction 30\n"
		       "launch_stall call cudaGraphLaunch in CompiledFunction 10\n"
		       "device_gap copy Memcpy DtoD (Device -> Device) 5\n");
}

/* ---- names ---- */

TEST(numbers_at_the_end_make_no_part)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 150);
	test_kernel(t, "copy#1", 0, 7, 0, 10, 0);
	test_kernel(t, "copy#27", 0, 7, 10, 20, 0);
	test_kernel(t, "copy", 0, 7, 30, 30, 0); /* 60 in all */
	test_kernel(t, "#7", 0, 7, 60, 5, 0);    /* nothing else would be left */
	test_kernel(t, "copy#", 0, 7, 65, 4, 0);
	test_kernel(t, "copy1", 0, 7, 69, 3, 0);
	test_kernel(t, "copy#x1", 0, 7, 72, 2, 0);
	test_kernel(t, "7", 0, 7, 74, 1, 0);
	test_annotation(t, "dataloader#1", MAIN, 75, 10);
	test_annotation(t, "dataloader#2", MAIN, 85, 15);
	test_op(t, "block#12", MAIN, 100, 30);
	test_call(t, "cudaDeviceSynchronize", MAIN, 110, 10, 0);
	test_call(t, "cudaLaunchKernel", MAIN, 125, 5, 1);
	test_kernel(t, "gemm", 0, 7, 125, 25, 1);
	/* Launched late: [100,110) and [120,125). */
	check_parts(t, "compute kernel copy 60\n"
		       "compute kernel gemm 25\n"
		       "compute kernel #7 5\n"
		       "compute kernel copy# 4\n"
		       "compute kernel copy1 3\n"
		       "compute kernel copy#x1 2\n"
		       "compute kernel 7 1\n"
		       "data_stall loader dataloader 25\n"
		       "sync_stall call cudaDeviceSynchronize in block 10\n"
		       "launch_stall operator block 15\n");
}

/* ---- without devices ---- */

TEST(host_lines_have_the_innermost_operators)
{
	struct test_trace *t = test_trace_new();

	/*
	 * [0,100)    the loader, whatever it does in [20,50)
	 * [100,200)  in nothing: aten::linear 100 less aten::addmm [120,180) 60
	 * [200,300)  forward: the annotation 70, aten::relu 30
	 * [300,350)  backward 50 less aten::mm [310,330) 20
	 * [400,460)  on another thread backward, which the main thread waits for
	 * [500,580)  the optimizer 80 less aten::add_ 20
	 * [600,650)  communication on the main thread, its copy included; then on another until 700
	 * 300 is left
	 */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	test_annotation(t, LOADER, MAIN, 0, 100);
	test_op(t, "aten::stack", MAIN, 20, 30);
	test_op(t, "aten::linear", MAIN, 100, 100);
	test_op(t, "aten::addmm", MAIN, 120, 60);
	test_annotation(t, "DistributedDataParallel.forward", MAIN, 200, 100);
	test_op(t, "aten::relu", MAIN, 220, 30);
	test_op(t, ENGINE, MAIN, 300, 50);
	test_op(t, "aten::mm", MAIN, 310, 20);
	test_op(t, ENGINE, BACKWARD, 400, 60);
	test_op(t, "aten::mm", BACKWARD, 410, 20);
	test_annotation(t, "Optimizer.step#SGD.step", MAIN, 500, 80);
	test_op(t, "aten::add_", MAIN, 510, 20);
	test_annotation(t, "gloo:all_reduce", MAIN, 600, 50);
	test_op(t, "aten::copy_", MAIN, 610, 20);
	test_annotation(t, "gloo:all_gather", GLOO, 640, 60);
	struct analyzed *a = analyze(t);
	check_facts(a, "breakdown: wall_total_ns step_count", "1000 1");
	check_table(a, PARTS,
		    "host.data loader " LOADER " 100\n"
		    "host.forward annotation DistributedDataParallel.forward 70\n"
		    "host.forward operator aten::addmm 60\n"
		    "host.forward operator aten::linear 40\n"
		    "host.forward operator aten::relu 30\n"
		    "host.backward operator " ENGINE " 90\n"
		    "host.backward operator aten::mm 20\n"
		    "host.optimizer annotation Optimizer.step#SGD.step 60\n"
		    "host.optimizer operator aten::add_ 20\n"
		    "host.comm collective gloo:all_gather 50\n"
		    "host.comm collective gloo:all_reduce 50\n"
		    "host.other none  410\n");
}

TEST(collectives_of_the_host_have_kind_and_group)
{
	struct test_trace *t = test_trace_new();

	/* The record is what communicates, not the operator around it. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_op(t, "c10d::allreduce_", MAIN, 0, 40);
	test_span_args(t, "cpu_op", "record_param_comms", MAIN, 10, 20,
		       "{" GROUP("allreduce", "0", "default_pg") "}");
	check_parts(t, "host.comm collective all_reduce in group 0 (default_pg) 20\n"
		       "host.comm collective c10d::allreduce_ 20\n"
		       "host.other none  60\n");
}

/* ---- in doubt, and without memory ---- */

TEST(doubts_are_the_budget_s)
{
	struct test_trace *t = test_trace_new();

	/* A kernel that ran for two hours. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_kernel(t, "gemm", 0, 7, 10, INT64_C(7200000000000), 0);
	struct analyzed *a = analyze(t);
	const char *doubt = tscope_analysis_reliability(a->analysis, tscope_analyzer_find("budget"),
							TSCOPE_WHOLE_TRACE);
	assert_non_null(doubt);
	check_reliability(a, "breakdown", doubt);
}

TEST(every_allocation_may_fail)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_device_args(t, "kernel", ALL_REDUCE, 0, 7, 0, 20, 0, GROUP("allreduce", "0", "pg"));
	test_device_args(t, "kernel", MYSTERY "#1", 0, 7, 20, 20, 0, GROUP("mystery", "", "pg"));
	test_op(t, "block#1", MAIN, 50, 50);
	test_call(t, "cudaDeviceSynchronize", MAIN, 60, 30, 0);
	test_call(t, "cudaLaunchKernel", MAIN, 95, 5, 1);
	test_kernel(t, "gemm#1", 0, 7, 100, 50, 1);
	struct analyzed *a = analyze(t);
	sweep_trace(a->trace, a->timeline, NULL, 1);
	/* 50, 20 and 20 that run; 30 in the wait, 25 before the launch, 5 in it, and 50. */
	check_table(a, "breakdown.parts: name",
		    "gemm\nall_reduce in group 0 (pg)\n" MYSTERY
		    " in group pg\ncudaDeviceSynchronize in block\nblock\ncudaLaunchKernel in "
		    "block\n\n");
}
