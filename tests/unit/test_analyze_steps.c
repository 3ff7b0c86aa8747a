/* SPDX-License-Identifier: MIT */
/* The step table, with devices and without, and how an analysis hands out its sheets. */
#include "analysis_check.h"

#include "check.h"
#include "memory_sweep.h"

/*
 * Two steps on two devices.
 *   step 1 [0,100):   device 0 computes [10,60), device 1 [20,30)
 *   step 2 [100,200): device 0 computes [110,120)
 */
static struct test_trace *two_steps(void)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 95);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_call(t, "cudaLaunchKernel", 1, 5, 2, 1);
	test_kernel(t, "gemm", 0, 7, 10, 50, 1);
	test_call(t, "cudaLaunchKernel", 1, 8, 2, 2);
	test_kernel(t, "gemm", 1, 7, 20, 10, 2);
	test_call(t, "cudaLaunchKernel", 1, 105, 2, 3);
	test_kernel(t, "gemm", 0, 7, 110, 10, 3);
	return t;
}

static void add_operator(struct test_trace *t, const char *pid)
{
	struct raw_event event = test_whole_event(pid, "1", "aten::mm", 10, 20, "{}");

	event.cat = TSI_STR("cpu_op");
	test_event(t, &event);
}

/* A process that only has frames, as a worker of VizTracer's, is none that was merged. */
TEST(merged_processes)
{
	struct test_trace *t = two_steps();

	add_operator(t, "100");
	add_operator(t, "100");
	struct raw_event frame = test_whole_event("200", "1", "work", 10, 20, "{}");
	frame.cat = TSI_STR("FEE");
	test_event(t, &frame);
	check_facts(analyze(t), "steps: process_count process", "- -");

	t = two_steps();
	add_operator(t, "100");
	add_operator(t, "200");
	add_operator(t, "300");
	check_facts(analyze(t), "steps: process_count process", "3 100");

	t = test_trace_new(); /* no process has steps of its own */
	add_operator(t, "100");
	add_operator(t, "200");
	check_facts(analyze(t), "steps: process_count process", "2 -");
}

/* A product without a backward pass is inference; a loader alone may feed either. */
TEST(workloads_are_named)
{
	static const struct {
		const char *category, *name, *workload;
	} cases[] = {
		{ "cpu_op", "aten::relu", "-" },
		{ "cpu_op", "aten::mm", "inference" },
		{ "cpu_op", "MmBackward0", "training" },
		{ "cpu_op", "autograd::engine::evaluate_function: MmBackward0", "training" },
		{ "user_annotation", "Optimizer.step#SGD.step", "training" },
		{ "user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
		  "-" },
		{ "user_annotation", "execute_context_0(0)_generation_4(4)", "inference" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct test_trace *t = test_trace_new();

		if (i > 1 && i < 6)
			test_op(t, "aten::mm", 1, 10, 20);
		test_span(t, cases[i].category, cases[i].name, 1, 40, 20);
		struct analyzed *a = analyze(t);
		check_facts(a, "steps: workload", cases[i].workload);
	}
}

TEST(a_loader_hides_no_training_behind_it)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 0, 20);
	test_annotation(t, "Optimizer.step#SGD.step", 1, 40, 20);
	check_facts(analyze(t), "steps: workload", "training");
}

TEST(every_step_has_its_row)
{
	struct analyzed *a = analyze(two_steps());

	check_facts(a, "steps: count counted_count boundary", "2 1 profiler_step");
	/* Step 2 has 1 event where the step before had 2: cut by the end of the capture. */
	check_table(a, "steps.list: step start_ns dur_ns wall_ns device_events mark",
		    "1 0 95 100 2 \n"
		    "2 100 100 100 1 incomplete\n");
	/*
	 * Both devices: step 1 of device 0: launch 7, gap 3, compute 50, launch 40 (until 105);
	 * of device 1: launch 10, gap 10, compute 10, 70 without a later event.
	 * Step 2 of device 0: launch 7, gap 3, compute 10, rest 80; of device 1: 100.
	 */
	check_table(a,
		    "steps.list: compute_ns exposed_comm_ns exposed_copy_ns data_stall_ns "
		    "sync_stall_ns launch_stall_ns device_gap_ns unattributed_ns data_ns other_ns",
		    "60 0 0 0 0 57 13 70 - -\n"
		    "10 0 0 0 0 7 3 180 - -\n");
}

/* Two steps; in the first three of four launches become a graph, which the second may replay. */
static struct test_trace *captured(bool replays)
{
	struct test_trace *t = two_steps();

	test_call(t, "cudaStreamBeginCapture_v10000", 1, 20, 2, 0);
	test_call(t, "cudaLaunchKernel", 1, 30, 2, 0);
	test_call(t, "cudaLaunchKernel", 1, 40, 2, 0);
	test_call(t, "cudaLaunchKernel", 1, 50, 2, 0);
	test_call(t, "cudaStreamEndCapture", 1, 60, 2, 0);
	if (replays)
		test_call(t, "cudaGraphLaunch", 1, 120, 2, 0);
	return t;
}

TEST(captures_are_no_steps)
{
	struct analyzed *a = analyze(captured(false));

	check_facts(a, "steps: count counted_count", "2 0");
	check_facts(a, "step_time: mean_ns", "-");
	check_facts(a, "launches: captured_count is_capture", "3 yes");
	check_table(a, "steps.list: mark", "capture\ncapture\n");
	a = analyze(captured(true));
	check_facts(a, "launches: captured_count is_capture", "3 -");
	check_table(a, "steps.list: mark", "\nincomplete\n");
}

TEST(without_devices_the_host_lines_are_there)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_op(t, "aten::mm", 1, 10, 30);
	struct analyzed *a = analyze(t);
	check_table(a,
		    "steps.list: device_events compute_ns unattributed_ns data_ns forward_ns "
		    "backward_ns optimizer_ns comm_ns other_ns",
		    "0 - - 0 30 0 0 0 70\n");
}

TEST(rows_may_be_limited)
{
	const struct tscope_analysis_options options = { .table_limit = 1 };
	struct analyzed *a = analyze(two_steps());

	tscope_analysis_free(a->analysis);
	assert_int_equal(tscope_analyze(&a->analysis, a->trace, a->timeline, &options, NULL),
			 TSCOPE_OK);
	check_table(a, "steps.list: step", "1\n");
	check_facts(a, "steps: count", "2");
}

static size_t analyzer_named(const char *id)
{
	size_t index = 0;

	while (strcmp(tscope_analyzer(index)->id, id) != 0)
		index++;
	return index;
}

TEST(sheets_exist_for_what_was_computed)
{
	size_t steps = analyzer_named("steps"), budget = analyzer_named("budget");
	struct analyzed *analyzed = analyze(two_steps());
	const struct tscope_analysis *a = analyzed->analysis;

	assert_true(tscope_analysis_has(a, steps, TSCOPE_WHOLE_TRACE));
	assert_false(tscope_analysis_has(a, steps, 0)); /* not per device */
	assert_true(tscope_analysis_has(a, budget, 1));
	assert_false(tscope_analysis_has(a, budget, 2));
	assert_false(tscope_analysis_has(a, budget, -2));
	assert_false(tscope_analysis_has(a, tscope_analyzer_count(), TSCOPE_WHOLE_TRACE));
	assert_null(tscope_analysis_reliability(a, steps, TSCOPE_WHOLE_TRACE));
	assert_int_equal(tscope_analysis_fact(a, steps, 99, TSCOPE_WHOLE_TRACE).kind,
			 TSCOPE_VALUE_ABSENT);
	assert_int_equal(tscope_analysis_row_count(a, steps, 0, TSCOPE_WHOLE_TRACE), 2);
	assert_int_equal(tscope_analysis_row_count(a, steps, 99, TSCOPE_WHOLE_TRACE), 0);
	assert_int_equal(tscope_analysis_cell(a, steps, 0, TSCOPE_WHOLE_TRACE, 2, 0).kind,
			 TSCOPE_VALUE_ABSENT);
}

TEST(devices_are_told_by_index)
{
	struct analyzed *analyzed = analyze(two_steps());
	const struct tscope_analysis *a = analyzed->analysis;

	assert_ptr_equal(tscope_analysis_trace(a), analyzed->trace);
	assert_ptr_equal(tscope_analysis_timeline(a), analyzed->timeline);
	assert_int_equal(tscope_analysis_device_count(a), 2);
	assert_int_equal(tscope_analysis_device_ordinal(a, 1), 1);
	assert_int_equal(tscope_analysis_device_ordinal(a, 2), -1);
	assert_string_equal(tscope_analysis_device_name(a, 0), "");
	assert_string_equal(tscope_analysis_device_name(a, 9), "");
}

TEST(facts_are_found_by_id)
{
	struct analyzed *analyzed = analyze(two_steps());
	const struct tscope_analysis *a = analyzed->analysis;
	static const char *const unknown[] = { "steps.list", "step.count", "steps",
					       "",           "steps.",     "budget.phase" };
	struct tscope_value value;
	enum tscope_unit unit;

	assert_true(tscope_analysis_find(a, "steps.count", &value, &unit));
	assert_int_equal(value.kind, TSCOPE_VALUE_INT);
	assert_int_equal(value.integer, 2);
	assert_int_equal(unit, TSCOPE_UNIT_COUNT);
	assert_true(tscope_analysis_find(a, "budget.phase.forward_total_ns", &value, &unit));
	assert_int_equal(unit, TSCOPE_UNIT_NS);
	for (size_t i = 0; i < TSI_COUNT_OF(unknown); i++)
		assert_false(tscope_analysis_find(a, unknown[i], &value, &unit));
}

TEST(every_allocation_may_fail)
{
	struct analyzed *a = analyze(two_steps());

	sweep_trace(a->trace, a->timeline, NULL, 10);
}
