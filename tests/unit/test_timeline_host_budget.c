/* SPDX-License-Identifier: MIT */
/*
 * The budget of a trace without devices: each rule by hand, then random traces
 * against a second implementation that looks at every single nanosecond.
 */
#include "timeline/timeline.h"

#include <string.h>

#include "check.h"
#include "memory_sweep.h"
#include "piece_check.h"
#include "random_numbers.h"
#include "test_kept.h"
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

TEST(each_instant_has_its_line)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct tscope_trace *trace = trace_of(&cases[i]);
		struct tscope_timeline *timeline = test_timeline(trace, NULL);
		assert_lines(timeline, 0, cases[i].line_ns, cases[i].what);
	}
}

TEST(communication_is_cut_at_the_steps)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_annotation(t, "ProfilerStep#2", MAIN, 100, 100);
	test_annotation(t, SGD, MAIN, 40, 50);
	test_annotation(t, ALL_REDUCE, GLOO, 60, 90);

	/* [60,100) and [100,150) */
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	assert_lines(timeline, 0, (int64_t[]){ 0, 0, 0, 20, 40, 40 }, "cut");
	assert_lines(timeline, 1, (int64_t[]){ 0, 0, 0, 0, 50, 50 }, "cut");
}

TEST(there_are_no_lines_of_devices)
{
	struct tscope_trace *trace = trace_of(&cases[0]);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);

	assert_null(timeline->budgets);
	assert_int_equal(tscope_timeline_budget(timeline, 0, 0, TSCOPE_BUDGET_COMPUTE), 0);
}

/* Two threads that train, of which each has a backward thread, and one that only helps. */
TEST(several_workers_have_no_budget)
{
	enum { OTHER = 5 };

	for (int worker_count = 1; worker_count <= 2; worker_count++) {
		struct test_trace *t = test_trace_new();
		test_annotation(t, DDP, MAIN, 0, 40);
		test_annotation(t, BACKWARD_PHASE, MAIN, 40, 60);
		test_annotation(t, BACKWARD_PHASE, GLOO, 40, 50);
		test_op(t, ENGINE, BACKWARD, 50, 40); /* recomputes what checkpointing left out */
		test_annotation(t, DDP, BACKWARD, 60, 20);
		if (worker_count > 1) {
			test_annotation(t, DDP, OTHER, 20, 40);
			test_annotation(t, BACKWARD_PHASE, OTHER, 60, 60);
		}
		struct tscope_trace *trace = test_trace_finish(t);
		struct tscope_timeline *timeline = test_timeline(trace, NULL);
		assert_int_equal(tsi_timeline_has_several_workers(timeline), worker_count > 1);
		assert_int_equal(timeline->step_count, 1);
		if (worker_count > 1) {
			assert_null(timeline->host_budgets);
			assert_null(timeline->pieces);
		} else {
			assert_lines(timeline, 0, (int64_t[]){ 0, 40, 60, 0, 0, 0 }, "one");
		}
	}
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
	uint32_t row;        /* which makes it so, or the operator in there */
	bool computes;       /* it is in an operator */
	/* What other threads are in: the first to start, or NO_ROW. */
	uint32_t backward, comm;
};

/* What began while the thread waited for data, or communicated, is no part of its own. */
static void look_at_main(struct instant *now, const struct tscope_trace *trace,
			 const struct track *track, int64_t t_ns)
{
	int64_t named_until_ns = INT64_MIN, whole_until_ns = INT64_MIN;

	now->line = HOST_OTHER;
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);
		bool is_operator = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP;
		enum host_line line = line_of_name(tsi_span_name(trace, row));

		if (line != HOST_OTHER && end_ns > named_until_ns)
			named_until_ns = end_ns;
		if ((line == HOST_DATA || line == HOST_COMM) && end_ns > whole_until_ns)
			whole_until_ns = end_ns;
		if (line == HOST_OTHER && is_operator && named_until_ns <= start_ns)
			line = HOST_FORWARD;
		if (t_ns < start_ns || t_ns >= end_ns)
			continue;
		now->computes = now->computes || is_operator;
		if (line != HOST_OTHER)
			now->line = line; /* the last to start is innermost */
		if (line != HOST_OTHER || (is_operator && whole_until_ns <= start_ns))
			now->row = row;
	}
	if (now->line == HOST_OTHER)
		now->row = NO_ROW;
}

static uint32_t earlier(const struct tscope_trace *trace, uint32_t a, uint32_t b)
{
	if (a == NO_ROW || tsi_start_ns(&trace->spans, b) < tsi_start_ns(&trace->spans, a))
		return b;
	return a;
}

static void look_at_other(struct instant *now, const struct tscope_trace *trace,
			  const struct track *track, int64_t t_ns)
{
	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		enum host_line line = line_of_name(tsi_span_name(trace, row));
		if (t_ns < tsi_start_ns(&trace->spans, row) || t_ns >= tsi_span_end(trace, row))
			continue;
		if (line == HOST_BACKWARD)
			now->backward = earlier(trace, now->backward, row);
		if (line == HOST_COMM)
			now->comm = earlier(trace, now->comm, row);
	}
}

static struct instant instant_at(const struct tscope_timeline *timeline, int64_t t_ns)
{
	const struct tscope_trace *trace = timeline->trace;
	struct instant now = { .row = NO_ROW, .backward = NO_ROW, .comm = NO_ROW };

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		if (i == timeline->main_track)
			look_at_main(&now, trace, &trace->tracks[i], t_ns);
		else
			look_at_other(&now, trace, &trace->tracks[i], t_ns);
	}
	if (now.line == HOST_DATA || now.line == HOST_COMM)
		return now;
	if (now.comm != NO_ROW && !now.computes && now.backward == NO_ROW)
		return (struct instant){ .line = HOST_COMM, .row = now.comm };
	if (now.line == HOST_OTHER && now.backward != NO_ROW)
		return (struct instant){ .line = HOST_BACKWARD, .row = now.backward };
	return now;
}

/* What the names have of the lines, in the steps that count; by the name's id, "" is nobody. */
enum { NAMES = 64 };

struct shares {
	int64_t ns[HOST_LINE_COUNT][NAMES];
};

static void add_share(struct shares *shares, const struct tscope_trace *trace, unsigned line,
		      uint32_t row, int64_t ns)
{
	uint32_t name = row == NO_ROW ? 0 : tsi_name_id(&trace->spans, row);

	assert_true(name < NAMES);
	shares->ns[line][name] += ns;
}

static void assert_parts(const struct tscope_timeline *timeline, const struct shares *expected)
{
	struct shares found = { 0 };

	for (unsigned line = 0; line < HOST_LINE_COUNT; line++) {
		const struct line_parts *parts = &timeline->parts[line];
		for (size_t i = 0; i < parts->count; i++) {
			assert_true(parts->items[i].ns > 0);
			add_share(&found, timeline->trace, line, parts->items[i].row,
				  parts->items[i].ns);
		}
	}
	assert_memory_equal(&found, expected, sizeof(found));
}

/* Pieces are there where there is communication; they hold the steps and nothing else. */
static void assert_pieces(const struct tscope_timeline *timeline)
{
	int64_t wall_ns = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		wall_ns += timeline->steps[i].wall_ns;
	assert_non_null(timeline->pieces);
	assert_pieces_are_in_order(timeline->pieces);
	assert_int_equal(length_of_pieces(timeline->pieces), wall_ns);
}

TEST(without_communication_nobody_wants_the_pieces)
{
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 0, 100);
	test_op(t, "aten::mm", MAIN, 10, 50);
	struct tscope_trace *trace = test_trace_finish(t);
	struct tscope_timeline *timeline = test_timeline(trace, NULL);
	assert_null(timeline->pieces);
}

static struct tscope_trace *random_trace(uint64_t *seed)
{
	static const char *const annotations[] = { LOADER,    DDP,        BACKWARD_PHASE,
						   ZERO_GRAD, ALL_REDUCE, "evaluate" };
	static const char *const operators[] = { "aten::mm", "aten::add", ENGINE };
	struct test_trace *t = test_trace_new();

	test_annotation(t, "ProfilerStep#1", MAIN, 1, 200);
	test_annotation(t, "ProfilerStep#2", MAIN, 201, 150);
	for (int i = 0; i < 10; i++) {
		int64_t start_ns = 1 + random_below(seed, 350);
		test_annotation(t, annotations[random_below(seed, TSI_COUNT_OF(annotations))],
				MAIN + random_below(seed, 2), start_ns, random_below(seed, 80));
		start_ns = 1 + random_below(seed, 350);
		test_op(t, operators[random_below(seed, TSI_COUNT_OF(operators))], MAIN, start_ns,
			random_below(seed, 30));
	}
	for (int i = 0; i < 4; i++) {
		test_op(t, ENGINE, BACKWARD, 1 + random_below(seed, 350), random_below(seed, 40));
		test_annotation(t, ALL_REDUCE, GLOO + random_below(seed, 2),
				1 + random_below(seed, 350), random_below(seed, 100));
	}
	return test_trace_finish(t);
}

TEST(random_traces_agree_with_every_instant)
{
	enum { ROUNDS = 400 };
	uint64_t seed = 5;

	for (int round = 0; round < ROUNDS; round++) {
		const struct tscope_timeline_options options = { .warmup = round % 2 };
		struct tscope_trace *trace = random_trace(&seed);
		struct tscope_timeline *timeline = test_timeline(trace, &options);
		struct shares shares = { 0 };
		assert_int_equal(timeline->step_count, 2);
		for (uint32_t i = 0; i < timeline->step_count; i++) {
			const struct tscope_step *step = &timeline->steps[i];
			int64_t line_ns[HOST_LINE_COUNT] = { 0 };
			for (int64_t t = step->start_ns; t < step->start_ns + step->wall_ns; t++) {
				struct instant now = instant_at(timeline, t);
				line_ns[now.line]++;
				assert_int_equal(piece_at(timeline->pieces, t)->line, now.line);
				if (step->mark == TSCOPE_STEP_COUNTED)
					add_share(&shares, trace, now.line, now.row, 1);
			}
			assert_lines(timeline, i, line_ns, "random");
		}
		assert_parts(timeline, &shares);
		assert_pieces(timeline);
		test_release_kept();
	}
}

TEST(every_allocation_may_fail)
{
	uint64_t seed = 11;
	struct tscope_trace *trace = random_trace(&seed);

	sweep_timeline(trace, 4);
}
