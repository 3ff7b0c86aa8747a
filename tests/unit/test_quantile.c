/* SPDX-License-Identifier: MIT */
/* Sorting and quantiles of nanoseconds. */
#include "analyze/shared/quantile.h"

#include "check.h"
#include "comm/latch.h"

TEST(sorts_negative_before_positive)
{
	int64_t numbers[] = { 5, -3, INT64_MAX, 0, INT64_MIN, 5, -4 };
	const int64_t expected[] = { INT64_MIN, -4, -3, 0, 5, 5, INT64_MAX };

	struct arena arena = { 0 };

	tsi_latch_sort_numbers(&arena, numbers, TSI_COUNT_OF(numbers));
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
	assert_memory_equal(numbers, expected, sizeof(expected));
	tsi_latch_sort_numbers(&arena, NULL, 0);
	assert_int_equal(tsi_arena_status(&arena, NULL), TSCOPE_OK);
}

TEST(interpolates)
{
	static const int64_t sorted[] = { 10, 20, 30, 40 };
	static const struct {
		size_t count;
		unsigned percent;
		int64_t expected;
	} cases[] = {
		{ 0, 50, 0 },  { 1, 50, 10 }, { 1, 95, 10 }, { 4, 0, 10 }, { 4, 100, 40 },
		{ 4, 50, 25 }, { 3, 50, 20 }, { 2, 95, 20 }, /* 10 + 10 × 0.95 = 19.5, up */
		{ 4, 95, 39 },                               /* place 2.85: 30 + 8.5 = 38.5, up */
		{ 4, 25, 18 },                               /* place 0.75: 17.5, up */
		{ 3, 1, 10 },                                /* place 0.02: 10.2, down */
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		assert_int_equal(tsi_quantile_ns(sorted, cases[i].count, cases[i].percent),
				 cases[i].expected);
}

TEST(finds_them_in_any_order)
{
	int64_t numbers[101], sorted[101];

	for (int64_t i = 0; i < 101; i++) {
		numbers[i] = i * 37 % 101 * 1000; /* each of 0 … 100 once */
		sorted[i] = i * 1000;
	}
	for (size_t count = 101; count >= 100; count--) {
		for (unsigned percent = 0; percent <= 100; percent++)
			assert_int_equal(tsi_find_quantile_ns(numbers, count, percent),
					 tsi_quantile_ns(sorted, count, percent));
		tsi_find_quantile_ns(numbers, 101, 100); /* puts the greatest last */
	}
	assert_int_equal(tsi_find_quantile_ns(numbers, 0, 50), 0);
}

TEST(long_times_do_not_overflow)
{
	static const int64_t sorted[] = { 0, INT64_C(8000000000000000000) };

	assert_int_equal(tsi_quantile_ns(sorted, 2, 99), INT64_C(7920000000000000000));
}

TEST(real_ones_are_not_rounded)
{
	static const int64_t sorted[] = { 10, 20, 30, 40 };

	assert_true(tsi_quantile(sorted, 0, 50) == 0);
	assert_true(tsi_quantile(sorted, 1, 95) == 10);
	assert_true(tsi_quantile(sorted, 4, 100) == 40);
	assert_true(tsi_quantile(sorted, 2, 95) == 19.5); /* 10 + 10 × 0.95 */
	assert_true(tsi_quantile(sorted, 4, 25) == 17.5); /* place 0.75 */
}
