/* SPDX-License-Identifier: MIT */
/*
 * Sums by name and step in one pass. Spans come nearly in the order of time, so a name's step is
 * mostly that of the span before and the sum is found without a search; a hash table knows the
 * others.
 */
#include "analyze/ops/step_work.h"

#include <math.h>

#include "analyze/facts.h"

void tsi_step_work_init(struct step_work *work, const struct tscope_timeline *timeline,
			struct arena *arena)
{
	size_t name_count = timeline->trace->names.count;

	*work = (struct step_work){
		.timeline = timeline,
		.names = tsi_arena_new(arena, name_count, sizeof(*work->names)),
		.pairs = { .arena = arena, .item_bytes = sizeof(int64_t) },
	};
	for (uint32_t i = 0; i < timeline->step_count; i++)
		work->unmarked_steps += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
	for (size_t i = 0; work->names && i < name_count; i++)
		work->names[i].step = NO_ROW;
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

bool tsi_change_step(struct step_work *work, uint32_t name, uint32_t step)
{
	struct name_work *of_name = &work->names[name];
	uint32_t pair = tsi_pair_set_add(&work->pairs, name, step);

	if (pair == UINT32_MAX)
		return false;
	of_name->pair = pair;
	of_name->step = step;
	return true;
}

static double mean_step(const struct step_work *work, uint32_t name)
{
	return (double)work->names[name].ns / (double)work->unmarked_steps;
}

void tsi_step_work_settle(struct step_work *work)
{
	const int64_t *pair_ns = work->pairs.items;

	if (work->unmarked_steps < 2)
		return;
	for (size_t i = 0; i < work->pairs.count; i++) {
		uint32_t name = work->pairs.pairs[i].first;
		double excess_ns = (double)pair_ns[i] - mean_step(work, name);
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
