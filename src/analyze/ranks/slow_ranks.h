/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_SLOW_RANKS_H
#define TSCOPE_ANALYZE_RANKS_SLOW_RANKS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which ranks are persistently slower than the others: any number of them up to
 * half. The method, and what it does not claim, is described in slow_ranks.c.
 */
struct rank_verdict {
	double excess_ratio; /* of its level above the median of the others; NaN: unknown */
	/*
	 * Upper bound on the chance that among ranks that are all alike any one is as
	 * often among the slow ones: corrected for the number of ranks.
	 */
	double p_value;
};

/* compute_ns[step * rank_count + rank]; verdicts has room for rank_count (≥ 2). */
void tsi_judge_ranks(struct rank_verdict *verdicts, const int64_t *compute_ns, size_t step_count,
		     size_t rank_count, struct arena *arena);

/* Is it persistent beyond chance, and an excess of at least min_excess_ratio? */
bool tsi_is_slow_rank(const struct rank_verdict *verdict, double min_excess_ratio);

#endif
