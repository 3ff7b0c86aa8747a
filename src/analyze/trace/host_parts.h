/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_HOST_PARTS_H
#define TSCOPE_ANALYZE_TRACE_HOST_PARTS_H

#include "base/arena.h"
#include "timeline/engine_work.h"
#include "timeline/timeline.h"

struct time_range {
	int64_t start_ns, end_ns;
};

/* Host activity in stretches of time, by its main thread. */
struct host_parts {
	int64_t ns[ENGINE_WORK_COUNT]; /* sums to the length of the stretches */
	bool is_known; /* a function or annotation of the thread says what it is for */
};

/* The stretches ascend and are disjoint. O(rows of the thread). */
struct host_parts tsi_host_parts(const struct tscope_timeline *timeline,
				 const struct time_range *ranges, size_t count,
				 struct arena *scratch);

#endif
