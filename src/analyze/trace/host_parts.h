/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_HOST_PARTS_H
#define TSCOPE_ANALYZE_TRACE_HOST_PARTS_H

#include "base/arena.h"
#include "timeline/engine_work.h"
#include "timeline/interval.h"
#include "timeline/timeline.h"

/* Host activity in stretches of time, by its main thread. */
struct host_parts {
	int64_t ns[ENGINE_WORK_COUNT]; /* sums to the length of the stretches */
	bool is_known; /* a function or annotation of the thread says what it is for */
};

/* O(rows of the thread). */
struct host_parts tsi_host_parts(const struct tscope_timeline *timeline,
				 const struct interval_set *stretches, struct arena *scratch);

#endif
