/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PYTHON_STALLS_H
#define TSCOPE_ANALYZE_TRACE_PYTHON_STALLS_H

#include "base/arena.h"
#include "model/trace/python_name.h"
#include "timeline/timeline.h"

/*
 * Causes that keep threads from the work, by the names of Python functions
 * (model/trace/python_name.h): of calls within each other that have a cause the outermost has the
 * time, so that no instant of a thread has two causes.
 */
struct python_stall {
	int64_t call_count, function_count;
	int64_t total_ns; /* of all threads */
	int64_t main_ns;  /* of the main thread, within the steps */
	uint32_t name;    /* the function that has most of total_ns; id */
	int64_t name_ns;
	uint32_t main_name; /* of main_ns, if that is above 0 */
	int64_t main_name_ns;
};

struct python_thread {
	int64_t call_count;
	int64_t call_ns;  /* in calls that nothing encloses */
	int64_t stall_ns; /* of these, in a stall */
};

struct python_stalls {
	struct python_stall by_work[PYTHON_STALL_COUNT];
	struct python_thread *threads; /* by index of track; [trace->host_track_count] */
	int64_t main_ns;               /* the steps, where there is a main thread */
};

/* Allocates in the arena; threads is NULL or figures are missing without memory. O(rows). */
void tsi_python_stalls_init(struct python_stalls *stalls, const struct tscope_timeline *timeline,
			    struct arena *scratch);

#endif
