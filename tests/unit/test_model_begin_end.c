/* SPDX-License-Identifier: MIT */
/* model/trace/begin_end.c: slices that come as two events. All times are in ns, as the model has them. */
#include "model/trace/trace.h"

#include "check.h"
#include "trace_builder.h"

/* One event of a case; dur is that of an X. The list ends at phase 0. */
struct step {
	char phase;
	const char *name;
	int64_t ts_ns, dur_ns;
};

enum { MAX_STEPS = 16 };

struct slice_case {
	const char *what;
	struct step steps[MAX_STEPS];
	const char *rows;
	uint64_t unmatched_ends, unmatched_begins;
};

static const struct slice_case cases[] = {
	{ "a slice in a slice",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 2, 0 }, { 'E', "b", 5, 0 }, { 'E', "a", 9, 0 } },
	  "1 other a 0 9\n1 other b 2 3\n",
	  0,
	  0 },
	{ "ends need no name",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 2, 0 }, { 'E', "", 5, 0 }, { 'E', "", 9, 0 } },
	  "1 other a 0 9\n1 other b 2 3\n",
	  0,
	  0 },
	{ "the last one is closed, whatever the names",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 1, 0 }, { 'E', "a", 9, 0 }, { 'E', "b", 10, 0 } },
	  "1 other a 0 10\n1 other b 1 8\n",
	  0,
	  0 },
	{ "a name that was never begun closes, too",
	  { { 'B', "a", 0, 0 }, { 'E', "b", 10, 0 } },
	  "1 other a 0 10\n",
	  0,
	  0 },
	{ "times, not the file, give the order",
	  { { 'B', "b", 1, 0 },
	    { 'E', "b", 9, 0 },
	    { 'B', "a", 0, 0 },
	    { 'E', "a", 10, 0 },
	    { 'B', "c", 2, 0 },
	    { 'E', "c", 8, 0 } },
	  "1 other a 0 10\n1 other b 1 8\n1 other c 2 6\n",
	  0,
	  0 },
	{ "ends may even come first",
	  { { 'E', "b", 9, 0 }, { 'E', "a", 10, 0 }, { 'B', "a", 0, 0 }, { 'B', "b", 1, 0 } },
	  "1 other a 0 10\n1 other b 1 8\n",
	  0,
	  0 },
	{ "at one time the file gives the order",
	  { { 'B', "a", 0, 0 },
	    { 'B', "b", 0, 0 },
	    { 'E', "b", 7, 0 },
	    { 'E', "a", 7, 0 },
	    { 'B', "c", 7, 0 },
	    { 'E', "c", 10, 0 } },
	  "1 other a 0 7\n1 other b 0 7\n1 other c 7 3\n",
	  0,
	  0 },
	{ "an empty slice the wrong way round",
	  { { 'B', "a", 0, 0 },
	    { 'B', "b", 1, 0 },
	    { 'E', "b", 1, 0 },
	    { 'E', "c", 2, 0 },
	    { 'B', "c", 2, 0 },
	    { 'X', "d", 3, 0 },
	    { 'E', "a", 10, 0 } },
	  "1 other a 0 10\n1 other b 1 0\n1 other c 2 0\n1 other d 3 0\n",
	  0,
	  0 },
	{ "one slice ends where the next of its name begins",
	  { { 'B', "a", 0, 0 }, { 'E', "a", 5, 0 }, { 'B', "a", 5, 0 }, { 'E', "a", 9, 0 } },
	  "1 other a 0 5\n1 other a 5 4\n",
	  0,
	  0 },
	{ "both forms in one thread: equal ones as in the file",
	  { { 'B', "a", 0, 0 },
	    { 'E', "a", 2, 0 },
	    { 'X', "b", 0, 2 },
	    { 'X', "c", 10, 2 },
	    { 'B', "d", 10, 0 },
	    { 'E', "d", 12, 0 } },
	  "1 other a 0 2\n1 other b 0 2\n1 other c 10 2\n1 other d 10 2\n",
	  0,
	  0 },
	{ "ends without begin",
	  { { 'E', "x", 0, 0 }, { 'B', "a", 1, 0 }, { 'E', "a", 2, 0 }, { 'E', "a", 3, 0 } },
	  "1 other a 1 1\n",
	  2,
	  0 },
	{ "what never ends lasts to the latest time",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 1, 0 }, { 'X', "c", 2, 5 } },
	  "1 other a 0 7\n1 other b 1 6\n1 other c 2 5\n",
	  0,
	  2 },
	{ "the latest time may be that of an end",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 1, 0 }, { 'E', "b", 30, 0 } },
	  "1 other a 0 30\n1 other b 1 29\n",
	  0,
	  1 },
	{ "only begins",
	  { { 'B', "a", 0, 0 }, { 'B', "b", 1, 0 }, { 'B', "c", 2, 0 } },
	  "1 other a 0 2\n1 other b 1 1\n1 other c 2 0\n",
	  0,
	  3 },
};

TEST(slices)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct test_trace *t = test_trace_new();
		for (const struct step *step = cases[i].steps; step->phase; step++) {
			if (step->phase == 'X')
				test_span(t, "", step->name, 1, step->ts_ns, step->dur_ns);
			else
				test_mark(t, step->phase, step->name, 1, step->ts_ns);
		}
		struct tscope_trace *trace = test_trace_finish(t);
		print_message("%s\n", cases[i].what);
		test_check_rows(trace, cases[i].rows);
		assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_end),
				 cases[i].unmatched_ends);
		assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_begin),
				 cases[i].unmatched_begins);
	}
}

TEST(threads_have_stacks_of_their_own)
{
	struct test_trace *t = test_trace_new();
	test_mark(t, 'B', "a", 1, 0);
	test_mark(t, 'B', "b", 2, 1);
	test_mark(t, 'E', "", 1, 2);
	test_mark(t, 'E', "", 2, 3);
	test_mark(t, 'B', "left open", 1, 4);
	test_mark(t, 'E', "", 2, 5);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 other a 0 2\n"
			       "1 other left open 4 1\n"
			       "2 other b 1 2\n");
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_end), 1);
	assert_int_equal(tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_unmatched_begin), 1);
}

/* Composer's spans and those of no category; a begin that brings its duration is complete. */
TEST(slices_have_the_class_of_their_name)
{
	struct test_trace *t = test_trace_new();
	test_mark(t, 'B', "event/forward", 1, 0);
	test_mark(t, 'E', "event/forward", 1, 5);
	test_event(t, &(struct raw_event){ .phase = 'B',
					   .has_ts = true,
					   .has_dur = true,
					   .ts_ns = 7,
					   .dur_ns = 2,
					   .name = TSI_STR("f"),
					   .cat = TSI_STR("FEE"),
					   .pid = TSI_STR("100"),
					   .tid = TSI_STR("1") });
	test_event(t, &(struct raw_event){ .phase = 'B',
					   .has_ts = true,
					   .ts_ns = 9,
					   .name = TSI_STR("k"),
					   .cat = TSI_STR("kernel"),
					   .pid = TSI_STR("100"),
					   .tid = TSI_STR("1") });
	test_mark(t, 'E', "k", 1, 10);
	struct tscope_trace *trace = test_trace_finish(t);
	test_check_rows(trace, "1 annotation event/forward 0 5\n"
			       "1 python f 7 2\n"
			       "1 other k 9 1\n");
}

enum { DEEP = 200000 };

TEST(deep_stacks_are_no_matter)
{
	struct test_trace *t = test_trace_new();
	for (int i = 0; i < DEEP; i++)
		test_mark(t, 'B', "a", 1, i);
	for (int i = 0; i < DEEP; i++)
		test_mark(t, 'E', "b", 1, DEEP + i);
	struct tscope_trace *trace = test_trace_finish(t);
	assert_int_equal(tsi_dur_ns(&trace->spans, 0), 2 * DEEP - 1);
	assert_int_equal(tsi_dur_ns(&trace->spans, DEEP - 1), 1);
}
