/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_TIMELINE_H
#define TSCOPE_TIMELINE_TIMELINE_H

#include "model/trace/trace.h"
#include "timeline/capture_trace.h"
#include "timeline/idle_cause.h"
#include "timeline/interval.h"

#include <tscope/timeline.h>

/*
 * The timeline as the analyzers see it. Step i is the window
 * [steps[i].start_ns, steps[i].start_ns + steps[i].wall_ns). Windows touch, but
 * for steps that a range of numbers left out and evaluations, which are in none.
 */

/* One device's activity as unions over its streams, by kind, over the whole trace. */
struct device_activity {
	struct interval_set compute, comm, copy; /* kernels; comm kernels; copies and fills */
	int64_t busy_ns;                         /* length of the union of the three */
	int64_t span_start_ns, span_end_ns;      /* first start, last end */
};

struct budget {
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT];
	int64_t compute_phase_ns[PHASE_COUNT]; /* the compute line by phase: sums to it */
	int64_t idle_ns[IDLE_CAUSE_COUNT];     /* the idle lines by cause: sum to them */
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

/*
 * Parts of a line or a cause: time of the counted steps on all devices, added up by who had it. The
 * parts of a line sum to it; the words for them are analyze_breakdown.c's.
 */
struct time_part {
	int64_t ns;
	uint32_t count; /* pieces of time */
	uint32_t row;   /* the first that belongs to the part, or NO_ROW: nobody is to be named */
};

struct line_parts {
	struct time_part *items; /* in no order that means anything */
	size_t count, capacity;
};

/* A stretch of time in which a device ran nothing. */
struct long_gap {
	int64_t start_ns, end_ns;
	uint32_t device; /* index */
	uint32_t event;  /* row of what ends it, or NO_ROW */
	uint8_t cause;   /* enum idle_cause: that of the largest part */
	int64_t cause_ns;
	uint32_t track; /* the thread that says so, or NO_ROW */
	uint32_t row;   /* what that was in, where it is known; or NO_ROW */
	int64_t at_ns;  /* the middle of the longest piece of it */
};

enum { MAX_LONG_GAPS = 20 };

/* A stretch of time and the line it was charged to. */
struct line_piece {
	int64_t start_ns, end_ns;
	uint8_t line; /* enum tscope_budget_line, or enum host_line where there are no devices */
	/* enum phase of TSCOPE_BUDGET_COMPUTE; enum idle_cause of idle lines if kept; else 0. */
	uint8_t phase;
};

enum { MAX_PIECE_PASSES = 6 }; /* of a host: a line each */

/*
 * Disjoint pieces, pass behind pass as the budget is computed: those of a pass are in order, and
 * neighbours of one kind are joined. A piece_cursor goes over all in order (pieces.h).
 */
struct line_pieces {
	struct line_piece *items;
	size_t count, capacity;
	size_t pass_ends[MAX_PIECE_PASSES]; /* where in items the next begins */
	unsigned pass_count;
};

/*
 * Where parts are kept: the busy lines by enum tscope_budget_line, then the idle ones by cause;
 * without devices the lines of the host.
 */
enum {
	TSI_IDLE_SLOT = TSCOPE_BUDGET_DATA_STALL,
	TSI_PART_SLOTS = TSI_IDLE_SLOT + IDLE_CAUSE_COUNT,
};

_Static_assert((int)HOST_LINE_COUNT <= (int)TSI_PART_SLOTS, "room for the lines of the host");

/* The line that a slot is part of, of a trace with devices. */
static inline enum tscope_budget_line tsi_line_of_slot(unsigned slot)
{
	return slot < TSI_IDLE_SLOT ? (enum tscope_budget_line)slot
				    : tsi_line_of_cause((enum idle_cause)(slot - TSI_IDLE_SLOT));
}

struct landmarks; /* landmarks.h */

struct tscope_timeline {
	struct arena arena, scratch; /* of all that is here; of the stage that builds it */
	const struct tscope_trace *trace;
	struct landmarks *marks; /* the few host spans that it was made of */
	enum tscope_boundary boundary;
	bool is_numbered; /* the marks say the steps' numbers; else these count from 0 */
	/* Holds the step markers or, without any, the most work; a thread, or NO_ROW. */
	uint32_t main_track;
	struct tscope_step *steps;
	uint32_t step_count;
	struct device_activity *activity; /* by device index */
	struct budget *budgets;           /* [step * device_count + device] */
	/* By step; NULL where there are devices, or several workers of which none is the step's. */
	struct host_budget *host_budgets;
	struct line_parts parts[TSI_PART_SLOTS];
	uint32_t nested_count;  /* marks of other steps within a step: they bound none */
	uint32_t overlap_count; /* marks that end after the next one begins: which is right? */
	bool is_all_cold;       /* every step that would count is cold: they do count */
	struct long_gap long_gaps[MAX_LONG_GAPS]; /* on any device, the longest first */
	uint32_t long_gap_count;
	/*
	 * By device index, or one for the main thread where there are none: the budgets of the
	 * steps piece by piece. NULL where nobody wants them, and in a trace without communication,
	 * which has no use for them.
	 */
	struct line_pieces *pieces;
	bool wants_pieces, keeps_causes;
	/* Work of a step: launched in its window, wherever it ran (design section 5). */
	uint32_t *step_device_events; /* count by step, all devices */
	uint64_t attributed_by_time;  /* device events without launch, put where they start */
	struct captured_launches captured;
	struct interval_set
		lost_work; /* times in which devices may have run what the trace lacks */
	bool lacks_work;   /* steps that count lack work, since all that would count do */
};

/* tscope_timeline_build(), with the pieces of the budgets where they are wanted (rank_log.h). */
TSI_MUST_CHECK
enum tscope_status tsi_timeline_build(struct tscope_timeline **ret,
				      const struct tscope_trace *trace,
				      const struct tscope_timeline_options *options,
				      bool wants_pieces, struct tscope_error *err);

/* Several workers in one file, without devices: no line or phase is that of the step. */
static inline bool tsi_timeline_has_several_workers(const struct tscope_timeline *timeline)
{
	return !timeline->host_budgets && timeline->trace->device_count == 0;
}

/* "data", "forward" …: never NULL. */
const char *tsi_host_line_name(enum host_line line);

/* The step whose window holds t, or NO_ROW. O(log steps). */
uint32_t tsi_timeline_step_at(const struct tscope_timeline *timeline, int64_t t_ns);

/* tsi_timeline_step_at(), O(1) if the answer is as the last time: *step, 0 at first. */
static inline uint32_t tsi_timeline_step_near(const struct tscope_timeline *timeline, int64_t t_ns,
					      uint32_t *step)
{
	if (*step < timeline->step_count) {
		const struct tscope_step *last = &timeline->steps[*step];
		if (last->start_ns <= t_ns && t_ns < last->start_ns + last->wall_ns)
			return *step;
	}
	uint32_t found = tsi_timeline_step_at(timeline, t_ns);
	if (found != NO_ROW)
		*step = found;
	return found;
}

/*
 * When a device event was launched, or, without a known launch, started: it is the work of that
 * step.
 */
int64_t tsi_timeline_launch_time(const struct tscope_trace *trace, uint32_t row);

/*
 * The collective that a part of a line of communication stands for; NULL of other lines, and
 * where nothing is known of it.
 */
const struct collective *tsi_part_collective(const struct tscope_trace *trace, unsigned slot,
					     uint32_t row);

/* Length of timeline->pieces, if there are any. */
static inline uint32_t tsi_piece_list_count(const struct tscope_timeline *timeline)
{
	return timeline->trace->device_count > 0 ? timeline->trace->device_count : 1;
}

static inline const struct budget *tsi_timeline_budget(const struct tscope_timeline *timeline,
						       uint32_t step, uint32_t device)
{
	return &timeline->budgets[(size_t)step * timeline->trace->device_count + device];
}

#endif
