/* SPDX-License-Identifier: MIT */
/* Nested spans made flat: by hand, and at random against looking at each instant. */
#include "timeline/flatten.h"

#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { SPANS = 12, CLOCK_NS = 64, ROUNDS = 3000 };

/* Segments of a thread: of each add at most one for every span and two. */
struct segments {
	struct flat_segment items[SPANS * (SPANS + 2)];
	size_t count;
};

static void take(void *data, struct flat_segment segment)
{
	struct segments *list = data;

	assert_true(segment.start_ns < segment.end_ns);
	assert_true(list->count < TSI_COUNT_OF(list->items));
	list->items[list->count++] = segment;
}

static struct segments flatten(const struct flat_segment *spans, size_t count)
{
	struct arena arena = { 0 };
	struct flattener flat = { .arena = &arena };
	struct segments list = { 0 };

	for (size_t i = 0; i < count; i++)
		tsi_flatten_add(&flat, spans[i], take, &list);
	tsi_flatten_end(&flat, take, &list);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	tsi_arena_deinit(&arena);
	return list;
}

TEST(the_innermost_span_has_the_instant)
{
	static const struct flat_segment spans[] = {
		{ 0, 100, 1 },   { 20, 60, 2 },   { 30, 40, 3 },
		{ 60, 70, 2 },   { 200, 210, 1 }, { 205, 220, 2 }, /* crosses its end */
		{ 300, 310, 1 }, { 310, 320, 1 },                  /* one label, two segments */
		{ 320, 320, 2 },                                   /* no time */
	};
	static const struct flat_segment expected[] = {
		{ 0, 20, 1 },   { 20, 30, 2 },   { 30, 40, 3 },   { 40, 60, 2 },   { 60, 70, 2 },
		{ 70, 100, 1 }, { 200, 205, 1 }, { 205, 220, 2 }, { 300, 310, 1 }, { 310, 320, 1 },
	};
	struct segments got = flatten(spans, TSI_COUNT_OF(spans));

	assert_int_equal(got.count, TSI_COUNT_OF(expected));
	for (size_t i = 0; i < got.count; i++) {
		assert_int_equal(got.items[i].start_ns, expected[i].start_ns);
		assert_int_equal(got.items[i].end_ns, expected[i].end_ns);
		assert_int_equal(got.items[i].label, expected[i].label);
	}
}

/* The label at an instant, 0 for none: that of the last span that covers it. */
static uint32_t label_at(const struct flat_segment *spans, size_t count, int64_t t_ns)
{
	uint32_t label = 0;

	for (size_t i = 0; i < count; i++)
		if (spans[i].start_ns <= t_ns && t_ns < spans[i].end_ns)
			label = spans[i].label;
	return label;
}

TEST(random_spans_agree_with_each_instant)
{
	uint64_t seed = 7;

	for (int round = 0; round < ROUNDS; round++) {
		struct flat_segment spans[SPANS];
		int64_t start_ns = 0;

		for (size_t i = 0; i < SPANS; i++) {
			start_ns += random_below(&seed, 6);
			spans[i].start_ns = start_ns;
			spans[i].end_ns = start_ns + random_below(&seed, 25);
			spans[i].label = 1 + random_below(&seed, 3);
		}
		struct segments got = flatten(spans, SPANS);
		for (int64_t t = 0; t < 2 * CLOCK_NS; t++)
			assert_int_equal(label_at(got.items, got.count, t),
					 label_at(spans, SPANS, t));
		for (size_t i = 1; i < got.count; i++)
			assert_true(got.items[i - 1].end_ns <= got.items[i].start_ns);
	}
}

static enum tscope_status flatten_two(struct tscope_error *err)
{
	struct arena arena = { 0 };
	struct flattener flat = { .arena = &arena };
	struct segments list = { 0 };

	tsi_flatten_add(&flat, (struct flat_segment){ 0, 10, 1 }, take, &list);
	tsi_flatten_add(&flat, (struct flat_segment){ 5, 7, 2 }, take, &list);
	tsi_flatten_end(&flat, take, &list);
	enum tscope_status status = tsi_arena_status(&arena, err);
	tsi_arena_deinit(&arena);
	return status;
}

TEST(every_allocation_may_fail)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, flatten_two(&sweep.err));
}
