/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_BUILD_H
#define TSCOPE_TIMELINE_BUILD_H

#include "timeline/landmarks.h"
#include "timeline/timeline.h"

/*
 * The stages of tscope_timeline_build(), in their order; each fills its part of the timeline.
 * Lasting data comes from timeline->arena, temporary data from timeline->scratch; these remember
 * whether there was memory.
 */

/* boundary.c: the rule, the main track, and each step's number, start_ns and dur_ns. */
void tsi_timeline_find_steps(struct tscope_timeline *timeline);

/* steps.c: wall_ns of each step, the device events launched in it, and its mark. */
void tsi_timeline_finish_steps(struct tscope_timeline *timeline, unsigned warmup);

/*
 * lost_work.c: timeline->lost_work, and by step whether the trace lacks too much of its work: of
 * timeline->scratch, NULL without memory. O(calls) where a launch has no kernel, else O(steps).
 */
const bool *tsi_find_lost_work(struct tscope_timeline *timeline);

/* steps.c: drops the steps outside first … last. TSCOPE_E_EMPTY if none is left. */
TSI_MUST_CHECK
enum tscope_status tsi_timeline_keep_range(struct tscope_timeline *timeline, int64_t first,
					   int64_t last, struct tscope_error *err);

/* steps.c: of a slice, drops the steps that only stand beside those that were asked for. */
void tsi_timeline_keep_slice(struct tscope_timeline *timeline);

/* activity.c: the unions of each device. */
void tsi_timeline_find_activity(struct tscope_timeline *timeline);

/*
 * device_budget.c: the budgets, from the activity and what the threads are inside of; marks cold
 * steps, unless keep_cold. TSCOPE_E_LIMIT.
 */
TSI_MUST_CHECK
enum tscope_status tsi_timeline_find_device_budget(struct tscope_timeline *timeline, bool keep_cold,
						   struct tscope_error *err);

/* cold.c: marks cold steps by their budgets. True if there are some. */
bool tsi_timeline_mark_cold(struct tscope_timeline *timeline);

/* host_budget.c: the budgets of a trace without devices. */
void tsi_timeline_find_host_budget(struct tscope_timeline *timeline);

/*
 * Cuts pieces of time at the borders of the steps; what lies in no step is
 * left out. The pieces must come in order.
 *
 *	tsi_cut(&cutter, start_ns, end_ns);
 *	while (tsi_cut_next(&cutter, &step, &length_ns))
 *		…
 */
struct step_cutter {
	const struct tscope_timeline *timeline;
	uint32_t step; /* the first that may hold time of this piece */
	int64_t start_ns, end_ns;
};

static inline void tsi_cut(struct step_cutter *cutter, int64_t start_ns, int64_t end_ns)
{
	cutter->start_ns = start_ns;
	cutter->end_ns = end_ns;
}

/* steps.c: tsi_cut_next() where what is left of the piece is not all of one step. */
bool tsi_cut_rest(struct step_cutter *cutter, uint32_t *step, int64_t *length_ns);

/*
 * The next part of the piece, in *step, of length_ns > 0; false: that was all. Most pieces lie
 * in the step of the one before.
 */
static inline bool tsi_cut_next(struct step_cutter *cutter, uint32_t *step, int64_t *length_ns)
{
	if (cutter->start_ns >= cutter->end_ns)
		return false;
	if (tsi_unlikely(cutter->step >= cutter->timeline->step_count))
		return false;
	const struct tscope_step *window = &cutter->timeline->steps[cutter->step];
	if (tsi_unlikely(cutter->start_ns < window->start_ns ||
			 cutter->end_ns > window->start_ns + window->wall_ns))
		return tsi_cut_rest(cutter, step, length_ns);
	*step = cutter->step;
	*length_ns = cutter->end_ns - cutter->start_ns;
	cutter->start_ns = cutter->end_ns;
	return true;
}

#endif
