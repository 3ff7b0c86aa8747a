/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_H
#define TSCOPE_TIMELINE_H

#include <tscope/trace.h>

/*
 * The step timeline of a trace: the limits of steps, the rule that found them, and each step's
 * wall time divided over the lines of the budget.
 */
struct tscope_timeline;

struct tscope_timeline_options {
	const char *step_marker; /* name of the spans that mark steps; NULL: found by the rules */
	unsigned warmup;         /* further steps to mark at the beginning */
	bool keep_cold;          /* cold steps count */
	bool has_range;          /* only steps with first_step <= number <= last_step */
	int64_t first_step, last_step;
	/*
	 * The batches of a trace, if its place among others shows them (fkat): steps without
	 * numbers get these if there are as many. batch_count 0: unknown.
	 */
	int64_t first_batch, batch_count;
	bool keeps_causes; /* what each instant went to is kept, for drawing */
};

/* How the steps were found: the first rule that applies. */
enum tscope_boundary {
	TSCOPE_BOUNDARY_STEP_MARKER,   /* --step-marker NAME */
	TSCOPE_BOUNDARY_TRAIN_BATCH,   /* Composer's event/train_batch */
	TSCOPE_BOUNDARY_PROFILER_STEP, /* ProfilerStep#N */
	TSCOPE_BOUNDARY_OPTIMIZER,     /* ends of Optimizer.step#… */
	TSCOPE_BOUNDARY_ITERATION,     /* execute_…, step[…] of inference engines */
	TSCOPE_BOUNDARY_WHOLE_TRACE,   /* none: the whole trace is one step */
};

/* "profiler_step" …: stable, never NULL. */
const char *tscope_boundary_name(enum tscope_boundary boundary);

/* Why a step is left out of the statistics, or not. */
enum tscope_step_mark {
	TSCOPE_STEP_COUNTED,
	TSCOPE_STEP_FIRST,      /* holds the profiler's start-up */
	TSCOPE_STEP_WARMUP,     /* --warmup */
	TSCOPE_STEP_COLD,       /* start-up, compilation and first allocations are much of it */
	TSCOPE_STEP_INCOMPLETE, /* cut by the end of the capture */
	TSCOPE_STEP_CAPTURE,    /* of a trace of the capture of graphs: nothing of a run */
	TSCOPE_STEP_UNRECORDED, /* launched kernels that the trace does not hold */
};

/* "", "first", "warmup", "cold", "incomplete", "capture", "unrecorded": never NULL. */
const char *tscope_step_mark_name(enum tscope_step_mark mark);

struct tscope_step {
	int64_t number;
	int64_t start_ns; /* the marker's, on the trace's clock */
	int64_t dur_ns;   /* the marker's own duration */
	int64_t wall_ns;  /* of the window [start, start of the next step or of an evaluation) */
	enum tscope_step_mark mark;
};

/* A step's window divided; in integer ns, the lines sum to wall_ns (per device). */
enum tscope_budget_line {
	TSCOPE_BUDGET_COMPUTE,
	TSCOPE_BUDGET_EXPOSED_COMM,
	TSCOPE_BUDGET_EXPOSED_COPY,
	TSCOPE_BUDGET_DATA_STALL,
	TSCOPE_BUDGET_SYNC_STALL,
	TSCOPE_BUDGET_LAUNCH_STALL,
	TSCOPE_BUDGET_DEVICE_GAP,
	TSCOPE_BUDGET_UNATTRIBUTED,
	TSCOPE_BUDGET_LINE_COUNT,
};

/* "compute", "exposed_comm" …: never NULL. */
const char *tscope_budget_line_name(enum tscope_budget_line line);

/* options may be NULL. The trace must outlive the timeline, which the caller frees. */
enum tscope_status tscope_timeline_build(struct tscope_timeline **ret,
					 const struct tscope_trace *trace,
					 const struct tscope_timeline_options *options,
					 struct tscope_error *err);

void tscope_timeline_free(struct tscope_timeline *timeline);

enum tscope_boundary tscope_timeline_boundary(const struct tscope_timeline *timeline);
uint32_t tscope_timeline_step_count(const struct tscope_timeline *timeline);
struct tscope_step tscope_timeline_step(const struct tscope_timeline *timeline, uint32_t index);

/* ns of a line of a step on the device with this index (0 … device count - 1). */
int64_t tscope_timeline_budget(const struct tscope_timeline *timeline, uint32_t index,
			       uint32_t device, enum tscope_budget_line line);

#endif
