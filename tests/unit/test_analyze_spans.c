/* SPDX-License-Identifier: MIT */
/* Annotations and slices by name. */
#include "analysis_check.h"

#include "check.h"

TEST(nested_annotations)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "outer", 1, 0, 100);
	test_annotation(t, "inner", 1, 10, 30);
	test_op(t, "aten::mm", 1, 50, 20); /* takes nothing from an annotation */
	test_span(t, "my_category", "inner", 1, 80, 5);
	test_annotation(t, "outer", 2, 0, 50);
	struct analyzed *a = analyze(t);
	check_facts(a, "spans: count name_count", "4 2");
	check_table(a, "spans.by_name: name count total_ns self_ns mean_ns",
		    "outer 2 150 115 75\ninner 2 35 35 18\n");
}

/* f [0, 100) calls itself [10, 60) and again [20, 30): its whole time is 100, not 160. */
TEST(recursion_is_not_counted_twice)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "f", 1, 0, 100);
	test_annotation(t, "f", 1, 10, 50);
	test_annotation(t, "g", 1, 15, 20);
	test_annotation(t, "f", 1, 20, 10);
	struct analyzed *a = analyze(t);
	check_table(a, "spans.by_name: name count total_ns self_ns", "f 3 100 90\ng 1 20 10\n");
}

TEST(step_markers_are_one_name)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#8", 1, 0, 100);
	test_annotation(t, "ProfilerStep#9", 1, 100, 150);
	test_annotation(t, "Optimizer.step#SGD.step", 1, 120, 10);
	struct analyzed *a = analyze(t);
	check_facts(a, "spans: count name_count", "3 2");
	check_table(a, "spans.by_name: name count total_ns self_ns",
		    "ProfilerStep#* 2 250 240\nOptimizer.step#SGD.step 1 10 10\n");
}

/* alpha [0, 10), beta [5, 15): each lasts 10, and 5 of alpha's are beta's. */
TEST(crossing_slices)
{
	struct test_trace *t = test_trace_new();

	test_span(t, "", "alpha", 1, 0, 10);
	test_span(t, "", "beta", 1, 5, 10);
	struct analyzed *a = analyze(t);
	check_table(a, "spans.by_name: name total_ns self_ns", "alpha 10 5\nbeta 10 10\n");
}

TEST(without_annotations)
{
	struct test_trace *t = test_trace_new();

	test_kernel(t, "k", 0, 7, 0, 100, 0);
	struct analyzed *a = analyze(t);
	check_facts(a, "spans: count name_count", "0 0");
	check_table(a, "spans.by_name: name", "");
}
