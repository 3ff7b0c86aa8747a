/* SPDX-License-Identifier: MIT */
/*
 * Who held the others up, where too few steps say whether that is its habit: in the steps that
 * were recorded it did, and what that cost can be played back.
 */
#include "analyze/ranks/lateness.h"

#include "analyze/shared/robust.h"

/* A step counts in which the rank is late by so much of its most. */
static const double min_share = 0.25;

static size_t rank_count_of(const struct lateness *lateness)
{
	return lateness->late->rank_count;
}

/* By role: the median of two ranks is half of a late one's lateness, which counts twice. */
static double *find_weights(const struct lateness *lateness, struct arena *arena)
{
	const struct rank_roles *roles = &lateness->late->roles;
	double *weights = tsi_arena_new(arena, roles->role_count, sizeof(*weights));

	for (size_t rank = 0; weights && rank < rank_count_of(lateness); rank++)
		weights[roles->roles[rank]]++;
	for (size_t role = 0; weights && role < roles->role_count; role++)
		weights[role] = weights[role] == 2 ? 2 : 1;
	return weights;
}

static double late_in(const struct lateness *lateness, const double *weights, size_t step,
		      size_t rank)
{
	return weights[lateness->late->roles.roles[rank]] * tsi_late_ns(lateness, step, rank);
}

static size_t latest_in(const struct lateness *lateness, const double *weights, size_t step)
{
	size_t latest = 0;

	for (size_t rank = 1; rank < rank_count_of(lateness); rank++)
		if (late_in(lateness, weights, step, rank) >
		    late_in(lateness, weights, step, latest))
			latest = rank;
	return latest;
}

/* Its lateness in all steps; where it is early the others do not wait. */
static double sum_lateness(const struct lateness *lateness, const double *weights, size_t rank,
			   double *most_ns)
{
	double sum_ns = 0;

	*most_ns = 0;
	for (size_t step = 0; step < lateness->late->local.step_count; step++) {
		double late_ns = late_in(lateness, weights, step, rank);

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
	double most_sum_ns = 0, *weights = find_weights(lateness, arena);

	*hold_up = (struct hold_up){ .rank = 0 };
	if (!weights)
		return;
	for (size_t rank = 0; rank < rank_count_of(lateness); rank++) {
		double most_ns, sum_ns = sum_lateness(lateness, weights, rank, &most_ns);

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
		if (latest_in(lateness, weights, step) == hold_up->rank &&
		    late_in(lateness, weights, step, hold_up->rank) >= min_share * hold_up->most_ns)
			hold_up->steps[hold_up->count++] = step;
}

static double compute_ns_of(const struct local_time *local, size_t rank)
{
	return (double)local->line_ns[rank * TSCOPE_BUDGET_LINE_COUNT + TSCOPE_BUDGET_COMPUTE];
}

bool tsi_is_late_by_device(const struct hold_up *hold_up, const struct lateness *lateness)
{
	const struct local_time *local = &lateness->late->local;
	const struct rank_roles *roles = &lateness->late->roles;
	size_t count = 0, own = hold_up->rank;

	if (lateness->ranks[own].device_count == 0)
		return false;
	for (size_t rank = 0; rank < local->rank_count; rank++)
		if (rank != own && roles->roles[rank] == roles->roles[own])
			lateness->numbers[count++] = compute_ns_of(local, rank);
	double excess_ns = compute_ns_of(local, own) - tsi_median(lateness->numbers, count);
	return count > 0 && 2 * excess_ns > hold_up->excess_ns * (double)local->step_count;
}
