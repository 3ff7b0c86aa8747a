/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_LOST_WORK_H
#define TSCOPE_TIMELINE_LOST_WORK_H

#include "timeline/interval.h"

struct tscope_timeline;

/*
 * Kernels that were launched and are not in the trace, though others are. CUPTI may stamp the first
 * records of a session with times of another clock, and PyTorch's profiler drops them; a buffer
 * that is full loses some, too. Launches into a graph that is captured have none.
 */
struct lost_work {
	struct interval_set times; /* devices may have run it */
	bool *is_in_step; /* by step, while they are marked: it lacks too much of its work */
};

/* O(calls) where a launch has no kernel, else O(1). */
struct lost_work tsi_find_lost_work(struct tscope_timeline *timeline);

#endif
