/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_STEPS_STEP_PARTS_H
#define TSCOPE_ANALYZE_STEPS_STEP_PARTS_H

#include "analyze/steps/step_lines.h"
#include "base/arena.h"

/*
 * Phases of a series' timed steps: their total and their usual time, so that the phase that grew in
 * a slow step can be named.
 */
struct step_part {
	const char *name;
	int64_t sum_ns;    /* over the timed steps */
	int64_t median_ns; /* of them; a step without it counts 0 */
	bool occurs;       /* in a timed step */
};

struct step_parts {
	const struct step_series *steps;
	size_t timed_count;
	int64_t line_median_ns[TSI_STEP_LINE_MAX]; /* over the timed steps that have a budget */
	struct step_part *phases;                  /* enum phase, then other names by their id */
	size_t phase_count;
	size_t next_extra; /* where tsi_step_growth goes on */
};

/* Parts are in the arena. O(steps), with a constant of some dozen. */
void tsi_step_parts_init(struct step_parts *parts, const struct step_series *steps,
			 struct arena *arena);

/*
 * The name of what exceeds its median the most in a record, and by how much: a
 * line of its budget, or a phase where it has none. NULL, 0 where nothing does.
 * To be asked for records in ascending order. The name lives as long as the steps.
 */
const char *tsi_step_growth(struct step_parts *parts, uint32_t record, int64_t *growth_ns);

#endif
