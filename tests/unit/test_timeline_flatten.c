/* SPDX-License-Identifier: MIT */
/* Nested spans made flat: by hand, and at random against looking at each instant. */
#include "timeline/flatten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fail_alloc.h"
#include "random_numbers.h"

static void assert_segments(const struct flattener *flat, const struct flat_segment *expected,
			    size_t count)
{
	assert_int_equal(flat->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(flat->segments[i].start_ns, expected[i].start_ns);
		assert_int_equal(flat->segments[i].end_ns, expected[i].end_ns);
		assert_int_equal(flat->segments[i].label, expected[i].label);
	}
}

static void flatten(struct flattener *flat, const struct flat_segment *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tsi_flatten_add(flat, spans[i].start_ns, spans[i].end_ns, spans[i].label);
	tsi_flatten_end(flat);
	assert_int_equal(tsi_arena_status(flat->arena, NULL), TSCOPE_OK);
}

static void the_innermost_span_has_the_instant(void **state)
{
	(void)state;
	static const struct flat_segment spans[] = {
		{ 0, 100, 1 },   { 20, 60, 2 },   { 30, 40, 3 },
		{ 60, 70, 2 },   { 200, 210, 1 }, { 205, 220, 2 }, /* crosses its end */
		{ 300, 310, 1 }, { 310, 320, 1 },                  /* one label: joined */
		{ 320, 320, 2 },                                   /* no time */
	};
	static const struct flat_segment expected[] = {
		{ 0, 20, 1 },   { 20, 30, 2 },   { 30, 40, 3 },   { 40, 70, 2 },
		{ 70, 100, 1 }, { 200, 205, 1 }, { 205, 220, 2 }, { 300, 320, 1 },
	};
	struct arena arena = { 0 };
	struct flattener flat = { .arena = &arena };

	flatten(&flat, spans, TSI_COUNT_OF(spans));
	assert_segments(&flat, expected, TSI_COUNT_OF(expected));
	tsi_arena_deinit(&arena);
}

static void threads_are_not_joined(void **state)
{
	(void)state;
	static const struct flat_segment first[] = { { 10, 20, 1 } }, second[] = { { 20, 30, 1 } };
	static const struct flat_segment expected[] = { { 10, 20, 1 }, { 20, 30, 1 } };
	struct arena arena = { 0 };
	struct flattener flat = { .arena = &arena };

	flatten(&flat, first, 1);
	flatten(&flat, second, 1);
	assert_segments(&flat, expected, 2);
	assert_int_equal(flat.first, 2);
	tsi_arena_deinit(&arena);
}

enum { SPANS = 12, CLOCK_NS = 64, ROUNDS = 3000 };

/* The label at an instant, 0 for none: that of the last span that covers it. */
static uint32_t label_at(const struct flat_segment *spans, size_t count, int64_t t_ns)
{
	uint32_t label = 0;

	for (size_t i = 0; i < count; i++)
		if (spans[i].start_ns <= t_ns && t_ns < spans[i].end_ns)
			label = spans[i].label;
	return label;
}

static void random_spans_agree_with_each_instant(void **state)
{
	(void)state;
	uint64_t seed = 7;

	for (int round = 0; round < ROUNDS; round++) {
		struct flat_segment spans[SPANS];
		struct arena arena = { 0 };
		struct flattener flat = { .arena = &arena };
		int64_t start_ns = 0;

		for (size_t i = 0; i < SPANS; i++) {
			start_ns += random_below(&seed, 6);
			spans[i].start_ns = start_ns;
			spans[i].end_ns = start_ns + random_below(&seed, 25);
			spans[i].label = 1 + random_below(&seed, 3);
		}
		flatten(&flat, spans, SPANS);
		for (int64_t t = 0; t < 2 * CLOCK_NS; t++)
			assert_int_equal(label_at(flat.segments, flat.count, t),
					 label_at(spans, SPANS, t));
		for (size_t i = 1; i < flat.count; i++)
			assert_true(flat.segments[i - 1].end_ns <= flat.segments[i].start_ns);
		tsi_arena_deinit(&arena);
	}
}

static enum tscope_status flatten_two(struct tscope_error *err)
{
	struct arena arena = { 0 };
	struct flattener flat = { .arena = &arena };

	tsi_flatten_add(&flat, 0, 10, 1);
	tsi_flatten_add(&flat, 5, 7, 2);
	tsi_flatten_end(&flat);
	enum tscope_status status = tsi_arena_status(&arena, err);
	tsi_arena_deinit(&arena);
	return status;
}

static void every_allocation_may_fail(void **state)
{
	(void)state;
	struct tscope_error err = { 0 };
	size_t n = 1;

	for (;; n++) {
		fail_alloc_at(n);
		enum tscope_status status = flatten_two(&err);
		if (!fail_alloc_stop())
			break;
		assert_int_equal(status, TSCOPE_E_NOMEM);
		assert_string_equal(err.message, "out of memory");
	}
	assert_true(n > 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_span_has_the_instant),
		cmocka_unit_test(threads_are_not_joined),
		cmocka_unit_test(random_spans_agree_with_each_instant),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
