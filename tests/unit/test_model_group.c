/* SPDX-License-Identifier: MIT */
/*
 * model/trace/group.c, place.c, merge_runs.c: rows come out as a plain sort puts them, and what stands
 * beside them goes with them, however many runs they came in and however many threads move them.
 */
#include "model/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "model/trace/builder.h"
#include "random_numbers.h"
#include "trace_builder.h"

struct item {
	int64_t tid, start_ns, dur_ns;
	uint32_t number; /* in the order of the file */
	bool is_call;    /* or else an operator */
};

struct scene {
	struct item *items;
	uint32_t count;
	uint32_t runs;
	bool has_lengths; /* spans that start together are of several lengths */
	bool has_far;     /* some start long after the one before, or last long */
	uint64_t seed;
};

#define FAR_NS INT64_C(6000000000) /* more than fits into the columns of times */

/* Runs of two threads by start; of operators, of calls, or of both. */
static void fill(struct scene *s)
{
	uint32_t per_run = s->count / s->runs + 1, what = 0;
	int64_t now = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		if (i % per_run == 0) {
			now = random_below(&s->seed, per_run);
			what = random_below(&s->seed, 3);
		}
		now += random_below(&s->seed, 3);
		if (s->has_far && random_below(&s->seed, 50) == 0)
			now += FAR_NS;
		s->items[i] = (struct item){
			.tid = i == 0 ? 1 : 1 + random_below(&s->seed, 2),
			.start_ns = now,
			.dur_ns = 5 + (s->has_lengths ? random_below(&s->seed, 3) : 0),
			.number = i,
			.is_call = what == 2 ? random_below(&s->seed, 2) : what,
		};
		if (s->has_far && random_below(&s->seed, 30) == 0)
			s->items[i].dur_ns += FAR_NS;
	}
}

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->dur_ns != b->dur_ns)
		return a->dur_ns > b->dur_ns ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static struct tscope_trace *build(const struct scene *s, unsigned thread_count)
{
	struct test_trace *t =
		test_trace_new_with(&(struct builder_options){ .thread_count = thread_count });
	char name[32];

	for (uint32_t i = 0; i < s->count; i++) {
		const struct item *item = &s->items[i];
		snprintf(name, sizeof(name), "%u", item->number);
		if (item->is_call)
			test_call(t, name, item->tid, item->start_ns, item->dur_ns, i + 1);
		else
			test_op(t, name, item->tid, item->start_ns, item->dur_ns);
	}
	for (uint32_t i = 0; i < s->count; i++) {
		snprintf(name, sizeof(name), "%u", i);
		if (s->items[i].is_call)
			test_kernel(t, name, 0, 7, s->items[i].start_ns + 10, 1, i + 1);
	}
	return test_trace_finish(t);
}

static void check_rows(struct scene *s, const struct tscope_trace *trace)
{
	qsort(s->items, s->count, sizeof(*s->items), compare);
	for (uint32_t row = 0; row < s->count; row++) {
		struct tscope_span span = tscope_trace_span(trace, row);
		assert_int_equal(span.start_ns, s->items[row].start_ns);
		assert_int_equal(span.dur_ns, s->items[row].dur_ns);
		assert_int_equal(strtoul(span.name, NULL, 10), s->items[row].number);
	}
	/* A kernel has the name of its call, which it knows by the correlation. */
	for (uint32_t row = s->count; row < trace->spans.count; row++) {
		struct tscope_span span = tscope_trace_span(trace, row);
		assert_int_not_equal(span.launch, NO_ROW);
		assert_string_equal(tscope_trace_span(trace, span.launch).name, span.name);
	}
}

static void check_scene(struct scene s, unsigned thread_count)
{
	s.items = calloc(s.count, sizeof(*s.items));
	assert_non_null(s.items);
	fill(&s);
	struct tscope_trace *trace = build(&s, thread_count);
	check_rows(&s, trace);
	free(s.items);
}

TEST(runs_of_all_kinds)
{
	for (uint32_t seed = 1; seed <= 200; seed++)
		check_scene((struct scene){ .count = 20 + 3 * seed,
					    .runs = 1 + seed % 20,
					    .has_lengths = seed % 4 == 0,
					    .has_far = seed % 3 == 0,
					    .seed = seed },
			    1);
}

TEST(many_runs)
{
	for (uint32_t seed = 1; seed <= 20; seed++)
		check_scene((struct scene){ .count = 1000 + 4000 * seed % 9000,
					    .runs = 15 * seed,
					    .has_lengths = seed % 4 == 0,
					    .has_far = seed % 3 == 0,
					    .seed = seed },
			    1);
}

TEST(many_rows_by_some_threads)
{
	for (unsigned thread_count = 1; thread_count <= 3; thread_count++)
		check_scene((struct scene){ .count = 60000, .runs = 4, .seed = 5 }, thread_count);
}
