/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_SLOW_RANKS_H
#define TSCOPE_ANALYZE_RANKS_SLOW_RANKS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Which ranks stand out as slower than the others: any number of them up to
 * half. The method, and what it does not claim, is described in slow_ranks.c.
 */
struct rank_verdict {
	double excess_ratio; /* of its level above the median of the others; NaN: unknown */
	/* Chance that among healthy ranks, which differ a little, any is as far off the others. */
	double p_value;
};

enum { NO_RANK_TIME = -1 }; /* the rank lacks the step */

struct rank_times {
	const int64_t *ns;             /* [step * rank_count + rank] */
	size_t step_count, rank_count; /* rank_count ≥ 2 */
	double test_count;             /* p-values are corrected for so many such tables; ≥ 1 */
};

/* The rank that is like the others but for a few steps, which take it far longer. */
struct rank_stalls {
	double test_count; /* given, as that of the times: tables of which each may name one */
	size_t rank;
	size_t *steps, count; /* ascending; 0: there is no such rank */
	int64_t most_ns;      /* the longest, beyond the rank's usual time */
	double excess_ratio;  /* of these steps by the rank's usual time, mean */
	double p_value;       /* chance that of ranks that stall alike any does so that often */
};

/*
 * verdicts has room for rank_count. Returns the least excess ratio that would have been
 * distinguished from chance; INFINITY: none would. stalls may be NULL; what it has is the arena's.
 */
double tsi_judge_ranks(struct rank_verdict *verdicts, struct rank_stalls *stalls,
		       const struct rank_times *times, struct arena *arena);

/* Does it stand out beyond chance, with an excess of at least min_excess_ratio? */
bool tsi_is_slow_rank(const struct rank_verdict *verdict, double min_excess_ratio);

#endif
