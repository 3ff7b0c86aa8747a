/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_STEP_ITERATIONS_H
#define TSCOPE_TIMELINE_STEP_ITERATIONS_H

#include "base/arena.h"
#include "timeline/iteration.h"

#include <tscope/timeline.h>

struct step_iterations {
	struct iteration *by_step; /* tsi_no_iteration() where none is said; NULL: of no step */
	const char *engine;        /* NULL: no mark says it */
};

/* by_step is NULL without memory, too, which the arena says. */
struct step_iterations tsi_step_iterations(const struct tscope_timeline *timeline,
					   struct arena *arena);

#endif
