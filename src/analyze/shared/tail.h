/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_SHARED_TAIL_H
#define TSCOPE_ANALYZE_SHARED_TAIL_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How likely chance alone brings about a count at least this large: exact
 * tails of the two distributions that runs of equal ranks are judged by.
 */

/*
 * That of `trials` independent events, each with this chance (0 < chance < 1), at
 * least `least` happen. O(trials).
 */
double tsi_binomial_tail(size_t trials, size_t least, double chance);

/*
 * The sum of a rank's positions: in each of step_count steps a rank has one of
 * the positions 0 … rank_count - 1 with the same chance.
 */
struct position_sums {
	size_t step_count, rank_count;
	double *tails; /* by sum; NULL: too many, a normal distribution stands in */
};

/* rank_count ≥ 1. O(step_count² × rank_count), bounded by a constant. */
void tsi_position_sums_init(struct position_sums *sums, size_t step_count, size_t rank_count,
			    struct arena *arena);

/* The probability that the sum is at least this. */
double tsi_position_sums_tail(const struct position_sums *sums, uint64_t least);

#endif
