/* SPDX-License-Identifier: MIT */
/* Which ranks are slow, on steps without noise, where excess and chance can be worked out. */
#include "analyze/ranks/slow_ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "fail_alloc.h"

enum { MAX_RANKS = 8, MAX_STEPS = 30 };

/* All steps alike: compute_ns of each rank, up to the first 0. */
struct run {
	int64_t compute_ns[MAX_RANKS + 1];
	size_t step_count;
};

static size_t count_ranks(const struct run *run)
{
	size_t count = 0;

	while (run->compute_ns[count] > 0)
		count++;
	return count;
}

static enum tscope_status judge_table(struct rank_verdict *verdicts, const int64_t *table,
				      size_t step_count, size_t rank_count)
{
	struct arena arena = { 0 };

	tsi_judge_ranks(verdicts, table, step_count, rank_count, &arena);
	return tsi_arena_status(&arena, NULL);
}

static enum tscope_status judge(struct rank_verdict *verdicts, const struct run *run)
{
	int64_t table[MAX_STEPS * MAX_RANKS];
	size_t rank_count = count_ranks(run);

	for (size_t step = 0; step < run->step_count; step++)
		for (size_t rank = 0; rank < rank_count; rank++)
			/* each step longer than the one before, for all */
			table[step * rank_count + rank] =
				run->compute_ns[rank] * (int64_t)(step + 1);
	return judge_table(verdicts, table, run->step_count, rank_count);
}

static void check_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.17g, not %.17g", value, expected);
}

static void who_is_slow(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		struct run run;
		double min_excess;
		const char *slow;
	} cases[] = {
		{ "all equal", { { 9, 9, 9, 9 }, 30 }, 0.01, "" },
		{ "one", { { 100, 100, 105, 100, 100, 100, 100, 100 }, 30 }, 0.01, "2" },
		{ "one below the threshold", { { 100, 100, 105, 100, 100 }, 30 }, 0.06, "" },
		{ "exactly the threshold", { { 100, 100, 125, 100, 100 }, 30 }, 0.25, "2" },
		{ "two", { { 110, 100, 100, 100, 100, 112, 100, 100 }, 30 }, 0.01, "05" },
		{ "half", { { 110, 100, 100, 110, 100, 110, 110, 100 }, 30 }, 0.01, "0356" },
		/* More than half: they are the normal ones. */
		{ "three fast", { { 90, 100, 100, 100, 90, 100, 100, 90 }, 30 }, 0.01, "" },
		{ "one fast", { { 90, 100, 100, 100 }, 30 }, 0.01, "" },
		{ "slow and fast", { { 90, 100, 100, 120, 100, 100 }, 30 }, 0.01, "3" },
		{ "middle of three", { { 100, 110, 120 }, 30 }, 0.01, "2" },
		/* Of two, chance has it 2 × 2⁻¹¹ = 0.00098, or 2 × 2⁻¹⁰. */
		{ "two ranks, 11 steps", { { 220, 100 }, 11 }, 0.01, "0" },
		{ "two ranks, 10 steps", { { 220, 100 }, 10 }, 0.01, "" },
		/* 8 × 8⁻⁵ = 0.00024; 8 × 8⁻⁴ = 0.002 */
		{ "5 steps", { { 100, 150, 100, 100, 100, 100, 100, 100 }, 5 }, 0.01, "1" },
		{ "4 steps", { { 100, 150, 100, 100, 100, 100, 100, 100 }, 4 }, 0.01, "" },
		{ "no step", { { 100, 150 }, 0 }, 0.01, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct rank_verdict verdicts[MAX_RANKS];
		char slow[MAX_RANKS + 1] = "", *end = slow;
		assert_int_equal(judge(verdicts, &cases[i].run), TSCOPE_OK);
		for (size_t rank = 0; rank < count_ranks(&cases[i].run); rank++)
			if (tsi_is_slow_rank(&verdicts[rank], cases[i].min_excess))
				*end++ = (char)('0' + rank);
		if (strcmp(slow, cases[i].slow) != 0)
			fail_msg("%s: \"%s\"", cases[i].what, slow);
	}
}

static void excess_and_chance(void **state)
{
	(void)state;
	static const struct run run = { { 110, 100, 100, 112, 96 }, 4 };
	struct rank_verdict verdicts[MAX_RANKS];

	/*
	 * Levels (by the median, 100): 1.1 1 1 1.12 0.96. Medians of the others:
	 * (1 + 1) ÷ 2, (1 + 1.1) ÷ 2 twice, (1 + 1) ÷ 2, (1 + 1.1) ÷ 2.
	 */
	assert_int_equal(judge(verdicts, &run), TSCOPE_OK);
	check_near(verdicts[0].excess_ratio, 0.1);
	check_near(verdicts[1].excess_ratio, 1 / 1.05 - 1);
	check_near(verdicts[3].excess_ratio, 0.12);
	check_near(verdicts[4].excess_ratio, 0.96 / 1.05 - 1);
	/*
	 * Position 4 in each of 4 steps: 5 × 5⁻⁴. Position 3: the sum 12 is 4 short of the
	 * most, as in C(8, 4) = 70 of 5⁴ ways; 5 × 70 ÷ 625 = 0.56. The fast one is not judged.
	 */
	check_near(verdicts[3].p_value, 0.008);
	check_near(verdicts[0].p_value, 0.56);
	check_near(verdicts[1].p_value, 1);
	check_near(verdicts[4].p_value, 1);
}

/* Two ranks share the positions 6 and 7: 6.5 each, 65 in 10 steps. */
static void equal_ranks_share_positions(void **state)
{
	(void)state;
	static const struct run run = { { 120, 100, 100, 120, 100, 100, 100, 100 }, 10 };
	struct rank_verdict verdicts[MAX_RANKS];

	/* 5 short of 70: C(15, 5) = 3003 of 8¹⁰ ways, times 8. */
	assert_int_equal(judge(verdicts, &run), TSCOPE_OK);
	check_near(verdicts[0].p_value, 3003 * 0x1p-27);
	check_near(verdicts[3].p_value, 3003 * 0x1p-27);
	check_near(verdicts[0].excess_ratio, 0.2);
}

/* What counts is how often a rank is late; one step of any length is one step. */
static void often_late(void **state)
{
	(void)state;
	int64_t table[20 * 3];
	struct rank_verdict verdicts[3];

	for (size_t step = 0; step < 20; step++) {
		table[step * 3] = 100;
		table[step * 3 + 1] = step % 5 == 0 ? 90 : 110;
		table[step * 3 + 2] = step == 7 ? 100000 : 101;
	}
	assert_int_equal(judge_table(verdicts, table, 20, 3), TSCOPE_OK);
	/* 15 times position 2 and once (step 7) 1: 31 of 40, as in 5,745,755 of 3²⁰ ways. */
	check_near(verdicts[1].p_value, 3 * 5745755.0 / 3486784401.0);
	check_near(verdicts[1].excess_ratio, 110 / 100.5 - 1);
	assert_true(verdicts[2].p_value == 1 && verdicts[2].excess_ratio < 0);
}

/*
 * Rank 0 is the slower of two in steps 0 … 9 and 18 … 29 of 30, so in 22. If these were
 * independent, that were rare: 2 × P(X ≥ 22 of 30) = 0.016.
 *
 * Relative times are d = 10 ÷ 105 apart. In d, less their mean they are off by 8 ÷ 30 in 22 steps
 * and by 22 ÷ 30 in 8: squares 22 × 64 + 8 × 484 = 5280 (by 900, as all that follows). Neighbours:
 * 9 + 11 pairs of 64, 7 of 484, 2 of −176: 4316. Correlation 4316 ÷ 5280 = 0.81742; as the mean
 * is of the same steps 0.81742 + (1 + 4 × 0.81742) ÷ 30 = 0.95974, so that 30 steps count as
 * 30 × 0.04026 ÷ 1.95974 = 0.6, none: positions prove nothing.
 *
 * Levels are d apart. With a correlation of 0.98 (the most) the mean of 30 steps has
 * 1.98 ÷ 0.02 ÷ 30 − 1.96 × (1 − 0.98³⁰) ÷ (0.02² × 900) = 0.82541 of the variance, what is
 * left within a rank, 5280 ÷ 900 ÷ 30 = 0.19556, the rest: levels vary by
 * 1.2533 × sqrt(0.19556 × 0.82541 ÷ 0.17459) = 1.2051. P(more than 1 ÷ 1.2051) = 0.20332.
 */
static void steps_that_resemble_the_ones_before(void **state)
{
	(void)state;
	int64_t table[30 * 2];
	struct rank_verdict verdicts[2];

	for (size_t step = 0; step < 30; step++) {
		bool is_slow = step < 10 || step >= 18;
		table[step * 2] = is_slow ? 110 : 100;
		table[step * 2 + 1] = is_slow ? 100 : 110;
	}
	assert_int_equal(judge_table(verdicts, table, 30, 2), TSCOPE_OK);
	assert_true(fabs(verdicts[0].p_value - 2 * 0.20332) < 1e-4);
	/* 23 steps, but not on end: all but 1, 5, 9 … 25. Neighbours differ more than by chance. */
	for (size_t step = 0; step < 30; step++) {
		bool is_slow = step % 4 != 1 || step == 29;
		table[step * 2] = is_slow ? 110 : 100;
		table[step * 2 + 1] = is_slow ? 100 : 110;
	}
	assert_int_equal(judge_table(verdicts, table, 30, 2), TSCOPE_OK);
	/* P(X ≥ 23 of 30): 2,804,012 of 2³⁰ ways, for each of the two. */
	check_near(verdicts[0].p_value, 2 * 2804012 * 0x1p-30);
}

/* Two ranks, 1000 ns more or less so much in each step: which is slower, and by how much. */
static double p_value_of(const int *off_ns, size_t step_count)
{
	int64_t table[MAX_STEPS * 2];
	struct rank_verdict verdicts[2];

	for (size_t step = 0; step < step_count; step++) {
		table[step * 2] = 1000 + off_ns[step];
		table[step * 2 + 1] = 1000 - off_ns[step];
	}
	assert_int_equal(judge_table(verdicts, table, step_count, 2), TSCOPE_OK);
	return verdicts[0].p_value;
}

/*
 * A correlation counts from 2.5 ÷ sqrt(29) = 0.4642 on. Rank 0 is the slower of two in 24 of 30
 * steps; the six others come in pairs, with a correlation of 0.4489, or in threes, with 0.685.
 */
static void correlation_beyond_chance(void **state)
{
	(void)state;
	static const char pairs[] = "+++--+++++++--+++++++++--+++++";
	static const char threes[] = "++++---++++++++++---++++++++++";
	int in_pairs[30], in_threes[30];

	for (size_t step = 0; step < 30; step++) {
		in_pairs[step] = pairs[step] == '+' ? 1 : -9;
		in_threes[step] = threes[step] == '+' ? 1 : -9;
	}
	/* P(X ≥ 24 of 30): 768,212 of 2³⁰ ways, for each of the two. */
	check_near(p_value_of(in_pairs, 30), 2 * 768212 * 0x1p-30);
	/* As many as 5 independent steps, 4 of them: 6 of 2⁵ ways. */
	check_near(p_value_of(in_threes, 30), 2 * 6 * 0x1p-5);
}

/*
 * One step is off by 60, where the median distance from the level (5) is 2: it counts as 10, or
 * it would hide how much the others resemble each other. By a second implementation in Python:
 * 0.2952, and were it to count as 8 (4 distances) 0.2685, as 12 0.1079.
 */
static void an_outlier_is_cut(void **state)
{
	(void)state;
	static const int off_ns[] = { 3, 5, 6, 7, 7,  6,  4,  2, 1, 2, 4, 5, 7,  8, 8,
				      6, 5, 3, 1, -2, -3, -2, 1, 3, 4, 6, 7, 60, 6, 5 };

	assert_true(fabs(p_value_of(off_ns, TSI_COUNT_OF(off_ns)) - 0.29519985431794354) < 1e-9);
}

/* As much correlation proves nothing against a rank that is far from the others. */
static void a_steady_rank_among_noise(void **state)
{
	(void)state;
	int64_t table[30 * 3];
	struct rank_verdict verdicts[3];

	/* Ranks 0 and 1 take turns in being 0.01 % slower, for 10 steps; rank 2 is 5 % slower. */
	for (size_t step = 0; step < 30; step++) {
		table[step * 3] = step / 10 == 1 ? 100010 : 100000;
		table[step * 3 + 1] = step / 10 == 1 ? 100000 : 100010;
		table[step * 3 + 2] = 105000;
	}
	assert_int_equal(judge_table(verdicts, table, 30, 3), TSCOPE_OK);
	/* Position 2 of three in each of 30 steps. */
	check_near(verdicts[2].p_value, 3 * pow(3, -30));
	assert_true(verdicts[0].p_value > 0.5 && verdicts[1].p_value > 0.5);
}

static void without_compute_nobody_is_slow(void **state)
{
	(void)state;
	/* Nothing at all; then one rank of three alone: an excess over nothing is not known. */
	static const int64_t nothing[4 * 2] = { 0 };
	static const int64_t one[2 * 3] = { 0, 0, 7, 0, 0, 7 };
	struct rank_verdict verdicts[3];

	assert_int_equal(judge_table(verdicts, nothing, 4, 2), TSCOPE_OK);
	for (size_t rank = 0; rank < 2; rank++) {
		assert_true(isnan(verdicts[rank].excess_ratio));
		assert_true(verdicts[rank].p_value == 1);
		assert_false(tsi_is_slow_rank(&verdicts[rank], 0.01));
	}
	assert_int_equal(judge_table(verdicts, one, 2, 3), TSCOPE_OK);
	assert_true(isnan(verdicts[2].excess_ratio));
	assert_true(verdicts[2].p_value == 1);
}

static void memory_ends(void **state)
{
	(void)state;
	static const struct run run = { { 100, 110, 100 }, 10 };
	struct rank_verdict verdicts[MAX_RANKS];
	size_t n = 1;

	for (;; n++) {
		fail_alloc_at(n);
		enum tscope_status status = judge(verdicts, &run);
		if (!fail_alloc_stop())
			break;
		assert_int_equal(status, TSCOPE_E_NOMEM);
	}
	assert_true(n > 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_slow),
		cmocka_unit_test(excess_and_chance),
		cmocka_unit_test(equal_ranks_share_positions),
		cmocka_unit_test(often_late),
		cmocka_unit_test(steps_that_resemble_the_ones_before),
		cmocka_unit_test(correlation_beyond_chance),
		cmocka_unit_test(an_outlier_is_cut),
		cmocka_unit_test(a_steady_rank_among_noise),
		cmocka_unit_test(without_compute_nobody_is_slow),
		cmocka_unit_test(memory_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
