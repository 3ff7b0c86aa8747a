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
	size_t name_count = timeline->trace->names.count, capacity = 0;

	*work = (struct step_work){
		.timeline = timeline,
		.names =
			tsi_arena_reserve(arena, NULL, &capacity, name_count, sizeof(*work->names)),
		.pairs = { .arena = arena, .item_bytes = sizeof(struct step_pair) },
	};
	for (uint32_t i = 0; i < timeline->step_count; i++)
		work->unmarked_steps += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
	for (size_t i = 0; work->names && i < name_count; i++)
		work->names[i] = (struct name_work){ .step = NO_ROW };
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
	struct name_work *named = &work->names[name];
	uint32_t pair = tsi_pair_set_add(&work->pairs, name, step);

	if (pair == UINT32_MAX)
		return false;
	named->pair = pair;
	named->step = step;
	return true;
}

static double square_of_excess(int64_t step_ns, int64_t sum_ns, uint32_t step_count)
{
	double excess_ns = (double)step_ns - (double)sum_ns / (double)step_count;

	return excess_ns * excess_ns;
}

void tsi_step_work_settle(struct step_work *work)
{
	uint32_t steps = work->unmarked_steps;

	for (uint32_t i = 0; steps > 1 && i < work->pairs.count; i++) {
		const struct step_pair *pair = tsi_step_pair(work, i);
		struct name_work *name = &work->names[work->pairs.pairs[i].first];
		name->squares += square_of_excess(pair->ns, name->ns, steps);
		name->device_squares += square_of_excess(pair->device_ns, name->device_ns, steps);
		name->step_count++;
	}
}

/* squares: of the steps that have the name. */
static struct tscope_value deviation_of(const struct step_work *work, const struct name_work *name,
					int64_t sum_ns, double squares)
{
	uint32_t steps = work->unmarked_steps;

	if (steps < 2)
		return (struct tscope_value){ 0 };
	squares += (steps - name->step_count) * square_of_excess(0, sum_ns, steps);
	return tsi_int((int64_t)(sqrt(squares / (steps - 1)) + 0.5));
}

struct tscope_value tsi_step_deviation(const struct step_work *work, uint32_t name)
{
	const struct name_work *named = &work->names[name];

	return deviation_of(work, named, named->ns, named->squares);
}

struct tscope_value tsi_device_deviation(const struct step_work *work, uint32_t name)
{
	const struct name_work *named = &work->names[name];

	return deviation_of(work, named, named->device_ns, named->device_squares);
}
