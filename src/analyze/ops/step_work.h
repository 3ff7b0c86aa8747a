/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_STEP_WORK_H
#define TSCOPE_ANALYZE_OPS_STEP_WORK_H

#include "base/pair_set.h"
#include "base/sum.h"
#include "timeline/timeline.h"

#include <tscope/analysis.h>

/*
 * How often each name (of kernels, of operators) occurs in the steps that count, its time there,
 * and how much that differs from step to step: what two traces of different lengths can be compared
 * by. Steps count that have no mark; where all have one, all count and nothing is said of
 * differences.
 */
struct name_work {
	int64_t count, ns;
	int64_t device_ns;   /* of operators: what they launched themselves */
	uint32_t step, pair; /* where it was added last */
	/* Once settled: the steps that have it, and their squared differences from the mean. */
	uint32_t step_count;
	double squares, device_squares;
};

/* A name's time in one step. */
struct step_pair {
	int64_t ns, device_ns;
};

struct step_work {
	const struct tscope_timeline *timeline;
	uint32_t unmarked_steps;
	/* Window and index (NO_ROW: does not count) of the step that was found last. */
	int64_t start_ns, end_ns;
	uint32_t step;
	struct name_work *names; /* by name id */
	struct pair_set pairs;   /* (name, step): struct step_pair */
};

/* All of it is in the arena; without memory there are no names. */
void tsi_step_work_init(struct step_work *work, const struct tscope_timeline *timeline,
			struct arena *arena);

/* Slow paths of tsi_counted_step_at() and tsi_step_work_add(): the step changed. */
uint32_t tsi_find_counted_step(struct step_work *work, int64_t t_ns);
bool tsi_change_step(struct step_work *work, uint32_t name, uint32_t step); /* false: no memory */

/* The step whose window holds t, or NO_ROW where there is none or it does not count. */
static inline uint32_t tsi_counted_step_at(struct step_work *work, int64_t t_ns)
{
	if (t_ns >= work->start_ns && t_ns < work->end_ns)
		return work->step;
	return tsi_find_counted_step(work, t_ns);
}

static inline struct step_pair *tsi_step_pair(const struct step_work *work, uint32_t pair)
{
	return (struct step_pair *)work->pairs.items + pair;
}

/* ns >= 0 of a name, once, in a step. */
static inline void tsi_step_work_add(struct step_work *work, uint32_t name, uint32_t step,
				     int64_t ns)
{
	struct name_work *named = &work->names[name];

	if (named->step != step && !tsi_change_step(work, name, step))
		return;
	named->count++;
	tsi_sum(&named->ns, ns);
	tsi_sum(&tsi_step_pair(work, named->pair)->ns, ns);
}

/* Once all is added: what deviations are made of. */
void tsi_step_work_settle(struct step_work *work);

/*
 * Sample standard deviation (n - 1) of a name's time per step, in whole ns; steps without it count
 * as 0. Absent below two steps without a mark.
 */
struct tscope_value tsi_step_deviation(const struct step_work *work, uint32_t name);
struct tscope_value tsi_device_deviation(const struct step_work *work, uint32_t name);

#endif
