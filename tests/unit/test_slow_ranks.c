/* SPDX-License-Identifier: MIT */
/* Which ranks are slow: on steps without noise, where chance can be worked out, and with noise. */
#include "analyze/ranks/slow_ranks.h"

#include <math.h>
#include <string.h>

#include "base/attributes.h"
#include "check.h"
#include "fail_alloc.h"
#include "random_numbers.h"

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
				      size_t step_count, size_t rank_count,
				      struct tscope_error *err)
{
	struct arena arena = { 0 };

	(void)tsi_judge_ranks(verdicts, NULL,
			      &(struct rank_times){ table, step_count, rank_count, 1 }, &arena);
	return tsi_arena_status(&arena, err);
}

static enum tscope_status judge(struct rank_verdict *verdicts, const struct run *run,
				struct tscope_error *err)
{
	int64_t table[MAX_STEPS * MAX_RANKS];
	size_t rank_count = count_ranks(run);

	for (size_t step = 0; step < run->step_count; step++)
		for (size_t rank = 0; rank < rank_count; rank++)
			/* each step longer than the one before, for all */
			table[step * rank_count + rank] =
				run->compute_ns[rank] * (int64_t)(step + 1);
	return judge_table(verdicts, table, run->step_count, rank_count, err);
}

static void check_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
		fail_msg("%.17g, not %.17g", value, expected);
}

TEST(who_is_slow)
{
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
		/* Healthy devices differ by as much. */
		{ "one of 2 %", { { 100, 100, 102, 100, 100, 100, 100, 100 }, 30 }, 0.01, "" },
		/* None masks another. */
		{ "two", { { 110, 100, 100, 100, 100, 112, 100, 100 }, 30 }, 0.01, "05" },
		{ "two of four", { { 150, 100, 100, 180 }, 30 }, 0.01, "03" },
		{ "half", { { 110, 100, 100, 110, 100, 110, 110, 100 }, 30 }, 0.01, "0356" },
		/* More than half: they are the normal ones. */
		{ "three fast", { { 90, 100, 100, 100, 90, 100, 100, 90 }, 30 }, 0.01, "" },
		{ "one fast", { { 90, 100, 100, 100 }, 30 }, 0.01, "" },
		{ "slow and fast", { { 99, 100, 100, 120, 100, 101 }, 30 }, 0.01, "3" },
		/* A spread like theirs has no outlier. */
		{ "a ladder", { { 100, 104, 108, 112, 116, 120 }, 30 }, 0.01, "" },
		{ "two ranks, 13 %", { { 113, 100 }, 30 }, 0.01, "0" },
		{ "two ranks, 8 %", { { 108, 100 }, 30 }, 0.01, "" },
		/* Few steps of few ranks have a noise that is hardly known. */
		{ "two ranks, 2 steps", { { 220, 100 }, 2 }, 0.01, "" },
		{ "two ranks, 1 step", { { 220, 100 }, 1 }, 0.01, "" },
		{ "1 step", { { 100, 150, 100, 100, 100, 100, 100, 100 }, 1 }, 0.01, "1" },
		{ "no step", { { 100, 150 }, 0 }, 0.01, "" },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		struct rank_verdict verdicts[MAX_RANKS];
		char slow[MAX_RANKS + 1] = "", *end = slow;
		assert_int_equal(judge(verdicts, &cases[i].run, NULL), TSCOPE_OK);
		for (size_t rank = 0; rank < count_ranks(&cases[i].run); rank++)
			if (tsi_is_slow_rank(&verdicts[rank], cases[i].min_excess))
				*end++ = (char)('0' + rank);
		if (strcmp(slow, cases[i].slow) != 0)
			fail_msg("%s: \"%s\"", cases[i].what, slow);
	}
}

TEST(excess_by_hand)
{
	static const struct run run = { { 110, 100, 100, 112, 96 }, 4 };
	struct rank_verdict verdicts[MAX_RANKS];

	/*
	 * Levels (by the median, 100): 1.1 1 1 1.12 0.96. Medians of the others:
	 * (1 + 1) ÷ 2, (1 + 1.1) ÷ 2 twice, (1 + 1) ÷ 2, (1 + 1.1) ÷ 2.
	 */
	assert_int_equal(judge(verdicts, &run, NULL), TSCOPE_OK);
	check_near(verdicts[0].excess_ratio, 0.1);
	check_near(verdicts[1].excess_ratio, 1 / 1.05 - 1);
	check_near(verdicts[3].excess_ratio, 0.12);
	check_near(verdicts[4].excess_ratio, 0.96 / 1.05 - 1);
}

/*
 * Two ranks, two steps without noise: levels 0.8 and 1.2, known as (2 − 1) × (2 − 1) = 1 degree of
 * freedom knows 1 % of the faster, 0.008. t = 0.4 ÷ (0.008 × sqrt(1 + 1)) = 35.355; of 1 degree its
 * tail is atan(1 ÷ t) ÷ π, for each of two ranks. From a tail of 0.003 ÷ 2 on it would show: that of
 * t = 1 ÷ tan(0.0015 π), at an excess of t × 0.01 × sqrt(2).
 */
TEST(chance_by_hand)
{
	static const int64_t table[] = { 80, 120, 160, 240 };
	const double pi = 3.14159265358979323846;
	const struct rank_times times = { table, 2, 2, 1 };
	struct rank_verdict verdicts[2];
	struct arena arena = { 0 };
	double shows = tsi_judge_ranks(verdicts, NULL, &times, &arena);

	check_near(verdicts[1].p_value, 2 * atan(sqrt(2) * 0.008 / 0.4) / pi);
	check_near(verdicts[1].excess_ratio, 0.5);
	assert_true(verdicts[0].p_value == 1);
	check_near(shows, 0.01 * sqrt(2) / tan(0.0015 * pi));
	tsi_arena_deinit(&arena);
}

/* ---- stalls ---- */

enum { STALL_STEPS = 20 };

/* A time of 8 ranks in a step that differs from the others' 100. */
struct stall {
	size_t rank, step;
	int64_t ns;
};

/*
 * Levels are 1 and nobody varies: a stall is a time of 111 and more. Of 8 ranks that stall alike
 * one has all of 3 stalls with a chance of 8 ÷ 8³ = 0.0156, all of 4 with 8 ÷ 8⁴.
 */
TEST(who_stalls)
{
	static const struct {
		const char *what;
		struct stall stalls[6]; /* up to the first of 0 ns */
		size_t rank, count;
		int64_t most_ns;
		double excess, p_value;
	} cases[] = {
		{ "3 steps",
		  { { 5, 3, 400 }, { 5, 9, 150 }, { 5, 19, 200 } },
		  5,
		  3,
		  300,
		  1.5,
		  8.0 / 512 },
		{ "4 steps",
		  { { 1, 0, 200 }, { 1, 2, 200 }, { 1, 4, 200 }, { 1, 6, 200 } },
		  1,
		  4,
		  100,
		  1,
		  8.0 / 4096 },
		{ "absurd ones",
		  { { 5, 3, INT64_MAX }, { 5, 9, INT64_MAX }, { 5, 15, INT64_MAX } },
		  5,
		  3,
		  INT64_MAX,
		  (double)INT64_MAX / 100 - 1,
		  8.0 / 512 },
		/* 9 % more are no stall. */
		{ "small ones", { { 5, 3, 109 }, { 5, 9, 109 }, { 5, 15, 109 } }, 0, 0, 0, 0, 1 },
		{ "two steps", { { 5, 3, 400 }, { 5, 9, 400 } }, 0, 0, 0, 0, 1 },
		/* What lasts is one stall: 2 here. */
		{ "in a row", { { 5, 3, 400 }, { 5, 4, 400 }, { 5, 9, 400 } }, 0, 0, 0, 0, 1 },
		{ "another, too",
		  { { 5, 3, 400 }, { 5, 9, 400 }, { 5, 15, 400 }, { 2, 7, 400 } },
		  0,
		  0,
		  0,
		  0,
		  1 },
		/* The whole step is longer for all. */
		{ "nobody", { { 0, 0, 0 } }, 0, 0, 0, 0, 1 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(cases); i++) {
		int64_t table[STALL_STEPS * 8];
		struct rank_verdict verdicts[8];
		struct rank_stalls stalls = { .test_count = 1 };
		struct arena arena = { 0 };

		for (size_t cell = 0; cell < TSI_COUNT_OF(table); cell++)
			table[cell] = 100;
		for (const struct stall *stall = cases[i].stalls; stall->ns > 0; stall++)
			table[stall->step * 8 + stall->rank] = stall->ns;
		(void)tsi_judge_ranks(verdicts, &stalls,
				      &(struct rank_times){ table, STALL_STEPS, 8, 1 }, &arena);
		if (stalls.count != cases[i].count)
			fail_msg("%s: %zu stalls", cases[i].what, stalls.count);
		if (stalls.count > 0) {
			assert_int_equal(stalls.rank, cases[i].rank);
			assert_int_equal(stalls.steps[0], cases[i].stalls[0].step);
			assert_int_equal(stalls.most_ns, cases[i].most_ns);
			check_near(stalls.excess_ratio, cases[i].excess);
			check_near(stalls.p_value, cases[i].p_value);
		}
		tsi_arena_deinit(&arena);
	}
}

/* ---- chance: the bench slow_ranks measures more of it ---- */

enum { RANDOM_STEPS = 100, RANDOM_RANKS = 64, RUNS = 60 };

struct chance {
	size_t rank_count;
	double noise, neighbour, offset, slow; /* the last rank is so much slower */
};

/* Steps resemble the ones before by `neighbour` (AR(1)). */
static void make_table(int64_t *table, const struct chance *chance, uint64_t *random)
{
	double drift_share = sqrt(1 - chance->neighbour * chance->neighbour);

	for (size_t rank = 0; rank < chance->rank_count; rank++) {
		double level = 1 + chance->offset * random_normal(random) +
			       (rank + 1 == chance->rank_count ? chance->slow : 0);
		double off = chance->noise * random_normal(random);

		for (size_t step = 0; step < RANDOM_STEPS; step++) {
			off = chance->neighbour * off +
			      drift_share * chance->noise * random_normal(random);
			table[step * chance->rank_count + rank] =
				(int64_t)(1e8 * level * (1 + off));
		}
	}
}

static void check_chance(const struct chance *chance)
{
	static int64_t table[RANDOM_STEPS * RANDOM_RANKS];
	struct rank_verdict verdicts[RANDOM_RANKS];
	size_t last = chance->rank_count - 1;
	uint64_t random = 1;

	for (size_t run = 0; run < RUNS; run++) {
		make_table(table, chance, &random);
		assert_int_equal(
			judge_table(verdicts, table, RANDOM_STEPS, chance->rank_count, NULL),
			TSCOPE_OK);
		for (size_t rank = 0; rank < last; rank++)
			assert_false(tsi_is_slow_rank(&verdicts[rank], 0.03));
		assert_int_equal(tsi_is_slow_rank(&verdicts[last], 0.03), chance->slow > 0);
	}
}

TEST(healthy_ranks_are_not_blamed_and_slow_ones_are)
{
	static const struct chance chances[] = {
		{ 8, 0.03, 0, 0, 0 },    { 8, 0.03, 0.8, 0.01, 0 }, { 64, 0.01, 0, 0.01, 0 },
		{ 8, 0.03, 0, 0, 0.05 }, { 8, 0.01, 0, 0.01, 0.1 }, { 8, 0.03, 0.8, 0, 0.12 },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(chances); i++)
		check_chance(&chances[i]);
}

TEST(without_compute_nobody_is_slow)
{
	/* Nothing at all; then one rank of three alone: an excess over nothing is not known. */
	static const int64_t nothing[4 * 2] = { 0 };
	static const int64_t one[2 * 3] = { 0, 0, 7, 0, 0, 7 };
	struct rank_verdict verdicts[3];

	assert_int_equal(judge_table(verdicts, nothing, 4, 2, NULL), TSCOPE_OK);
	for (size_t rank = 0; rank < 2; rank++) {
		assert_true(isnan(verdicts[rank].excess_ratio));
		assert_true(verdicts[rank].p_value == 1);
		assert_false(tsi_is_slow_rank(&verdicts[rank], 0.01));
	}
	assert_int_equal(judge_table(verdicts, one, 2, 3, NULL), TSCOPE_OK);
	assert_true(isnan(verdicts[2].excess_ratio));
	assert_true(verdicts[2].p_value == 1);
}

TEST(memory_ends)
{
	static const struct run run = { { 100, 110, 100 }, 10 };
	struct rank_verdict verdicts[MAX_RANKS];

	struct alloc_sweep sweep = { 0 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, judge(verdicts, &run, &sweep.err));
}
