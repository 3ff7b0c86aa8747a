/* SPDX-License-Identifier: MIT */
/*
 * Sums by name and step in one pass. Spans come nearly in the order of time, so a name's step is
 * mostly that of the span before and the sum is found without a search; a hash table knows the
 * others.
 */
#include "analyze/ops/step_work.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/facts.h"
#include "base/array.h"

enum tscope_status tsi_step_work_init(struct step_work *work,
				      const struct tscope_timeline *timeline, struct arena *arena,
				      struct tscope_error *err)
{
	size_t name_count = timeline->trace->names.count;

	*work = (struct step_work){ .timeline = timeline, .pairs.arena = arena };
	for (uint32_t i = 0; i < timeline->step_count; i++)
		work->unmarked_steps += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
	if (tsi_array_new(&work->names, name_count, sizeof(*work->names), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < name_count; i++)
		work->names[i].step = NO_ROW;
	return TSCOPE_OK;
}

void tsi_step_work_deinit(struct step_work *work)
{
	free(work->names);
	free(work->pair_ns);
}

uint32_t tsi_find_counted_step(struct step_work *work, int64_t t_ns)
{
	uint32_t index = tsi_timeline_step_at(work->timeline, t_ns);

	if (index == NO_ROW)
		return NO_ROW;
	const struct tscope_step *step = &work->timeline->steps[index];
	work->start_ns = step->start_ns;
	work->end_ns = step->start_ns + step->wall_ns;
	bool counts = step->mark == TSCOPE_STEP_COUNTED || work->unmarked_steps == 0;
	work->step = counts ? index : NO_ROW;
	return work->step;
}

enum tscope_status tsi_step_pair(struct step_work *work, uint32_t name, uint32_t step,
				 uint32_t *pair, struct tscope_error *err)
{
	size_t known = work->pairs.count;

	if (tsi_pair_set_find(&work->pairs, name, step, pair, err) != TSCOPE_OK ||
	    tsi_array_reserve(&work->pair_ns, &work->pair_capacity, work->pairs.count,
			      sizeof(*work->pair_ns), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (*pair == known)
		work->pair_ns[known] = 0;
	return TSCOPE_OK;
}

enum tscope_status tsi_change_step(struct step_work *work, uint32_t name, uint32_t step,
				   struct tscope_error *err)
{
	struct name_work *of_name = &work->names[name];

	if (tsi_step_pair(work, name, step, &of_name->pair, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	of_name->step = step;
	return TSCOPE_OK;
}

static double mean_step(const struct step_work *work, uint32_t name)
{
	return (double)work->names[name].ns / (double)work->unmarked_steps;
}

void tsi_step_work_settle(struct step_work *work)
{
	if (work->unmarked_steps < 2)
		return;
	for (size_t i = 0; i < work->pairs.count; i++) {
		uint32_t name = work->pairs.pairs[i].first;
		double excess_ns = (double)work->pair_ns[i] - mean_step(work, name);
		work->names[name].squares += excess_ns * excess_ns;
		work->names[name].step_count++;
	}
}

struct tscope_value tsi_step_deviation(const struct step_work *work, uint32_t name)
{
	if (work->unmarked_steps < 2)
		return (struct tscope_value){ 0 };

	double mean_ns = mean_step(work, name);
	uint32_t without = work->unmarked_steps - work->names[name].step_count;
	double squares = work->names[name].squares + without * mean_ns * mean_ns;
	return tsi_int((int64_t)(sqrt(squares / (work->unmarked_steps - 1)) + 0.5));
}
