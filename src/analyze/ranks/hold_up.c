/* SPDX-License-Identifier: MIT */
/*
 * Who held the others up, where too few steps say whether that is its habit: in the steps that
 * were recorded it did, and what that cost can be played back.
 */
#include "analyze/ranks/lateness.h"

/* A step counts in which the rank is late by so much of its most. */
static const double min_share = 0.25;

static size_t rank_count_of(const struct lateness *lateness)
{
	return lateness->late->rank_count;
}

static size_t latest_in(const struct lateness *lateness, size_t step)
{
	size_t latest = 0;

	for (size_t rank = 1; rank < rank_count_of(lateness); rank++)
		if (tsi_late_ns(lateness, step, rank) > tsi_late_ns(lateness, step, latest))
			latest = rank;
	return latest;
}

/* Its lateness in all steps; where it is early the others do not wait. */
static double sum_lateness(const struct lateness *lateness, size_t rank, double *most_ns)
{
	double sum_ns = 0;

	*most_ns = 0;
	for (size_t step = 0; step < lateness->late->local.step_count; step++) {
		double late_ns = tsi_late_ns(lateness, step, rank);

		if (late_ns <= 0)
			continue;
		sum_ns += late_ns;
		*most_ns = late_ns > *most_ns ? late_ns : *most_ns;
	}
	return sum_ns;
}

void tsi_find_hold_up(struct hold_up *hold_up, const struct lateness *lateness, struct arena *arena)
{
	size_t step_count = lateness->late->local.step_count;
	double most_sum_ns = 0;

	*hold_up = (struct hold_up){ .rank = 0 };
	for (size_t rank = 0; rank < rank_count_of(lateness); rank++) {
		double most_ns, sum_ns = sum_lateness(lateness, rank, &most_ns);

		if (sum_ns <= most_sum_ns)
			continue;
		most_sum_ns = sum_ns;
		hold_up->rank = rank;
		hold_up->most_ns = most_ns;
	}
	hold_up->excess_ns = most_sum_ns / (double)step_count;
	hold_up->steps = tsi_arena_new(arena, step_count, sizeof(*hold_up->steps));
	if (!hold_up->steps || most_sum_ns == 0)
		return;
	for (size_t step = 0; step < step_count; step++)
		if (latest_in(lateness, step) == hold_up->rank &&
		    tsi_late_ns(lateness, step, hold_up->rank) >= min_share * hold_up->most_ns)
			hold_up->steps[hold_up->count++] = step;
}
