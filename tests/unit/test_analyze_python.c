/* SPDX-License-Identifier: MIT */
/* Python functions and pauses of the garbage collector. */
#include "analysis_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct test_trace *new_python_trace(void)
{
	return test_trace_new_with(&(struct builder_options){ .python = true });
}

static void own_and_whole_time(void **state)
{
	(void)state;
	struct test_trace *t = new_python_trace();

	test_span(t, "python_function", "train.py(1): main", 1, 0, 100);
	test_span(t, "python_function", "net.py(5): forward", 1, 10, 40);
	test_span(t, "python_function", "net.py(5): forward", 1, 20, 10); /* calls itself */
	test_op(t, "aten::mm", 1, 60, 30); /* an operator is no Python function */
	struct analyzed *a = analyze(t);
	check_facts(a, "python: call_count function_count self_ns gc_count gc_total_ns gc_max_ns",
		    "3 2 100 0 0 -");
	check_table(a, "python.by_name: name count self_ns total_ns mean_ns",
		    "train.py(1): main 1 60 100 100\nnet.py(5): forward 2 40 40 25\n");
	analyzed_free(a);
}

static void count_garbage(struct test_trace *t, int64_t at_ns, const char *args)
{
	test_event(t, &(struct raw_event){
			      .phase = 'C',
			      .has_ts = true,
			      .ts_ns = at_ns,
			      .name = TSI_STR("garbage collection"),
			      .pid = TSI_STR("100"),
			      .tid = TSI_STR("1"),
			      .args = { args, strlen(args) },
		      });
}

/* VizTracer counts 1 where a collection begins and 0 where it ends: 30 and 50 ns. */
static void pauses_of_the_garbage_collector(void **state)
{
	(void)state;
	struct test_trace *t = new_python_trace();

	test_span(t, "FEE", "main", 1, 0, 1000);
	count_garbage(t, 100, "{\"collecting\": 1}");
	count_garbage(t, 130, "{\"collecting\": 0}");
	count_garbage(t, 200, "{\"collecting\": 1}");
	count_garbage(t, 250, "{\"collecting\": 0}");
	struct analyzed *a = analyze(t);
	check_facts(a, "python: gc_count gc_total_ns gc_max_ns", "2 80 50");
	/* A pause is no function: it takes nothing from the one that it interrupts. */
	check_table(a, "python.by_name: name count self_ns", "main 1 1000\n");
	analyzed_free(a);
}

static void frames_that_were_not_kept(void **state)
{
	(void)state;
	struct test_trace *t = test_trace_new();

	test_span(t, "python_function", "train.py(1): main", 1, 0, 100);
	test_op(t, "aten::mm", 1, 60, 30);
	struct analyzed *a = analyze(t);
	check_facts(a, "python: call_count function_count self_ns", "0 0 0");
	check_table(a, "python.by_name: name", "");
	analyzed_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_and_whole_time),
		cmocka_unit_test(pauses_of_the_garbage_collector),
		cmocka_unit_test(frames_that_were_not_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
