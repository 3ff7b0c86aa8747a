/* SPDX-License-Identifier: MIT */
/* What a trace holds, what is odd about it, and when its device times are in doubt. */
#include "analysis_check.h"

#include "check.h"
#include "model/trace/trace.h"

TEST(counts_and_categories)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	test_op(t, "aten::mm", 1, 200, 100);
	test_call(t, "cudaLaunchKernel", 1, 10, 10, 1);
	test_kernel(t, "k", 0, 7, 50, 300, 1);
	test_kernel(t, "k", 0, 7, 350, 100, 2);
	struct analyzed *a = analyze(t);

	check_facts(a, "integrity: verdict doubt event_count dropped_count span_count work_ns",
		    "sound - 5 0 5 450");
	check_facts(a, "integrity: device_event_count unlinked_count unlinked_device_ratio",
		    "2 1 0.25"); /* 100 of 400 ns */
	check_facts(a, "integrity: device_before_launch_count impossible_ns capture_ns", "0 0 -");
	check_facts(a, "integrity: python_frame_count", "0");
	check_table(a, "integrity.categories: phase category count",
		    "X cpu_op 2\nX kernel 2\nX cuda_runtime 1\n");
	check_table(a, "integrity.diagnostics: id effect count", "unlinked_device_event noted 1\n");
}

TEST(what_to_record_next_time)
{
	struct test_trace *t = test_trace_new();

	test_op(t, "aten::mm", 1, 0, 100);
	test_call(t, "cudaLaunchKernel", 1, 10, 10, 1);
	test_kernel(t, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args)", 0, 7, 50, 300, 1);
	struct analyzed *a = analyze(t);
	check_table(a, "integrity.missing: what",
		    "step markers\ninput shapes\nPython frames\nmemory events\n"
		    "synchronisation events\nmetadata of collectives\n");

	t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 0, 200);
	test_span_args(t, "cpu_op", "aten::mm", 1, 0, 100,
		       "{\"Input Dims\": [[2]], \"Input type\": [\"float\"]}");
	a = analyze(t);
	check_table(a, "integrity.missing: what advice",
		    "device activity profile(activities=[ProfilerActivity.CPU, "
		    "ProfilerActivity.CUDA])\n"
		    "Python frames profile(with_stack=True)\n"
		    "memory events profile(profile_memory=True)\n");

	t = test_trace_new();
	test_kernel(t, "k", 0, 7, 0, 10, 0);
	a = analyze(t);
	check_table(a, "integrity.missing: what", "operators\nlaunch calls\nstep markers\n");
}

TEST(other_writers_get_no_advice)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "my_category", "slice", 1, 0, 100);
	struct analyzed *a = analyze(t);
	check_table(a, "integrity.missing: what", "");
}

/* A graph launch whose kernels are not in the trace: what else is missing? */
TEST(lost_graph_replays_are_a_doubt)
{
	static const char doubt[] =
		"graph launches have no kernel in the trace: device work is missing";
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaGraphLaunch", 1, 0, 10, 1);
	test_call(t, "cudaGraphLaunch", 1, 100, 10, 2);
	test_kernel(t, "k", 0, 7, 50, 10, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "integrity: verdict empty_graph_launch_count", "doubtful 1");
	check_facts(a, "integrity: doubt", doubt);
	check_reliability(a, "device_busy", doubt);
	check_reliability(a, "overlap", doubt);
	check_reliability(a, "kernels", doubt);
	check_reliability(a, "spans", NULL);
}

TEST(lost_kernels_are_a_doubt_where_no_step_is_whole)
{
	static const char doubt[] = "launches have no kernel in the trace: device work is missing";
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaLaunchKernel", 1, 0, 10, 1);
	test_call(t, "cudaLaunchKernel", 1, 100, 10, 2);
	test_kernel(t, "k", 0, 7, 120, 10, 2);
	struct analyzed *a = analyze(t);
	check_facts(a, "integrity: verdict unrecorded_step_count", "doubtful 0");
	check_facts(a, "integrity: doubt", doubt);
	check_reliability(a, "device_busy", doubt);

	t = test_trace_new();
	test_annotation(t, "ProfilerStep#1", 1, 0, 100);
	test_annotation(t, "ProfilerStep#2", 1, 100, 100);
	test_call(t, "cudaLaunchKernel", 1, 0, 10, 1);
	test_call(t, "cudaLaunchKernel", 1, 100, 10, 2);
	test_kernel(t, "k", 0, 7, 120, 10, 2);
	a = analyze(t);
	check_facts(a, "integrity: verdict unrecorded_step_count", "sound 1");
	check_reliability(a, "device_busy", NULL);
}

/* A launch is of a device, so that the profiler lost all of what it did; a synchronisation is not. */
TEST(launches_without_any_device_activity)
{
	struct test_trace *t = test_trace_new();

	test_call(t, "cudaDeviceSynchronize", 1, 0, 5, 1);
	struct analyzed *a = analyze(t);
	check_facts(a, "integrity: verdict device_event_count doubt", "sound 0 -");

	t = test_trace_new();
	test_call(t, "cudaLaunchKernel", 1, 0, 5, 1);
	a = analyze(t);
	check_facts(a, "integrity: verdict device_event_count", "doubtful 0");
	check_facts(a, "integrity: doubt",
		    "work was launched, but no device activity was recorded");
}

/*
 * 20 parts of device time of which 1 was impossible are believed, a
 * nanosecond more is not. What the model clips is its own tests' business.
 */
TEST(impossible_time_is_a_doubt_above_5_percent)
{
	static const struct {
		int64_t impossible_ns;
		const char *doubt;
	} cases[] = {
		{ 0, NULL },
		{ 100, NULL }, /* 100 of 2000 */
		{ 101, "more than 5 % of the recorded device time was impossible and was removed" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		test_kernel(t, "k", 0, 7, 0, 1900, 0);
		struct analyzed *a = analyze(t);
		tscope_analysis_free(a->analysis);
		a->trace->impossible_ns = cases[i].impossible_ns;
		assert_int_equal(tscope_analyze(&a->analysis, a->trace, a->timeline, NULL, NULL),
				 TSCOPE_OK);
		check_reliability(a, "device_busy", cases[i].doubt);
	}
}
