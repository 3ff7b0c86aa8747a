/* SPDX-License-Identifier: MIT */
/* Where the level of a series changes. */
#include "diff/change_points.h"

#include <math.h>
#include <stdio.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

struct points_case {
	const char *what;
	double values[24];
	size_t count;
	size_t firsts[4]; /* the places that are found, from 1 on; 0 ends */
};

static const struct points_case cases[] = {
	{ "a step", { 9, 10, 11, 10, 20, 21, 19, 20 }, 8, { 5 } },
	{ "exact levels", { 1, 1, 1, 1, 1, 2, 2, 2 }, 8, { 6 } },
	{ "up twice",
	  { 10, 11, 10, 9, 10, 20, 21, 20, 19, 20, 30, 29, 30, 31, 30 },
	  15,
	  { 6, 11 } },
	{ "noise", { 9, 12, 10, 11, 9, 12, 10, 11, 10, 12 }, 10, { 0 } },
	{ "one odd run", { 10, 11, 10, 9, 10, 50, 10, 11, 9, 10 }, 10, { 0 } },
	{ "an odd last run", { 10, 11, 10, 9, 10, 10, 11, 9, 10, 11, 10, 9, 50 }, 13, { 0 } },
	{ "an odd run beside a change",
	  { 10, 11, 10, 9, 10, 50, 10, 11, 14, 15, 14, 13, 14, 15 },
	  14,
	  { 9 } },
	{ "equal", { 7, 7, 7, 7, 7, 7, 7, 7, 7 }, 9, { 0 } },
	{ "one odd run of equal ones", { 7, 7, 7, 7, 7, 9, 7, 7, 7, 7 }, 10, { 0 } },
	{ "a rare count, at last thrice",
	  { 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1 },
	  24,
	  { 0 } },
	{ "less than 0.2 %", { 1000, 1000, 1000, 1000, 1001, 1001, 1001, 1001 }, 8, { 0 } },
	{ "too few", { 1, 1, 1, 2, 2, 2, 2 }, 7, { 0 } },
	{ "of no size", { 0, 0, 0, 0, 5, 5, 5, 5 }, 8, { 5 } },
};

TEST(levels_are_found)
{
	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct arena arena = { 0 };
		struct change_points points =
			tsi_change_points(cases[i].values, cases[i].count, 1, &arena);
		size_t expected = 0;
		for (; cases[i].firsts[expected]; expected++)
			if (expected >= points.count ||
			    points.items[expected].first + 1 != cases[i].firsts[expected])
				fail_msg("%s: not found at %zu", cases[i].what,
					 cases[i].firsts[expected]);
		if (points.count != expected)
			fail_msg("%s: %zu found", cases[i].what, points.count);
		tsi_arena_deinit(&arena);
	}
}

/* No more histories without a change seem to have one than promised. */
TEST(chance_makes_few_levels)
{
	enum { HISTORIES = 20000, RUNS = 40, COMPARISONS = 4 };
	uint64_t random = 1;
	size_t found = 0;

	for (size_t i = 0; i < HISTORIES; i++) {
		struct arena arena = { 0 };
		double values[RUNS];

		for (size_t run = 0; run < RUNS; run++)
			values[run] = 100 + random_normal(&random);
		found += tsi_change_points(values, RUNS, COMPARISONS, &arena).count > 0;
		tsi_arena_deinit(&arena);
	}
	assert_true((double)found <= HISTORIES * CHANGE_POINT_ALPHA / COMPARISONS);
}

/* 9, 10, 11, 10 have the mean 10; 20, 21, 19, 20 have 20. */
TEST(levels_are_means)
{
	struct arena arena = { 0 };
	struct change_points points = tsi_change_points(cases[0].values, 8, 1, &arena);

	assert_true(fabs(points.items[0].before - 10) < 1e-9);
	assert_true(fabs(points.items[0].after - 20) < 1e-9);
	tsi_arena_deinit(&arena);
}

/*
 * Of 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3 (scatter 3) the level may also begin one run later or
 * earlier (4.7: 12 log(4.7 / 3) is 5.4), and not two (5.75: 7.8).
 */
TEST(a_change_is_known_to_some_runs)
{
	static const double values[] = { 0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3 };
	struct arena arena = { 0 };
	struct change_points points = tsi_change_points(values, TSI_COUNT_OF(values), 1, &arena);

	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].first, 6);
	assert_int_equal(points.items[0].earliest, 5);
	assert_int_equal(points.items[0].latest, 7);
	tsi_arena_deinit(&arena);
}

TEST(failing_allocations_find_nothing)
{
	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct arena arena = { 0 };
		alloc_sweep_start(&sweep);
		struct change_points points = tsi_change_points(cases[0].values, 8, 1, &arena);
		alloc_sweep_check(&sweep, tsi_arena_status(&arena, &sweep.err));
		if (sweep.has_failed)
			assert_int_equal(points.count, 0);
		tsi_arena_deinit(&arena);
	}
}
