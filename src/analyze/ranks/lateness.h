/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LATENESS_H
#define TSCOPE_ANALYZE_RANKS_LATENESS_H

#include "analyze/ranks/late_ranks.h"

/*
 * How late each rank was in each step: its local time above the median of its role, so that stages
 * of a pipeline that have more to do are not late.
 */
struct lateness {
	const struct late_ranks *late;
	const struct step_series *ranks;
	double *usual_ns; /* [step * role_count + role]: median of local time */
	double *numbers;  /* room for one of each rank or step */
};

/* False without memory. */
TSI_MUST_CHECK
bool tsi_lateness_find(struct lateness *lateness, const struct late_ranks *late,
		       const struct step_series *ranks, struct arena *arena);

/* step: index in late->local. */
static inline double tsi_local_in(const struct lateness *lateness, size_t step, size_t rank)
{
	const struct local_time *local = &lateness->late->local;

	return (double)local->local_ns[step * local->rank_count + rank];
}

static inline double tsi_usual_in(const struct lateness *lateness, size_t step, size_t rank)
{
	const struct rank_roles *roles = &lateness->late->roles;

	return lateness->usual_ns[step * roles->role_count + roles->roles[rank]];
}

/* Negative: early. */
static inline double tsi_late_ns(const struct lateness *lateness, size_t step, size_t rank)
{
	return tsi_local_in(lateness, step, rank) - tsi_usual_in(lateness, step, rank);
}

/* The rank that is late by most, all steps together, and those in which the others wait for it. */
struct hold_up {
	size_t rank;
	size_t *steps, count; /* indices in late->local: it is the latest there, by much */
	double most_ns,
		excess_ns; /* its most lateness of a step; the mean of all steps, early ones 0 */
};

/*
 * Does its device compute for most of that longer? Then its host waits for the device, wherever
 * that is. Uses lateness->numbers.
 */
bool tsi_is_late_by_device(const struct hold_up *hold_up, const struct lateness *lateness);

/* Without memory, and where all ranks are alike, count is 0. */
void tsi_find_hold_up(struct hold_up *hold_up, const struct lateness *lateness,
		      struct arena *arena);

#endif
