/* SPDX-License-Identifier: MIT */
/* Medians, spikes and slopes by hand, with pytscope's edge cases. */
#include "analyze/shared/robust.h"

#include <math.h>

#include "check.h"
#include "fail_alloc.h"

TEST(the_median_is_the_mean_of_the_middle)
{
	static const struct {
		double numbers[5];
		size_t count;
		double median;
	} cases[] = {
		{ { 0 }, 0, 0 },
		{ { 3 }, 1, 3 },
		{ { 4, 1 }, 2, 2.5 },
		{ { 5, -1, 3 }, 3, 3 },
		{ { 9, 1, 2, 8 }, 4, 5 },
		{ { INFINITY, 1, 2, -INFINITY, 7 }, 5, 2 },
		{ { 1e308, 1.5e308 }, 2, 1.25e308 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		double numbers[5];
		for (size_t j = 0; j < cases[i].count; j++)
			numbers[j] = cases[i].numbers[j];
		assert_true(tsi_median(numbers, cases[i].count) == cases[i].median);
	}
}

/* A case of spikes: the values, and a letter for each, x where it is a spike. */
struct spike_case {
	double values[16];
	const char *marks;
};

static void check_spikes(const struct spike_case *test)
{
	bool is_spike[16];
	char marks[17] = "";
	size_t count = 0;

	for (; test->marks[count]; count++)
		is_spike[count] = true; /* what was there does not matter */
	tsi_local_spikes(test->values, count, is_spike);
	for (size_t i = 0; i < count; i++)
		marks[i] = is_spike[i] ? 'x' : '.';
	assert_string_equal(marks, test->marks);
}

TEST(a_spike_towers_above_those_before)
{
	static const struct spike_case cases[] = {
		{ { 0 }, "" },
		/* Nothing deviates: half above the median is the limit. */
		{ { 100, 100, 100, 100, 100, 100, 150 }, "......." },
		{ { 100, 100, 100, 100, 100, 100, 151 }, "......x" },
		/* Five values before are too few. */
		{ { 100, 100, 100, 100, 100, 900 }, "......" },
		/* Median 105, deviations 5, scale 7.413: the limit is 149.478. */
		{ { 100, 110, 100, 110, 100, 110, 149 }, "......." },
		{ { 100, 110, 100, 110, 100, 110, 150 }, "......x" },
		/* Above a median of 0 or less anything towers that is above it. */
		{ { 0, 0, 0, 0, 0, 0, 0.001, 0 }, "......x." },
		{ { -2, -2, -2, -2, -2, -2, -2, -1, -3 }, ".......x." },
		/* The first spike is history to the second, but does not hide it. */
		{ { 100, 100, 100, 100, 100, 100, 900, 900 }, "......xx" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_spikes(&cases[i]);
}

TEST(what_is_not_finite_is_neither_spike_nor_history)
{
	static const struct spike_case cases[] = {
		{ { 1, 1, 1, 1, 1, NAN, INFINITY, 9, 9 }, "........x" },
		{ { 1, 1, 1, 1, 1, 1, INFINITY, NAN, -INFINITY, 9 }, ".........x" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_spikes(&cases[i]);
}

TEST(only_twelve_values_are_looked_back_at)
{
	/*
	 * The 14th value looks at six of 200 and six of 100: the median 150 deviates by 50.
	 * With the first 100 as well they would be a majority, above which 151 is a spike.
	 */
	static const struct spike_case cases[] = {
		{ { 100, 200, 200, 200, 200, 200, 200, 100, 100, 100, 100, 100, 100, 151 },
		  ".............." },
		{ { 100, 100, 200, 200, 200, 200, 200, 100, 100, 100, 100, 100, 100, 151 },
		  ".............x" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_spikes(&cases[i]);
}

static void check_slopes(const double *values, size_t count, double robust, double centred)
{
	struct arena arena = { 0 };

	assert_true(fabs(tsi_robust_slope(values, count, &arena) - robust) < 1e-12);
	assert_true(fabs(tsi_centred_slope(values, count, &arena) - centred) < 1e-12);
	tsi_arena_deinit(&arena);
}

TEST(a_slope_joins_the_medians_of_both_ends)
{
	static const double few[] = { 1, 9, 3 };
	double line[40];

	for (size_t i = 0; i < 40; i++)
		line[i] = 5 * (double)i;
	check_slopes(NULL, 0, 0, 0);
	check_slopes(few, 1, 0, 0);
	check_slopes(few, 2, 8, 8);
	check_slopes(few, 3, 1, 1);
	/* Windows of 1: 90 ÷ 18. Windows of 2: 92.5 − 2.5 by 19 or 18. */
	check_slopes(line, 19, 5, 5);
	check_slopes(line, 20, 90.0 / 19, 5);
	/* Windows of 4: 187.5 − 7.5 = 180, by 39 or 36. */
	check_slopes(line, 40, 180.0 / 39, 5);
}

TEST(the_ends_have_medians)
{
	static const double values[] = {
		1, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 20
	};
	struct arena arena = { 0 };
	double first = NAN, last = NAN;

	tsi_end_medians(values, 20, &first, &last, &arena);
	assert_true(first == 3 && last == 14);
	tsi_end_medians(values, 2, &first, &last, &arena);
	assert_true(first == 1 && last == 5);
	tsi_end_medians(NULL, 0, &first, &last, &arena);
	assert_true(first == 0 && last == 0);
	tsi_arena_deinit(&arena);
}

TEST(memory_may_end)
{
	static const double values[] = { 1, 2, 3 };
	struct arena arena = { 0 };

	fail_alloc_at(1);
	assert_true(tsi_robust_slope(values, 3, &arena) == 0);
	assert_true(fail_alloc_stop());
	assert_true(arena.has_failed);
	tsi_arena_deinit(&arena);
}
