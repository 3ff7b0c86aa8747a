/* SPDX-License-Identifier: MIT */
#include "analyze/ranks/lateness.h"

#include "analyze/shared/robust.h"

static double median_of_role(const struct lateness *lateness, size_t step, uint32_t role)
{
	const struct rank_roles *roles = &lateness->late->roles;
	size_t count = 0;

	for (size_t rank = 0; rank < roles->rank_count; rank++)
		if (roles->roles[rank] == role)
			lateness->numbers[count++] = tsi_local_in(lateness, step, rank);
	return tsi_median(lateness->numbers, count);
}

bool tsi_lateness_find(struct lateness *lateness, const struct late_ranks *late,
		       const struct step_series *ranks, struct arena *arena)
{
	size_t rank_count = late->rank_count, step_count = late->local.step_count;
	size_t role_count = late->roles.role_count;
	size_t most = rank_count > step_count ? rank_count : step_count;

	*lateness = (struct lateness){ .late = late, .ranks = ranks };
	lateness->usual_ns =
		tsi_arena_new(arena, step_count, role_count * sizeof(*lateness->usual_ns));
	lateness->numbers = tsi_arena_new(arena, most, sizeof(*lateness->numbers));
	if (!lateness->numbers)
		return false;
	for (size_t step = 0; step < step_count; step++)
		for (uint32_t role = 0; role < role_count; role++)
			lateness->usual_ns[step * role_count + role] =
				median_of_role(lateness, step, role);
	return true;
}
