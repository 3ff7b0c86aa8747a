/* SPDX-License-Identifier: MIT */
/* Idle time by cause as facts, the longest gaps, and the names behind the causes. */
#include "analysis_check.h"

#include "analyze/analysis.h"
#include "check.h"

enum { MAIN = 1 };

#define GAPS "idle.gaps: cause start_ns duration_ns device step"
#define CULPRITS "idle.culprits: cause kind name ns_per_step count"

/*
 * Two steps of 100. Step 1: loader [0,20), op [20,40) that launches in [30,36), gemm [40,90).
 * Step 2: python [100,110), op [110,130) that launches in [120,126), gemm [130,190); no more.
 */
static struct test_trace *two_steps(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, "enumerate(DataLoader)#_Iter.__next__", MAIN, 0, 20);
	test_op(t, "aten::mm", MAIN, 20, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 30, 6, 1);
	test_kernel(t, "gemm", 3, 7, 40, 50, 1);
	test_op(t, "aten::add", MAIN, 110, 20);
	test_call(t, "cudaLaunchKernel", MAIN, 120, 6, 2);
	test_kernel(t, "gemm", 3, 7, 130, 60, 2);
	return t;
}

TEST(facts_are_means_of_the_steps)
{
	struct analyzed *a = analyze(two_steps());

	/* Idle 40 + 50 = 90, data 20, op 10 + 10, python [90,110) 20, calls 12, starts 8, edge 10. */
	check_facts(a,
		    "idle: total_ns data_ns op_overhead_ns python_ns launch_call_ns "
		    "start_latency_ns edge_ns cold_ns",
		    "45 10 10 10 6 4 5 0");
	check_device_facts(a, 0, "idle: total_ns data_ns", "45 10");
}

TEST(of_a_trace_alone_the_rank_s_figures_are_the_trace_s)
{
	struct analyzed *a = analyze(two_steps());
	const struct analysis_scope scope = { .steps = tsi_analysis_steps(a->analysis) };
	struct analyzed rank = { 0 };

	assert_int_equal(tsi_analyze_level(&rank.analysis, LEVEL_RANK, &scope, a->analysis, NULL),
			 TSCOPE_OK);
	check_facts(&rank, "idle: total_ns data_ns edge_ns", "45 10 5");
	/* Its tables are those of the trace. */
	check_table(&rank, "idle.culprits: cause",
		    "data\nop_overhead\nop_overhead\npython\nlaunch_call\nlaunch_call\n"
		    "start_latency\n");
	tscope_analysis_free(rank.analysis);
}

TEST(the_longest_gaps_and_what_is_around_them)
{
	struct analyzed *a = analyze(two_steps());

	/* [0,40), [90,130) and [190,200). */
	check_table(a, GAPS, "data 0 40 3 1\npython 90 40 3 2\nedge 190 10 3 2\n");
	check_table(a, "idle.gaps: cause cause_ns", "data 20\npython 20\nedge 10\n");
	check_table(a, "idle.gaps: inside call next thread operator source",
		    "enumerate(DataLoader)#_Iter.__next__ cudaLaunchKernel gemm 1 aten::mm -\n"
		    "- cudaLaunchKernel gemm 1 aten::add -\n"
		    "- - - - - -\n");
}

TEST(the_names_behind_the_causes)
{
	struct analyzed *a = analyze(two_steps());

	/* python [90,110) is cut by the step. */
	check_table(a, CULPRITS,
		    "data loader enumerate(DataLoader)#_Iter.__next__ 10 1\n"
		    "op_overhead operator aten::add 5 1\n"
		    "op_overhead operator aten::mm 5 1\n"
		    "python operator before aten::add 10 2\n"
		    "launch_call call cudaLaunchKernel in aten::add 3 1\n"
		    "launch_call call cudaLaunchKernel in aten::mm 3 1\n"
		    "start_latency kernel gemm 4 2\n");
}

TEST(a_frame_is_the_source)
{
	static const struct builder_options options = { .python = true };
	struct test_trace *t = test_trace_new_with(&options);

	/* [0,30) is the innermost frame's most of all; what has no file is no source. */
	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_span(t, "python_function", "train.py(7): main", MAIN, 0, 90);
	test_span(t, "python_function", "model.py(12): forward", MAIN, 5, 30);
	test_call(t, "cudaLaunchKernel", MAIN, 40, 5, 1);
	test_kernel(t, "gemm", 0, 7, 45, 55, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "idle.gaps: cause inside source",
		    "python model.py(12): forward model.py(12): forward\n");
}

/*
 * Net_0 [0,90) holds Block_0 [2,60) with Linear_0 [4,50): a gap and a kernel of model.py's forward
 * [5,35) are in the two innermost. What the backward thread launches is in no frame.
 */
TEST(modules_and_functions_of_gaps_and_kernels)
{
	static const struct builder_options options = { .python = true };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_span(t, frame, "nn.Module: Net_0", MAIN, 0, 90);
	test_span(t, frame, "nn.Module: Block_0", MAIN, 2, 58);
	test_span(t, frame, "nn.Module: Linear_0", MAIN, 4, 46);
	test_span(t, frame, "model.py(12): forward", MAIN, 5, 30);
	test_call(t, "cudaLaunchKernel", MAIN, 30, 5, 1);
	test_kernel(t, "gemm", 0, 7, 40, 55, 1);
	test_call(t, "cudaLaunchKernel", 2, 50, 5, 2);
	test_kernel(t, "dgrad", 0, 7, 95, 105, 2);
	struct analyzed *a = analyze(t);
	check_table(a, "idle.gaps: module source", "Block_0.Linear_0 model.py(12): forward\n");
	check_table(a, "kernels.by_name: name module source",
		    "dgrad - -\n"
		    "gemm Block_0.Linear_0 model.py(12): forward\n");
}

/*
 * [0,100): the launching thread has nothing to do, in a queue, and in epoll; run_backward is the
 * engine's. Names are those of the outer functions, and of the user's around them.
 */
TEST(functions_that_wait_are_no_python_between_operators)
{
	static const struct builder_options options = { .python = true };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 200);
	test_span(t, frame, "server.py(80): loop", MAIN, 0, 190);
	test_span(t, frame, "queue.py(154): get", MAIN, 10, 40);
	test_span(t, frame, "threading.py(323): wait", MAIN, 12, 35);
	test_span(t, frame, "<built-in method acquire of _thread.lock object at 0x7>", MAIN, 13,
		  30);
	test_span(t, frame, "selectors.py(451): select", MAIN, 60, 30);
	test_span(t, frame, "<built-in method poll of select.epoll object at 0x7>", MAIN, 61, 28);
	test_span(t, frame, "torch/autograd/graph.py(8): run_backward", MAIN, 92, 5);
	test_op(t, "op", MAIN, 100, 10);
	test_call(t, "cudaLaunchKernel", MAIN, 100, 5, 1);
	test_kernel(t, "gemm", 0, 7, 105, 95, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "idle.culprits: cause kind name ns_per_step",
		    "python wait queue.py(154): get in server.py(80): loop 40\n"
		    "python wait selectors.py(451): select in server.py(80): loop 30\n"
		    "python function server.py(80): loop 30\n"
		    "launch_call call cudaLaunchKernel in op 5\n");
}

static bool waits(struct str name)
{
	return tsi_str_find(name, TSI_STR("queue.py")) >= 0;
}

/*
 * Without --python: frames of 0.1 ms, of telling names, and to name places those of the user's
 * code, which leave other figures alone.
 */
TEST(of_most_frames_only_what_names_a_cause_is_kept)
{
	static const struct builder_options options = { .is_telling_frame = waits };
	static const char frame[] = "python_function";
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000000);
	test_span(t, frame, "train.py(7): main", MAIN, -500, 900500);
	test_span(t, frame, "torch/nn/modules/module.py(12): _call_impl", MAIN, 100, 300000);
	test_span(t, frame, "train.py(9): short", MAIN, 300, 99999);
	test_span(t, frame, "queue.py(1): get", MAIN, 310000, 20000);
	test_span(t, frame, "queue.py(1): get", MAIN, 340000, 19999);
	test_call(t, "cudaLaunchKernel", MAIN, 400000, 5, 1);
	test_kernel(t, "gemm", 0, 7, 400005, 599995, 1);
	test_op(t, "op", MAIN, 500000, 10);
	struct analyzed *a = analyze(t);
	assert_int_equal(a->trace->chosen_frame_count, 4);
	check_facts(a, "integrity: span_count work_ns", "4 1000000");
	check_facts(a, "idle: python_frame_count python_ns", "5 400000");
	check_table(a, "idle.gaps: cause source", "python train.py(7): main\n");
	check_table(a, "idle.culprits: cause kind name ns_per_step count",
		    "python function train.py(7): main 380000 4\n"
		    "python wait queue.py(1): get in train.py(7): main 20000 1\n"
		    "launch_call call cudaLaunchKernel 5 1\n");
}

/* PyTorch lost the return of the inner frame: it ends where the operator does. */
TEST(no_frame_outlasts_what_it_was_called_in)
{
	static const struct builder_options options = { .python = true };
	struct test_trace *t = test_trace_new_with(&options);

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_span(t, "python_function", "train.py(7): main", MAIN, 0, 90);
	test_op(t, "op", MAIN, 10, 20);
	test_span(t, "python_function", "<built-in function next>", MAIN, 12, 60);
	test_call(t, "cudaLaunchKernel", MAIN, 60, 5, 1);
	test_kernel(t, "gemm", 0, 7, 65, 35, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "idle: python_ns op_overhead_ns", "58 2");
	check_table(a, "idle.culprits: cause kind name ns_per_step",
		    "op_overhead call cudaLaunchKernel 2\n"
		    "python function train.py(7): main 58\n"
		    "launch_call call cudaLaunchKernel 5\n");
}

TEST(without_devices_or_steps_there_is_nothing)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_op(t, "aten::mm", MAIN, 20, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, "idle: total_ns data_ns", "- -");
	check_table(a, GAPS, "");
}
