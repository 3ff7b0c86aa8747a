/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_TIMELINE_H
#define TSCOPE_TIMELINE_TIMELINE_H

#include "model/trace.h"
#include "timeline/interval.h"

#include <tscope/timeline.h>

/*
 * The timeline as the analyzers see it. Step i is the window
 * [steps[i].start_ns, steps[i].start_ns + steps[i].wall_ns). Windows touch, but
 * for steps that a range of numbers left out.
 */

/* One device's activity as unions over its streams, over the whole trace. */
struct device_activity {
	struct interval_set compute, comm, copy; /* kernels; comm kernels; copies and fills */
	struct interval_set busy;                /* union of the three */
	int64_t span_start_ns, span_end_ns;      /* first start, last end */
};

struct budget {
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT];
	int64_t compute_phase_ns[PHASE_COUNT]; /* the compute line by phase: sums to it */
};

/* A trace without devices has its budget from the main thread's annotations. */
enum host_line {
	HOST_DATA,
	HOST_FORWARD,
	HOST_BACKWARD,
	HOST_OPTIMIZER,
	HOST_COMM,
	HOST_OTHER,
	HOST_LINE_COUNT,
};

struct host_budget {
	int64_t line_ns[HOST_LINE_COUNT]; /* sums to the step's wall_ns */
};

struct tscope_timeline {
	const struct tscope_trace *trace;
	enum tscope_boundary boundary;
	/* Holds the step markers or, without any, the most work; a thread, or NO_ROW. */
	uint32_t main_track;
	struct tscope_step *steps;
	uint32_t step_count;
	struct device_activity *activity; /* by device index */
	struct budget *budgets;           /* [step * device_count + device] */
	struct host_budget *host_budgets; /* by step; NULL where there are devices */
	/* Work of a step: launched in its window, wherever it ran (design section 5). */
	uint32_t *step_device_events; /* count by step, all devices */
	uint64_t attributed_by_time;  /* device events without launch, put where they start */
};

/* "data", "forward" …: never NULL. */
const char *tsi_host_line_name(enum host_line line);

/* The step whose window holds t, or NO_ROW. O(log steps). */
uint32_t tsi_timeline_step_at(const struct tscope_timeline *timeline, int64_t t_ns);

static inline const struct budget *tsi_timeline_budget(const struct tscope_timeline *timeline,
						       uint32_t step, uint32_t device)
{
	return &timeline->budgets[(size_t)step * timeline->trace->device_count + device];
}

#endif
