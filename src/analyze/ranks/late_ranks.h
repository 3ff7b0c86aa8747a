/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LATE_RANKS_H
#define TSCOPE_ANALYZE_RANKS_LATE_RANKS_H

#include "analyze/ranks/local_time.h"
#include "analyze/ranks/rank_roles.h"
#include "analyze/ranks/rank_steps.h"
#include "analyze/ranks/slow_ranks.h"

/*
 * Which ranks make the others wait, step after step or by stalls now and then: by what they compute
 * and, where traces show it, by their local time. Each rank is compared with those of its role
 * only. A rank whose lateness costs the job next to nothing is not late.
 */
struct late_rank {
	struct rank_verdict compute, local; /* local: NaN and 1 where it is not known */
	bool is_late;
	bool is_by_local; /* local time shows the larger excess, or the only one */
	/* It is late in these steps only; NULL: in all. */
	const struct rank_stalls *stalls;
	int64_t gain_ns; /* of a late one: what it costs a step while nobody else is late */
};

struct late_gain {
	int64_t step_ns; /* the mean step that the gain is of */
	int64_t gain_ns; /* what a step wins if all late ranks were like the median of the others */
	bool is_simulated; /* by the replay; else recomputed from the steps' times */
};

struct late_ranks {
	struct rank_roles roles;
	struct local_time local;
	struct late_rank *ranks;
	struct rank_stalls *stalls;   /* by role */
	const int64_t *stall_numbers; /* of the steps that stalls are looked for in */
	size_t stall_step_count;      /* how many these are */
	size_t rank_count;
	size_t peerless_count;   /* ranks without another of their role: nothing is said of these */
	double detectable_ratio; /* least excess that would have shown on any other; or INFINITY */
	struct late_gain gain;
};

/* steps: those of scope->ranks. False without memory. */
TSI_MUST_CHECK
bool tsi_late_ranks_find(struct late_ranks *late, const struct analysis_scope *scope,
			 const struct rank_steps *steps, struct arena *arena);

/* Late, in this step of those that stalls are looked for in? */
bool tsi_is_late_in(const struct late_rank *rank, size_t step);

/* The verdict that a late rank is late by. */
static inline const struct rank_verdict *tsi_late_verdict(const struct late_rank *rank)
{
	return rank->is_by_local ? &rank->local : &rank->compute;
}

#endif
