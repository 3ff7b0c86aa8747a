/* SPDX-License-Identifier: MIT */
/* The rank sum test, its shift and its interval, counted out by hand. */
#include "diff/rank_sum.h"

#include <math.h>

#include "analyze/shared/chance.h"
#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"

enum { MAX_VALUES = 40 };

struct rank_case {
	int64_t a[MAX_VALUES], b[MAX_VALUES];
	size_t a_count, b_count;
	double alpha;
	struct rank_sum expected;
};

static void check_near(double value, double expected)
{
	if (isnan(expected) ? !isnan(value) : !(fabs(value - expected) <= 1e-12 * fabs(expected)))
		fail_msg("%.17g, not %.17g", value, expected);
}

static struct rank_sum rank_sum(const struct rank_sum_question *question)
{
	struct arena scratch = { 0 };
	struct rank_sum result = tsi_rank_sum(question, &scratch);

	assert_false(scratch.has_failed);
	tsi_arena_deinit(&scratch);
	return result;
}

static void check_case(const struct rank_case *c)
{
	struct rank_sum_question question = { c->a, c->b, c->a_count, c->b_count, c->alpha, 1 };

	struct rank_sum result = rank_sum(&question);
	check_near(result.p_value, c->expected.p_value);
	check_near(result.shift, c->expected.shift);
	check_near(result.low, c->expected.low);
	check_near(result.high, c->expected.high);
}

TEST(small_samples_are_counted_out)
{
	static const struct rank_case cases[] = {
		/*
		 * 2 of the 20 orders of three and three keep them apart. Differences: 7 8 8 9 9 9
		 * 10 10 11.
		 */
		{ { 1, 2, 3 }, { 10, 11, 12 }, 3, 3, 0.1, { 0.1, 9, 7, 11 } },
		/* With less than the least p value there are no bounds. */
		{ { 1, 2, 3 }, { 10, 11, 12 }, 3, 3, 0.099, { 0.1, 9, NAN, NAN } },
		/* b below a: the same with other signs. */
		{ { 10, 11, 12 }, { 1, 2, 3 }, 3, 3, 0.1, { 0.1, -9, -11, -7 } },
		/*
		 * Ranks, twice each: 3 3 8 8 8 12. b has 8 + 8 + 12 = 28 where 21 are expected. Of
		 * the 20 subsets of three, the 3 with 28 and the 3 with 14 (3 + 3 + 8) are as far
		 * away. Differences: 1 1 2 1 1 2 0 0 1.
		 */
		{ { 1, 1, 2 }, { 2, 2, 3 }, 3, 3, 0.01, { 0.3, 1, NAN, NAN } },
		/*
		 * All are equal: every order is as far away as this one. The interval is that of
		 * values that differ: of 10 orders of three and two 1 1 2 2 2 1 1 have the
		 * deviations 3 to -3, and 4 ÷ 10 are 2 away, so it leaves out 1 of the differences
		 * at either end.
		 */
		{ { 5, 5, 5 }, { 5, 5 }, 3, 2, 0.5, { 1, 0, 0, 0 } },
		/* Two and one: 1 of 3 orders has b lowest, 1 has it highest. */
		{ { 6, 7 }, { 2 }, 2, 1, 0.7, { 2.0 / 3, -4.5, -5, -4 } },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_case(&cases[i]);
}

/*
 * Four and four without ties. The deviations from the expected sum, 8 to -8, come in
 * 1 1 2 3 5 5 7 7 8 7 7 5 5 3 2 1 1 of 70 orders. b = 5 7 9 11 and a = 2 4 6 8 have the ranks
 * 3 5 7 8: a sum of 23, 5 above 18, and 1 + 1 + 2 + 3 orders are as far away above. The differences
 * are -3 -1 1 3, -1 1 3 5, 1 3 5 7, 3 5 7 9.
 */
TEST(intervals_leave_out_what_is_rejected)
{
	static const struct rank_case cases[] = {
		/* 2 ÷ 70 = 0.029: the outermost differences. */
		{ { 2, 4, 6, 8 }, { 5, 7, 9, 11 }, 4, 4, 0.03, { 0.2, 3, -3, 9 } },
		/* 4 ÷ 70 = 0.057: the second ones. */
		{ { 2, 4, 6, 8 }, { 5, 7, 9, 11 }, 4, 4, 0.058, { 0.2, 3, -1, 7 } },
		/* 8 ÷ 70 = 0.114: the third ones. */
		{ { 2, 4, 6, 8 }, { 5, 7, 9, 11 }, 4, 4, 0.12, { 0.2, 3, -1, 7 } },
		/* 14 ÷ 70 = 0.2, which is the p value: the interval leaves out 0. */
		{ { 2, 4, 6, 8 }, { 5, 7, 9, 11 }, 4, 4, 0.2, { 0.2, 3, 1, 5 } },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++)
		check_case(&cases[i]);
}

/*
 * 30 and 30 kept apart: b's sum is 450 above the expected one, twice that in doubled ranks. Their
 * variance is 30 × 30 × 61 ÷ 3 = 18300, four times as much with inflation 4.
 */
TEST(many_values_are_normal)
{
	static const double inflations[] = { 1, 4 };
	int64_t a[30], b[30];

	for (int i = 0; i < 30; i++) {
		a[i] = i;
		b[i] = 100 + i;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(inflations); i++) {
		struct rank_sum_question question = { a, b, 30, 30, 0.01, inflations[i] };
		struct rank_sum result = rank_sum(&question);
		check_near(result.p_value,
			   2 * tsi_student_tail(899 / sqrt(18300 * inflations[i]), INFINITY));
		check_near(result.shift, 100);
	}
}

/*
 * 0 10 … 190 and 45 55 … 235: of the 400 pairs b is larger in 5 + 6 + … + 20 + 4 × 20 = 280, 80
 * more than expected. The variance of doubled ranks is 20 × 20 × 41 ÷ 3.
 */
TEST(the_normal_distribution_is_close)
{
	int64_t a[20], b[20];

	for (int i = 0; i < 20; i++) {
		a[i] = 10 * i;
		b[i] = 10 * i + 45;
	}
	struct rank_sum_question question = { a, b, 20, 20, 0.05, 1 };
	struct rank_sum exact = rank_sum(&question);
	double normal = 2 * tsi_student_tail(159 / sqrt(20 * 20 * 41 / 3.0), INFINITY);
	assert_true(exact.p_value > 0.9 * normal && exact.p_value < normal);
	assert_true(exact.low > 0 && exact.high < 95);
}

/*
 * 39 of 0, and two above: kept apart, and by ties the normal distribution is so narrow that its
 * tail is 1e-9. Of the 820 orders of two and 39, though, two keep them apart.
 */
TEST(no_chance_is_less_than_that_of_an_order)
{
	int64_t a[39] = { 0 }, b[2] = { 5, 9 };
	struct rank_sum_question question = { a, b, 39, 2, 0.05, 1 };

	struct rank_sum result = rank_sum(&question);
	check_near(result.p_value, 2 / 820.0);
}

TEST(ties_of_all_leave_nothing_to_tell)
{
	int64_t flat[41] = { 0 };
	struct rank_sum_question question = { flat, flat, 41, 41, 0.05, 1 };

	struct rank_sum result = rank_sum(&question);
	check_near(result.p_value, 1);
	check_near(result.shift, 0);
}

TEST(differences_of_any_size_fit)
{
	static const struct rank_case wide = { { INT64_MIN }, { INT64_MAX },          1, 1,
					       0.01,          { 1, 0x1p64, NAN, NAN } };

	check_case(&wide);
}

TEST(least_p_values)
{
	check_near(tsi_rank_sum_least_p(5, 5), 2.0 / 252);
	check_near(tsi_rank_sum_least_p(6, 6), 2.0 / 924);
	check_near(tsi_rank_sum_least_p(2, 4), 2.0 / 15);
	check_near(tsi_rank_sum_least_p(4, 2), 2.0 / 15);
	check_near(tsi_rank_sum_least_p(1, 1), 1);
	check_near(tsi_rank_sum_least_p(0, 9), 1);
	assert_true(tsi_rank_sum_least_p(SIZE_MAX, SIZE_MAX) < 1e-290);
}

TEST(memory_ends)
{
	static const int64_t a[] = { 1, 2 }, b[] = { 2, 4 };
	struct rank_sum_question question = { a, b, 2, 2, 0.05, 1 };

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct arena scratch = { 0 };
		alloc_sweep_start(&sweep);
		struct rank_sum result = tsi_rank_sum(&question, &scratch);
		alloc_sweep_check(&sweep, tsi_arena_status(&scratch, &sweep.err));
		assert_true(!sweep.has_failed || result.p_value == 0);
		tsi_arena_deinit(&scratch);
	}
}
