/* SPDX-License-Identifier: MIT */
#include "analyze/ranks/code_place.h"

#include "analyze/shared/robust.h"
#include "comm/world.h"

static const double min_explained = 0.8; /* of the excess */

/* A step of the rank that counts spends so much there. */
static double mean_ns(const struct rank_log *log, const struct rank_place *place)
{
	size_t count = 0;

	for (size_t i = 0; i < log->step_count; i++)
		count += log->steps[i].mark == TSCOPE_STEP_COUNTED;
	return place && count > 0 ? (double)place->total_ns / (double)count : 0;
}

static double usual_ns(const struct world *world, const struct rank_roles *roles, size_t rank,
		       struct str name, double *numbers)
{
	size_t count = 0;

	for (size_t i = 0; i < world->rank_count; i++)
		if (i != rank && roles->roles[i] == roles->roles[rank])
			numbers[count++] =
				mean_ns(&world->logs[i], tsi_rank_log_place(&world->logs[i], name));
	return tsi_median(numbers, count);
}

struct code_place tsi_code_place(const struct analysis_scope *scope, const struct rank_roles *roles,
				 size_t rank, double excess_ns, double *numbers)
{
	const struct rank_log *log = &scope->world->logs[rank];
	struct code_place worst = { .name = { 0 } };

	for (size_t i = 0; i < log->place_count; i++) {
		const struct rank_place *place = &log->places[i];
		struct str name = tsi_intern_text(&log->names, place->name);
		double own_ns = mean_ns(log, place);

		if (own_ns < min_explained * excess_ns)
			continue;
		double others_ns = usual_ns(scope->world, roles, rank, name, numbers);
		if (!(own_ns - others_ns >= min_explained * excess_ns &&
		      own_ns - others_ns > worst.own_ns - worst.usual_ns))
			continue;
		worst = (struct code_place){ name, own_ns, others_ns, place->longest_ns,
					     place->longest_start_ns };
	}
	return worst;
}
