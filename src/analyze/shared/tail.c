/* SPDX-License-Identifier: MIT */
/*
 * Exact tails, for the analyzer of many ranks. Terms are only ever added, never
 * subtracted from one, so that a chance of 1e-40 has its digits, too.
 */
#include "analyze/shared/tail.h"

#include <math.h>
#include <stdbool.h>

#include "base/ckd.h"

/* Additions (a tenth of a second) up to which the sums of positions are counted out. */
enum { MAX_EXACT_WORK = 1 << 27 };

static const double square_root_of_2 = 1.4142135623730951;

double tsi_binomial_tail(size_t trials, size_t least, double chance)
{
	double odds = chance / (1 - chance), sum = 0;
	double log_term = (double)trials * log1p(-chance); /* of exactly 0 events */

	for (size_t i = 0; i <= trials; i++) {
		if (i >= least)
			sum += exp(log_term);
		log_term += log((double)(trials - i) / (double)(i + 1) * odds);
	}
	return sum < 1 ? sum : 1;
}

static bool is_countable(size_t step_count, size_t rank_count)
{
	size_t work;

	return !tsi_ckd_mul(&work, step_count, step_count) &&
	       !tsi_ckd_mul(&work, work, rank_count) && work <= MAX_EXACT_WORK;
}

/*
 * Adds a step: a sum s comes from any of the sums s - rank_count + 1 … s. From
 * the largest sum downwards, so that the window over these takes up larger terms
 * than it lets go, and in the tail keeps all its digits.
 */
static void add_step(double *chances, size_t largest_sum, size_t rank_count)
{
	double window = 0;

	for (size_t sum = largest_sum + 1; sum-- > 0;) {
		if (sum >= rank_count - 1)
			window += chances[sum - (rank_count - 1)];
		double before = chances[sum];
		chances[sum] = window / (double)rank_count;
		window -= before;
	}
}

void tsi_position_sums_init(struct position_sums *sums, size_t step_count, size_t rank_count,
			    struct arena *arena)
{
	*sums = (struct position_sums){ .step_count = step_count, .rank_count = rank_count };
	if (!is_countable(step_count, rank_count))
		return;

	size_t largest_sum = step_count * (rank_count - 1);
	sums->tails = tsi_arena_new(arena, largest_sum + 1, sizeof(*sums->tails));
	if (!sums->tails)
		return;
	sums->tails[0] = 1;
	for (size_t i = 1; i <= step_count; i++)
		add_step(sums->tails, i * (rank_count - 1), rank_count);
	for (size_t sum = largest_sum; sum-- > 0;)
		sums->tails[sum] += sums->tails[sum + 1];
}

/* Uniform positions end where a normal distribution goes on: its tail errs to the safe side. */
static double normal_tail(const struct position_sums *sums, uint64_t least)
{
	double steps = (double)sums->step_count, ranks = (double)sums->rank_count;
	double mean = steps * (ranks - 1) / 2;
	double deviation = sqrt(steps * (ranks * ranks - 1) / 12);

	return erfc(((double)least - 0.5 - mean) / deviation / square_root_of_2) / 2;
}

double tsi_position_sums_tail(const struct position_sums *sums, uint64_t least)
{
	if (!sums->tails)
		return normal_tail(sums, least);
	if (least > sums->step_count * (sums->rank_count - 1))
		return 0;
	return sums->tails[least] < 1 ? sums->tails[least] : 1;
}
