/* SPDX-License-Identifier: MIT */
/* Interval sets: small cases worked out by hand, then random ones against a bitmap. */
#include "timeline/interval.h"

#include <stdbool.h>
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

#define SET(...)                                                                                   \
	((struct interval_set){                                                                    \
		.items = (struct interval[]){ __VA_ARGS__ },                                       \
		.count = sizeof((struct interval[]){ __VA_ARGS__ }) / sizeof(struct interval),     \
	})

static struct arena arena; /* of the sets of one test */

static void assert_same(const struct interval_set *set, const struct interval_set *expected)
{
	assert_int_equal(set->count, expected->count);
	for (size_t i = 0; i < set->count; i++) {
		assert_int_equal(set->items[i].start_ns, expected->items[i].start_ns);
		assert_int_equal(set->items[i].end_ns, expected->items[i].end_ns);
	}
}

TEST(append_joins_what_overlaps_or_touches)
{
	struct interval_set set = { 0 };
	static const struct interval added[] = {
		{ -5, -5 },           /* empty: vanishes */
		{ 0, 10 },  { 2, 5 }, /* within */
		{ 5, 12 },            /* overlaps */
		{ 12, 14 },           /* touches */
		{ 15, 16 },           /* apart by 1 ns */
		{ 16, 9 },            /* ends before it starts: vanishes */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(added); i++)
		tsi_intervals_append(&set, added[i].start_ns, added[i].end_ns, &arena);
	assert_same(&set, &SET({ 0, 14 }, { 15, 16 }));
	assert_int_equal(tsi_intervals_length(&set), 15);
	tsi_arena_deinit(&arena);
}

TEST(common_is_the_length_of_the_intersection)
{
	struct interval_set none = { 0 }, a = SET({ 0, 10 }, { 20, 30 }, { 40, 50 });
	/* [5,10) 5 + [20,25) 5 + [45,46) 1 = 11 */
	struct interval_set b = SET({ 5, 25 }, { 30, 40 }, { 45, 46 });

	assert_int_equal(tsi_intervals_common(&a, &b), 11);
	assert_int_equal(tsi_intervals_common(&b, &a), 11);
	assert_int_equal(tsi_intervals_common(&a, &a), 30);
	assert_int_equal(tsi_intervals_common(&a, &none), 0);
}

TEST(within_counts_what_lies_in_a_window)
{
	struct interval_set set = SET({ 0, 10 }, { 20, 30 }, { 40, 50 });
	static const struct {
		int64_t start_ns, end_ns, within_ns;
	} cases[] = {
		{ -10, 100, 30 }, { 5, 25, 10 }, { 10, 20, 0 }, { 21, 22, 1 },
		{ 50, 60, 0 },    { 0, 0, 0 },   { 49, 51, 1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_intervals_within(&set, cases[i].start_ns, cases[i].end_ns),
				 cases[i].within_ns);
}

TEST(union_and_difference)
{
	struct interval_set out = { 0 }, none = { 0 };
	struct interval_set a = SET({ 0, 10 }, { 20, 30 }, { 40, 50 });
	struct interval_set b = SET({ 5, 22 }, { 24, 26 }, { 28, 44 });

	tsi_intervals_union(&out, &a, &b, &arena);
	assert_same(&out, &SET({ 0, 50 }));
	tsi_intervals_subtract(&out, &a, &b, &arena);
	assert_same(&out, &SET({ 0, 5 }, { 22, 24 }, { 26, 28 }, { 44, 50 }));
	tsi_intervals_subtract(&out, &b, &a, &arena);
	assert_same(&out, &SET({ 10, 20 }, { 30, 40 }));
	tsi_intervals_subtract(&out, &a, &none, &arena);
	assert_same(&out, &a);
	tsi_intervals_subtract(&out, &a, &a, &arena);
	assert_int_equal(out.count, 0);
	tsi_intervals_union(&out, &none, &b, &arena);
	assert_same(&out, &b);
	tsi_arena_deinit(&arena);
}

/* One bit for each of 128 ns. */
enum { CLOCK_NS = 128, ROUNDS = 2000 };

TEST(pieces_take_what_they_share_with_a_set)
{
	struct interval_set set = SET({ 0, 10 }, { 20, 30 }, { 40, 50 });
	struct interval_cursor cursor = { .set = &set };
	/* In order; empty ones, and one that ends before it starts, share nothing. */
	static const struct interval pieces[] = {
		{ -9, -1 }, { -1, 4 },  { 4, 4 },   { 4, 25 },  { 25, 26 },
		{ 26, 20 }, { 30, 40 }, { 41, 60 }, { 60, 70 },
	};
	struct interval_set shared = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(pieces); i++) {
		struct interval piece = pieces[i], part;
		while (tsi_intervals_next(&cursor, &piece, &part)) {
			assert_true(part.start_ns >= pieces[i].start_ns);
			assert_true(part.end_ns <= pieces[i].end_ns);
			tsi_intervals_append(&shared, part.start_ns, part.end_ns, &arena);
		}
	}
	assert_same(&shared, &SET({ 0, 10 }, { 20, 26 }, { 41, 50 }));
	tsi_arena_deinit(&arena);
}

static void fill_randomly(struct interval_set *set, bool *bits, uint64_t *seed)
{
	memset(bits, 0, CLOCK_NS * sizeof(*bits));
	set->count = 0;
	for (uint32_t start = 0; start < CLOCK_NS; start += random_below(seed, 20)) {
		uint32_t end = start + random_below(seed, 15);
		if (end > CLOCK_NS)
			end = CLOCK_NS;
		tsi_intervals_append(set, start, end, &arena);
		for (uint32_t t = start; t < end; t++)
			bits[t] = true;
		start++;
	}
}

static void assert_covers(const struct interval_set *set, const bool *bits)
{
	for (size_t i = 0; i < set->count; i++) {
		assert_true(set->items[i].start_ns < set->items[i].end_ns);
		assert_true(i == 0 || set->items[i - 1].end_ns < set->items[i].start_ns);
	}
	for (int64_t t = 0; t < CLOCK_NS; t++)
		assert_int_equal(tsi_intervals_within(set, t, t + 1), bits[t]);
}

TEST(random_sets_agree_with_a_bitmap)
{
	struct interval_set a = { 0 }, b = { 0 }, out = { 0 };
	bool a_bits[CLOCK_NS], b_bits[CLOCK_NS], out_bits[CLOCK_NS];
	uint64_t seed = 1;

	for (int round = 0; round < ROUNDS; round++) {
		int64_t common_ns = 0, outside_ns = 0, start_ns = 7 * round % CLOCK_NS;
		fill_randomly(&a, a_bits, &seed);
		fill_randomly(&b, b_bits, &seed);
		assert_covers(&a, a_bits);
		for (int t = 0; t < CLOCK_NS; t++)
			common_ns += a_bits[t] && b_bits[t];
		assert_int_equal(tsi_intervals_common(&a, &b), common_ns);
		for (int64_t t = start_ns; t < CLOCK_NS; t++) {
			assert_int_equal(tsi_intervals_outside(&a, &b, start_ns, t), outside_ns);
			outside_ns += !a_bits[t] && !b_bits[t];
		}

		for (int t = 0; t < CLOCK_NS; t++)
			out_bits[t] = a_bits[t] || b_bits[t];
		tsi_intervals_union(&out, &a, &b, &arena);
		assert_covers(&out, out_bits);

		for (int t = 0; t < CLOCK_NS; t++)
			out_bits[t] = a_bits[t] && !b_bits[t];
		tsi_intervals_subtract(&out, &a, &b, &arena);
		assert_covers(&out, out_bits);
	}
	tsi_arena_deinit(&arena);
}

TEST(memory_that_ends_is_told)
{
	struct interval_set out = { 0 }, a = SET({ 0, 10 }), b = SET({ 5, 7 });
	struct tscope_error err = { 0 };

	fail_alloc_at(1);
	tsi_intervals_union(&out, &a, &b, &arena);
	assert_true(fail_alloc_stop());
	assert_int_equal(tsi_arena_status(&arena, &err), TSCOPE_E_NOMEM);
	assert_string_equal(err.message, "out of memory");
	tsi_arena_deinit(&arena);
	fail_alloc_at(1);
	tsi_intervals_subtract(&out, &a, &b, &arena);
	assert_true(fail_alloc_stop());
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_E_NOMEM);
	tsi_arena_deinit(&arena);
}
