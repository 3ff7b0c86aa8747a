/* SPDX-License-Identifier: MIT */
/*
 * The budget of a trace without devices: each rule by hand, then random traces
 * against a second implementation that looks at every single nanosecond.
 */
#include "timeline/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fail_alloc.h"
#include "trace_builder.h"

enum { MAIN = 1, BACKWARD = 2, GLOO = 3, GLOO2 = 4 }; /* thread ids */
enum { SPANS = 8 };

#define OP "cpu_op"
#define ANNOTATION "user_annotation"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define ENGINE "autograd::engine::evaluate_function: MmBackward0"
#define SGD "Optimizer.step#SGD.step"
#define DDP "DistributedDataParallel.forward"
#define BACKWARD_PHASE "## backward ##"
#define ALL_REDUCE "gloo:all_reduce"
#define ZERO_GRAD "Optimizer.zero_grad#SGD.zero_grad" /* marks no step, unlike SGD */

struct span {
	const char *category, *name;
	int64_t tid, start_ns, dur_ns;
};

struct host_case {
	const char *what;
	struct span spans[SPANS]; /* within ProfilerStep#1 [0,1000) */
	int64_t line_ns[HOST_LINE_COUNT];
};

static const struct host_case cases[] = {
	{
		"what the main thread is in, innermost first",
		{
			{ ANNOTATION, LOADER, MAIN, 0, 100 },
			{ OP, "aten::stack", MAIN, 20, 30 },       /* within the loader: data */
			{ OP, "aten::mm", MAIN, 100, 100 },        /* within nothing: forward */
			{ ANNOTATION, ALL_REDUCE, MAIN, 110, 20 }, /* in the operator */
			{ OP, ENGINE, MAIN, 300, 50 },
			{ OP, "aten::mm", MAIN, 310, 10 },
			{ ANNOTATION, SGD, MAIN, 500, 80 },
			{ OP, "aten::add_", MAIN, 510, 20 },
		},
		/* forward [100,200) less 20; 1000 - 100 - 80 - 50 - 80 - 20 */
		{ 100, 80, 50, 80, 20, 670 },
	},
	{
		"the main thread waits for backward threads where it is in nothing",
		{
			{ OP, ENGINE, BACKWARD, 340, 5 },
			{ OP, "aten::mm", MAIN, 300, 50 }, /* hides [340,345) */
			{ OP, ENGINE, BACKWARD, 400, 130 },
			{ ANNOTATION, SGD, MAIN, 500, 80 }, /* leaves [400,500) */
		},
		{ 0, 50, 100, 80, 0, 770 },
	},
	{
		"in a phase it waits for communication where it is in no operator",
		{
			{ ANNOTATION, BACKWARD_PHASE, MAIN, 100, 400 },
			{ OP, ENGINE, MAIN, 150, 100 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 200, 200 },
		},
		/* comm [250,400); backward [100,250) and [400,500) */
		{ 0, 0, 250, 0, 150, 600 },
	},
	{
		"so in each phase, and between them",
		{
			{ ANNOTATION, SGD, MAIN, 0, 100 },
			{ ANNOTATION, DDP, MAIN, 200, 100 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 50, 200 },
		},
		/* optimizer [0,50), comm [50,250), forward [250,300) */
		{ 0, 50, 0, 50, 200, 700 },
	},
	{
		"also in an annotation that tells nothing",
		{
			{ ANNOTATION, "evaluate", MAIN, 0, 300 },
			{ OP, "aten::mm", MAIN, 0, 50 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 20, 200 },
		},
		/* forward [0,50), comm [50,220) */
		{ 0, 50, 0, 0, 170, 780 },
	},
	{
		"a wait for data stays one",
		{
			{ ANNOTATION, LOADER, MAIN, 100, 200 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 200, 200 },
		},
		{ 200, 0, 0, 0, 100, 700 },
	},
	{
		"work of a backward thread hides communication",
		{
			{ ANNOTATION, BACKWARD_PHASE, MAIN, 0, 100 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 0, 200 },
			{ OP, ENGINE, BACKWARD, 50, 100 },
		},
		/* comm [0,50) and [150,200), backward [50,150) */
		{ 0, 0, 100, 0, 100, 800 },
	},
	{
		"communication of several threads counts once",
		{
			{ ANNOTATION, ALL_REDUCE, MAIN, 100, 100 },
			{ ANNOTATION, ALL_REDUCE, GLOO2, 150, 150 },
			{ ANNOTATION, ALL_REDUCE, GLOO, 180, 140 },
		},
		/* [100,320) */
		{ 0, 0, 0, 0, 220, 780 },
	},
};

static struct tscope_trace *trace_of(const struct host_case *c)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 1000);
	for (const struct span *span = c->spans; span < c->spans + SPANS && span->name; span++)
		test_span(t, span->category, span->name, span->tid, span->start_ns, span->dur_ns);
	return test_trace_finish(t);
}

static struct tscope_timeline *build(const struct tscope_trace *trace)
{
	struct tscope_timeline *timeline;

	assert_int_equal(tscope_timeline_build(&timeline, trace, NULL, NULL), TSCOPE_OK);
	return timeline;
}

static void assert_lines(const struct tscope_timeline *timeline, uint32_t step,
			 const int64_t *line_ns, const char *what)
{
	for (int line = 0; line < HOST_LINE_COUNT; line++)
		if (timeline->host_budgets[step].line_ns[line] != line_ns[line])
			fail_msg("%s: step %d, %s is %lld, not %lld", what, (int)step,
				 tsi_host_line_name((enum host_line)line),
				 (long long)timeline->host_budgets[step].line_ns[line],
				 (long long)line_ns[line]);
}

static void each_instant_has_its_line(void **state)
{
	(void)state;

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = trace_of(&cases[i]);
		struct tscope_timeline *timeline = build(trace);
		assert_lines(timeline, 0, cases[i].line_ns, cases[i].what);
		tscope_timeline_free(timeline);
		tscope_trace_free(trace);
	}
}

static void communication_is_cut_at_the_steps(void **state)
{
	(void)state;
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, SGD, MAIN, 40, 50);
	test_annotation(t, ALL_REDUCE, GLOO, 60, 90);

	/* [60,100) and [100,150) */
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = build(trace);
	assert_lines(timeline, 0, (int64_t[]){ 0, 0, 0, 20, 40, 40 }, "cut");
	assert_lines(timeline, 1, (int64_t[]){ 0, 0, 0, 0, 50, 50 }, "cut");
	tscope_timeline_free(timeline);
	tscope_trace_free(trace);
}

static void there_are_no_lines_of_devices(void **state)
{
	(void)state;
	struct tscope_trace *trace = trace_of(&cases[0]);
	struct tscope_timeline *timeline = build(trace);

	assert_null(timeline->budgets);
	assert_int_equal(tscope_timeline_budget(timeline, 0, 0, TSCOPE_BUDGET_COMPUTE), 0);
	tscope_timeline_free(timeline);
	tscope_trace_free(trace);
}

/* The second implementation: definitions only, one instant after the other. */

static enum host_line line_of_name(struct str name)
{
	static const struct {
		const char *name;
		enum host_line line;
	} lines[] = {
		{ LOADER, HOST_DATA },         { DDP, HOST_FORWARD },
		{ ENGINE, HOST_BACKWARD },     { BACKWARD_PHASE, HOST_BACKWARD },
		{ ZERO_GRAD, HOST_OPTIMIZER }, { ALL_REDUCE, HOST_COMM },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++)
		if (tsi_str_equal(name, (struct str){ lines[i].name, strlen(lines[i].name) }))
			return lines[i].line;
	return HOST_OTHER;
}

struct instant {
	enum host_line line; /* what the main thread is in */
	bool computes;       /* it is in an operator */
	bool backward, comm; /* other threads are */
};

static void look_at_main(struct instant *now, const struct tscope_trace *trace,
			 const struct track *track, int64_t t_ns)
{
	int64_t named_until_ns = INT64_MIN;

	now->line = HOST_OTHER;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = trace->spans.start_ns[row], end_ns = tsi_span_end(trace, row);
		bool is_operator = trace->spans.span_class[row] == TSCOPE_SPAN_CPU_OP;
		enum host_line line = line_of_name(tsi_span_name(trace, row));

		if (line != HOST_OTHER && end_ns > named_until_ns)
			named_until_ns = end_ns;
		if (line == HOST_OTHER && is_operator && named_until_ns <= start_ns)
			line = HOST_FORWARD;
		if (t_ns < start_ns || t_ns >= end_ns)
			continue;
		now->computes = now->computes || is_operator;
		if (line != HOST_OTHER)
			now->line = line; /* the last to start is innermost */
	}
}

static void look_at_other(struct instant *now, const struct tscope_trace *trace,
			  const struct track *track, int64_t t_ns)
{
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		enum host_line line = line_of_name(tsi_span_name(trace, row));
		if (t_ns < trace->spans.start_ns[row] || t_ns >= tsi_span_end(trace, row))
			continue;
		now->backward = now->backward || line == HOST_BACKWARD;
		now->comm = now->comm || line == HOST_COMM;
	}
}

static enum host_line line_at(const struct tscope_timeline *timeline, int64_t t_ns)
{
	const struct tscope_trace *trace = timeline->trace;
	struct instant now = { 0 };

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		if (i == timeline->main_track)
			look_at_main(&now, trace, &trace->tracks[i], t_ns);
		else
			look_at_other(&now, trace, &trace->tracks[i], t_ns);
	}
	if (now.line == HOST_DATA)
		return HOST_DATA;
	if (now.comm && !now.computes && !now.backward)
		return HOST_COMM;
	return now.line == HOST_OTHER && now.backward ? HOST_BACKWARD : now.line;
}

static int64_t random_below(uint32_t *seed, uint32_t limit)
{
	*seed = *seed * 1664525U + 1013904223U;
	return (*seed >> 8) % limit;
}

static struct tscope_trace *random_trace(uint32_t *seed)
{
	static const char *const annotations[] = { LOADER,    DDP,        BACKWARD_PHASE,
						   ZERO_GRAD, ALL_REDUCE, "evaluate" };
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 1, 200);
	test_annotation(t, "ProfilerStep#2", MAIN, 201, 150);
	for (int i = 0; i < 10; i++) {
		int64_t start_ns = 1 + random_below(seed, 350);
		test_annotation(t, annotations[random_below(seed, TSI_COUNT_OF(annotations))],
				MAIN + random_below(seed, 2), start_ns, random_below(seed, 80));
		start_ns = 1 + random_below(seed, 350);
		test_op(t, random_below(seed, 3) ? "aten::mm" : ENGINE, MAIN, start_ns,
			random_below(seed, 30));
	}
	for (int i = 0; i < 4; i++) {
		test_op(t, ENGINE, BACKWARD, 1 + random_below(seed, 350), random_below(seed, 40));
		test_annotation(t, ALL_REDUCE, GLOO + random_below(seed, 2),
				1 + random_below(seed, 350), random_below(seed, 100));
	}
	return test_trace_finish(t);
}

static void random_traces_agree_with_every_instant(void **state)
{
	enum { ROUNDS = 400 };
	uint32_t seed = 5;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct tscope_trace *trace = random_trace(&seed);
		struct tscope_timeline *timeline = build(trace);
		assert_int_equal(timeline->step_count, 2);
		for (uint32_t i = 0; i < timeline->step_count; i++) {
			const struct tscope_step *step = &timeline->steps[i];
			int64_t line_ns[HOST_LINE_COUNT] = { 0 };
			for (int64_t t = step->start_ns; t < step->start_ns + step->wall_ns; t++)
				line_ns[line_at(timeline, t)]++;
			assert_lines(timeline, i, line_ns, "random");
		}
		tscope_timeline_free(timeline);
		tscope_trace_free(trace);
	}
}

static void every_allocation_may_fail(void **state)
{
	struct tscope_timeline *timeline = NULL;
	struct tscope_error err = { 0 };
	uint32_t seed = 11;
	struct tscope_trace *trace = random_trace(&seed);
	size_t n = 1;

	(void)state;
	for (;; n++) {
		fail_alloc_at(n);
		enum tscope_status status = tscope_timeline_build(&timeline, trace, NULL, &err);
		if (!fail_alloc_stop())
			break;
		assert_int_equal(status, TSCOPE_E_NOMEM);
		assert_string_equal(err.message, "out of memory");
	}
	assert_true(n > 16);
	tscope_timeline_free(timeline);
	tscope_trace_free(trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_instant_has_its_line),
		cmocka_unit_test(communication_is_cut_at_the_steps),
		cmocka_unit_test(there_are_no_lines_of_devices),
		cmocka_unit_test(random_traces_agree_with_every_instant),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
