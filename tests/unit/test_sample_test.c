/* SPDX-License-Identifier: MIT */
/* What is called a change of the steps, and what is not. */
#include "diff/sample_test.h"

#include <math.h>

#include "analyze/shared/chance.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

enum { MAX_STEPS = 64 };

static struct sample_test test(const int64_t *a, size_t a_count, const int64_t *b, size_t b_count,
			       size_t comparisons)
{
	struct sample left = { a, a_count }, right = { b, b_count };
	struct arena memory = { 0 };
	struct sample_test result = tsi_sample_test(&left, &right, comparisons, &memory);

	assert_false(memory.has_failed);
	assert_null(memory.blocks);
	assert_true(result.p_value >= 0 && result.p_value <= 1);
	return result;
}

static void check_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.17g, not %.17g", value, expected);
}

static void check_verdict(const struct sample_test *result, enum diff_verdict verdict,
			  enum sample_test_method method)
{
	assert_string_equal(tsi_diff_verdict_name(result->verdict), tsi_diff_verdict_name(verdict));
	assert_string_equal(tsi_sample_test_method_name(result->method),
			    tsi_sample_test_method_name(method));
}

TEST(equal_samples_are_the_same)
{
	static const int64_t a[] = { 5, 7, 6, 5 }, shuffled[] = { 7, 5, 5, 6 };
	struct sample_test result = test(a, 4, shuffled, 4, 3);

	check_verdict(&result, DIFF_SAME, SAMPLE_TEST_RANK);
	assert_true(result.p_value == 1 && result.shift == 0);
	assert_true(result.low == 0 && result.high == 0);
	assert_int_equal(result.typical_verdict, DIFF_SAME);
	result = test(a, 1, a, 1, 1);
	assert_int_equal(result.verdict, DIFF_SAME);
}

/*
 * Of 252 orders of five and five, 2 keep them apart: no test of that can be below 0.004, and of six
 * and six there are 924. But steps of which the chance parts five from five are of two kinds, and
 * that is so in at most 2 / 2^10 of equal pairs; of three and eight 2 (3 / 11)^3 (8 / 11)^8.
 */
TEST(few_steps_are_decided_where_they_lie_apart)
{
	static const int64_t a[] = { 100, 101, 102, 103, 104, 105, 106, 107 },
			     far[] = { 900, 901, 902, 903, 904, 905, 906, 907 },
			     wide[] = { 110, 900, 901, 902, 903 },
			     near[] = { 109, 110, 111, 112, 113 },
			     nearer[] = { 108, 109, 110, 111, 112 };
	static const struct {
		const int64_t *b;
		size_t a_count, b_count;
		double p_value; /* 0: undecided */
	} cases[] = {
		{ far, 0, 0, 0 },           { far, 0, 6, 0 },
		{ far, 6, 0, 0 },           { far, 1, 1, 0 },
		{ far, 4, 4, 0 },           { far, 2, 8, 0 },
		{ far, 5, 5, 0.001953125 }, { far, 8, 3, 0.0031753685 },
		{ wide, 5, 5, 0 },          { near, 5, 5, 0.001953125 },
		{ nearer, 5, 5, 0 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct sample_test result =
			test(a, cases[i].a_count, cases[i].b, cases[i].b_count, 1);
		bool is_decided = cases[i].p_value > 0;
		check_verdict(&result, is_decided ? DIFF_CHANGED : DIFF_UNDECIDED,
			      is_decided ? SAMPLE_TEST_MEAN : SAMPLE_TEST_NONE);
		assert_int_equal(isnan(result.low), !is_decided);
		assert_int_equal(result.typical_verdict, result.verdict);
		if (is_decided) {
			assert_true(fabs(result.p_value / cases[i].p_value - 1) < 1e-6);
			assert_true(result.low > 0 && result.low < result.shift &&
				    result.shift < result.high);
		}
	}
	struct sample_test back = test(far, 5, a, 5, 1);
	assert_int_equal(back.verdict, DIFF_CHANGED);
	check_near(back.shift, -800);
	assert_int_equal(test(a, 5, far, 5, 3).verdict, DIFF_UNDECIDED); /* three questions */
	assert_int_equal(test(a, 6, far, 6, 1).method, SAMPLE_TEST_RANK);
}

/*
 * The same six and six: 2 of 924 orders; means 800 apart with variances of 3.5 and an error of
 * sqrt(3.5 / 3), 10 degrees. The steps grow one by one, but ranks of so few resemble too little to
 * count: their correlation is 0.5 in both, and 0.5 × sqrt(12) is below 2.
 */
TEST(both_tests_come_together)
{
	static const int64_t a[] = { 100, 101, 102, 103, 104, 105 },
			     b[] = { 900, 901, 902, 903, 904, 905 };
	double by_rank = 2.0 / 924, by_mean = 2 * tsi_student_tail(800 / sqrt(3.5 / 3), 10);
	struct sample_test result = test(a, 6, b, 6, 1);

	check_near(result.p_value, 2 / (1 / by_rank + 1 / by_mean));
	check_near(result.typical_p_value, by_rank);
	check_near(result.shift, 800);
	check_near(result.low, 795);
	check_near(result.high, 805);

	/*
	 * Five comparisons: no order is rare enough for the rank test then, but the means are. With
	 * its p value theirs has to be alpha / (2 - alpha / by_rank) for the harmonic mean alpha.
	 */
	result = test(a, 6, b, 6, 5);
	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_MEAN);
	check_near(result.p_value, 5 * 2 / (1 / by_rank + 1 / by_mean));
	assert_int_equal(result.typical_verdict, DIFF_NO_CHANGE);
	check_near(result.typical_p_value, 5 * by_rank);
	double alpha = SAMPLE_TEST_ALPHA / 5, of_means = alpha / (2 - alpha / by_rank);
	double reach = sqrt(3.5 / 3) * tsi_student_quantile(of_means / 2, 10);
	check_near(result.low, 800 - reach);
	check_near(result.high, 800 + reach);
}

/* 0, and now and then something up to the limit, a large one hardly ever. */
static int64_t few_values(uint64_t *random, uint64_t limit)
{
	uint64_t bits = random_bits(random);

	return bits % 50 == 0 ? 1000 : (int64_t)(bits / 50 % (limit + 1));
}

/* Without resemblance: 37 is prime to any count here. */
static int64_t wobble(size_t step)
{
	return (int64_t)(step * 37 % 23);
}

TEST(a_change_of_all_steps_is_one)
{
	int64_t a[20], slower[20], other[20];

	for (size_t i = 0; i < 20; i++) {
		a[i] = 1000 + wobble(i);
		other[i] = 1000 + wobble(i + 20);
		slower[i] = 1030 + wobble(i + 20);
	}
	struct sample_test result = test(a, 20, slower, 20, 1);
	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_RANK);
	assert_true(result.low > 0 && result.low < 30 && result.high > 30 && result.shift > 25);
	assert_int_equal(result.typical_verdict, DIFF_CHANGED);

	result = test(slower, 20, a, 20, 1);
	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_RANK);
	assert_true(result.high < 0);

	result = test(a, 20, other, 20, 1);
	check_verdict(&result, DIFF_NO_CHANGE, SAMPLE_TEST_RANK);
	assert_true(result.low < 0 && result.high > 0);
}

/* Every fifth step waits: the typical step is as it was, the mean is not. */
TEST(a_change_of_few_steps_is_one_of_the_mean)
{
	int64_t a[60], b[60];

	for (size_t i = 0; i < 60; i++) {
		a[i] = 1000 + wobble(i);
		b[i] = 1000 + wobble(i + 60) + (i % 5 == 0 ? 2000 : 0);
	}
	struct sample_test result = test(a, 60, b, 60, 1);
	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_MEAN);
	assert_int_equal(result.typical_verdict, DIFF_NO_CHANGE);
	assert_true(result.low > 0 && result.shift > 390 && result.shift < 410);
}

/* The typical step is faster for certain. The mean is larger by two steps, which may be chance. */
TEST(the_typical_step_does_not_speak_against_the_mean)
{
	int64_t a[60], b[60];

	for (size_t i = 0; i < 40; i++) {
		a[i] = 1000 + wobble(i);
		b[i] = 950 + wobble(i + 40) + (i % 20 == 3 ? 3000 : 0);
	}
	struct sample_test result = test(a, 40, b, 40, 1);
	check_verdict(&result, DIFF_NO_CHANGE, SAMPLE_TEST_MEAN);
	assert_true(result.shift > 90 && result.low < 0 && result.p_value > 0.1);
	assert_int_equal(result.typical_verdict, DIFF_CHANGED);
	assert_true(result.typical_shift < -45 && result.typical_p_value < 1e-6);

	/* Every fourth of more steps: the mean is larger for certain, too, and speaks for itself. */
	for (size_t i = 0; i < 60; i++) {
		a[i] = 1000 + wobble(i);
		b[i] = 950 + wobble(i + 60) + (i % 4 == 3 ? 3000 : 0);
	}
	result = test(a, 60, b, 60, 1);
	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_MEAN);
	assert_true(result.low > 0 && result.shift > 500);
	assert_int_equal(result.typical_verdict, DIFF_CHANGED);
	assert_true(result.typical_shift < -40);
}

/*
 * Two runs that drift up and down by ±100 around 1000 and 1060, in waves of 20 steps: as
 * independent steps they would differ, but they tell only what a few would.
 */
TEST(steps_that_resemble_their_neighbours_tell_less)
{
	int64_t a[40], b[40], mixed_a[40], mixed_b[40];

	for (size_t i = 0; i < 40; i++) {
		int64_t wave = (int64_t)(i % 20 < 10 ? i % 10 : 9 - i % 10) * 22 - 100;
		a[i] = 1000 + wave;
		b[i] = 1060 + wave + 1;
		mixed_a[i * 17 % 40] = a[i];
		mixed_b[i * 17 % 40] = b[i];
	}
	struct sample_test alike = test(a, 40, b, 40, 1), mixed = test(mixed_a, 40, mixed_b, 40, 1);
	assert_int_equal(alike.verdict, DIFF_NO_CHANGE);
	assert_int_equal(mixed.verdict, DIFF_CHANGED);
	assert_true(alike.p_value > 10 * mixed.p_value);
	assert_true(alike.low < mixed.low && alike.high > mixed.high);
}

/*
 * Communication that was exposed in four steps, and then in all: ranks resemble each other by
 * (0.653 + 0.203) / 2 = 0.428, corrected (0.428 + 1 / 14) / (1 - 4 / 14) = 0.7, so that 14 steps
 * tell as much as 14 × 0.3 / 1.7 = 2.5. The means are 21 errors apart all the same: p is 2.4e-4 with
 * the 3 degrees of five steps, too much where nine lines are asked, but next to nothing with 26.
 */
TEST(a_change_beyond_all_noise_is_one_though_steps_resemble)
{
	static const int64_t a[] = { 7500, 7500, 11689, 40237, 331165, 101363, 7500,
				     7500, 7500, 7500,  7500,  7500,   7500,   7500 },
			     b[] = {
				     1609012, 1495159, 1497521, 1598568, 1663696, 1675993, 1498984,
				     1510459, 1647732, 1493502, 1495400, 1498439, 1497810, 1547176
			     };
	struct sample_test result = test(a, TSI_COUNT_OF(a), b, TSI_COUNT_OF(b), 9);

	assert_int_equal(result.verdict, DIFF_CHANGED);
	assert_true(result.low > 1000000);
}

/*
 * How much less, by the p value of the rank test.
 *
 * Eight and eight, four on end of each value: about their mean and twice, ranks are -4 and 4, six
 * of seven neighbours alike, so that r = (6 - 1) / 8 = 0.625, of 16 steps 2.5 standard errors: a
 * step is one of (1 + r) / (1 - r) = 13 / 3. Ranks, twice, are 5 13 21 29; b has 64 more than
 * expected, with a variance of 64 / 3 * (17 - 4 * 60 / (16 * 15)).
 *
 * Twenty of ten on end, and twenty up and down: r = 17 / 20 and -19 / 20, together nothing, but the
 * first is 3.8 standard errors alone. It is (0.85 + 1 / 20) / (1 - 4 / 20) > 0.9 without what so
 * few steps hide: one of 1.9 / 0.1 = 19, and of both one of (19 + 1) / 2. Ranks, twice, are 11 31
 * 51 71; b has 200 more, the variance is 400 / 3 * (41 - 4 * 990 / (40 * 39)).
 */
TEST(resemblance_widens_the_distribution)
{
	int64_t a[20], b[20];

	for (size_t i = 0; i < 8; i++) {
		a[i] = i < 4 ? 100 : 200;
		b[i] = i < 4 ? 300 : 400;
	}
	struct sample_test result = test(a, 8, b, 8, 1);
	check_near(result.typical_p_value,
		   2 * tsi_student_tail(63 / sqrt(64.0 / 3 * 16 * 13 / 3), INFINITY));

	for (size_t i = 0; i < 20; i++) {
		a[i] = i < 10 ? 100 : 200;
		b[i] = i % 2 ? 150 : 250;
	}
	double variance = 400.0 / 3 * (41 - 4 * 990 / (40 * 39.0)) * 10;
	double expected = 2 * tsi_student_tail(199 / sqrt(variance), INFINITY);
	result = test(a, 20, b, 20, 1);
	check_near(result.typical_p_value, expected);
	result = test(b, 20, a, 20, 1);
	check_near(result.typical_p_value, expected);
}

/*
 * The shorter run lacks the rare slow steps of the longer one. Welch's error is that of the longer
 * one's mean alone, and its t is 4.2; with the variances pooled it is 1.
 */
TEST(a_short_run_without_the_rare_steps_is_no_change)
{
	int64_t a[20], b[400];

	for (size_t i = 0; i < 400; i++)
		b[i] = 1000 + wobble(i) + (i % 20 == 7 ? 2000 : 0);
	for (size_t i = 0; i < 20; i++)
		a[i] = 1000 + wobble(i);
	struct sample_test result = test(a, 20, b, 400, 1);
	assert_int_equal(result.verdict, DIFF_NO_CHANGE);
}

/*
 * An interval leaves out 0 where there is a change, and holds it where there is none: also where
 * many steps are equal, where the tests disagree, where ranks have no bounds.
 */
TEST(intervals_say_what_the_verdict_does)
{
	uint64_t random = 1;
	size_t changed = 0, no_change = 0, unbound = 0;

	for (size_t i = 0; i < 20000; i++) {
		int64_t a[MAX_STEPS], b[MAX_STEPS], spread = (int64_t)(random_bits(&random) % 40);
		size_t n = 2 + random_bits(&random) % 45, m = 2 + random_bits(&random) % 45;
		for (size_t k = 0; k < n; k++)
			a[k] = i % 3 ? few_values(&random, 3) : 1;
		for (size_t k = 0; k < m; k++)
			b[k] = few_values(&random, 2) * spread / 8 + spread % 4;
		struct sample_test result = test(a, n, b, m, 1 + random_bits(&random) % 8);
		changed += result.verdict == DIFF_CHANGED;
		no_change += result.verdict == DIFF_NO_CHANGE;
		unbound += result.verdict == DIFF_CHANGED && isnan(result.low);
		if (result.verdict == DIFF_CHANGED && result.method == SAMPLE_TEST_MEAN)
			assert_true(result.low > 0 || result.high < 0);
		else if (result.verdict == DIFF_CHANGED)
			assert_false(result.low < 0 && result.high > 0);
		else if (result.verdict == DIFF_NO_CHANGE)
			assert_true(result.low <= 0 && result.high >= 0);
		assert_false(result.shift < result.low || result.shift > result.high);
	}
	assert_true(changed > 2000 && no_change > 2000 && unbound < changed / 10);
}

TEST(steps_that_never_vary_are_certain)
{
	static const int64_t a[] = { 7, 7, 7, 7, 7, 7, 7 }, b[] = { 8, 8, 8, 8, 8, 8 };
	struct sample_test result = test(a, 6, b, 6, 1);

	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_RANK);
	assert_true(result.shift == 1 && result.low == 1 && result.high == 1);
	/* One step more of the same is no change, though not the same sample. */
	result = test(a, 6, a, 7, 1);
	check_verdict(&result, DIFF_NO_CHANGE, SAMPLE_TEST_RANK);
	assert_true(result.p_value == 1);
}

TEST(times_of_any_size_are_fine)
{
	int64_t a[8], b[8];

	for (size_t i = 0; i < 8; i++) {
		a[i] = i % 2 ? INT64_MIN : INT64_MAX;
		b[i] = INT64_MAX;
	}
	struct sample_test result = test(a, 8, b, 8, SIZE_MAX);
	assert_int_equal(result.verdict, DIFF_NO_CHANGE);
	result = test(b, 8, a, 8, 1);
	assert_true(result.low <= result.shift && result.shift <= result.high);
}

/* ---- rates ---- */

/* Noise of 3 % that is nearly normal: the sum of twelve uniform numbers. */
static int64_t noisy(double mean, uint64_t *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(random_bits(state) >> 11) * 0x1p-53;
	return (int64_t)(mean * (1 + 0.03 * sum));
}

/* tests/bench/significance.c has more of this. */
TEST(rates_are_as_promised)
{
	static const struct {
		size_t steps, pairs;
		double change;
		size_t least, most;
	} cases[] = {
		{ 20, 300, 0, 0, 3 },
		{ 20, 300, 0.05, 285, 300 },
		{ 50, 300, 0.03, 285, 300 },
	};
	uint64_t random = 1;

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		size_t changed = 0;
		for (size_t pair = 0; pair < cases[i].pairs; pair++) {
			int64_t a[MAX_STEPS], b[MAX_STEPS];
			for (size_t step = 0; step < cases[i].steps; step++) {
				a[step] = noisy(1e8, &random);
				b[step] = noisy(1e8 * (1 + cases[i].change), &random);
			}
			struct sample_test result = test(a, cases[i].steps, b, cases[i].steps, 1);
			changed += result.verdict == DIFF_CHANGED;
		}
		if (changed < cases[i].least || changed > cases[i].most)
			fail_msg("case %zu: %zu changed", i, changed);
	}
}

/* ---- moments ---- */

TEST(moments_are_tested_by_their_means)
{
	/* An error of sqrt(4 ÷ 8 + 4 ÷ 8) = 1, 14 degrees. */
	static const struct sample_moments a = { 100, 2, 8 }, b = { 105, 2, 8 };
	struct sample_test result = tsi_moments_test(&a, &b, 3);

	check_verdict(&result, DIFF_CHANGED, SAMPLE_TEST_MEAN);
	check_near(result.p_value, 3 * 2 * tsi_student_tail(5, 14));
	double reach = tsi_student_quantile(SAMPLE_TEST_ALPHA / 6, 14);
	check_near(result.shift, 5);
	check_near(result.low, 5 - reach);
	check_near(result.high, 5 + reach);
	/* Of a hundred such, one is that far apart by chance. */
	result = tsi_moments_test(&a, &b, 100);
	assert_int_equal(result.verdict, DIFF_NO_CHANGE);

	result = tsi_moments_test(&a, &a, 1);
	assert_int_equal(result.verdict, DIFF_SAME);
	/* Of different deviations Welch's error: sqrt(1 ÷ 8 + 16 ÷ 8), degrees 4.52 ÷ 0.576. */
	static const struct sample_moments c = { 100, 1, 8 }, d = { 104, 4, 8 };
	result = tsi_moments_test(&c, &d, 1);
	check_near(result.p_value,
		   2 * tsi_student_tail(4 / sqrt(2.125), 2.125 * 2.125 / ((0.015625 + 4) / 7)));
}

TEST(moments_that_are_not_known_decide_nothing)
{
	static const struct sample_moments known = { 100, 2, 8 }, unknown[] = {
		{ NAN, 2, 8 },       { 90, NAN, 8 },   { 90, 2, NAN }, { 90, 2, 0 },
		{ 90, INFINITY, 8 }, { 90, 2, 1e300 }, { 90, 0, 1 }
	};

	for (size_t i = 0; i < TSI_COUNT_OF(unknown); i++) {
		struct sample_test result = tsi_moments_test(&known, &unknown[i], 1);
		check_verdict(&result, DIFF_UNDECIDED, SAMPLE_TEST_NONE);
		result = tsi_moments_test(&unknown[i], &known, 1);
		check_verdict(&result, DIFF_UNDECIDED, SAMPLE_TEST_NONE);
	}
}

TEST(memory_ends)
{
	static const int64_t a[] = { 1, 2, 3, 4, 5, 6 }, b[] = { 7, 8, 9, 10, 11, 12 };
	struct sample left = { a, 6 }, right = { b, 6 };

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep)) {
		struct arena memory = { 0 };
		alloc_sweep_start(&sweep);
		struct sample_test result = tsi_sample_test(&left, &right, 1, &memory);
		alloc_sweep_check(&sweep, tsi_arena_status(&memory, &sweep.err));
		assert_int_equal(result.verdict, sweep.has_failed ? DIFF_UNDECIDED : DIFF_CHANGED);
		tsi_arena_deinit(&memory);
	}
}
