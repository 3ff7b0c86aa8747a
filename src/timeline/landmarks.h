/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_LANDMARKS_H
#define TSCOPE_TIMELINE_LANDMARKS_H

#include "model/trace/trace.h"

/*
 * The few host spans by which steps and waits are found, out of millions of
 * rows: one pass picks them, and the rest of this folder looks at these only.
 */
enum label {                                /* what a span means by its name or call; flags */
	     LABEL_STEP_MARKER = 1 << 0,    /* named by --step-marker */
	     LABEL_PROFILER_STEP = 1 << 1,  /* ProfilerStep#N */
	     LABEL_TRAIN_BATCH = 1 << 2,    /* Composer's event/train_batch */
	     LABEL_OPTIMIZER_STEP = 1 << 3, /* Optimizer.step#… */
	     LABEL_ITERATION = 1 << 4,      /* one turn of an inference engine */
	     LABEL_DATA = 1 << 5,           /* the thread waits for a data loader */
	     LABEL_SYNC = 1 << 6,           /* the thread waits for a device */
	     LABEL_OVERHEAD = 1 << 7,       /* the profiler's own work */
	     /* Phases of a host-only trace: they make no landmark. */
	     LABEL_FORWARD = 1 << 8,
	     LABEL_BACKWARD = 1 << 9,
	     LABEL_OPTIMIZER = 1 << 10,
	     LABEL_COMM = 1 << 11,
	     LABEL_CALLBACK = 1 << 12,   /* a callback or algorithm of Composer */
	     LABEL_EVALUATION = 1 << 13, /* … and its evaluation, which makes a landmark */
	     LABEL_PEER = 1 << 14,       /* a collective without a kernel, which makes a landmark */
};

enum { LABEL_BITS = 16 }; /* room for all */

struct landmark {
	uint32_t row;
	uint32_t track;
	uint16_t labels; /* of enum label */
};

struct landmarks {
	const struct tscope_trace *trace;
	struct landmark *items; /* in the order of rows */
	size_t count, capacity;
	uint32_t busiest_track; /* with the most host work, or NO_ROW; no backward thread */
	struct str step_marker; /* of --step-marker, may be empty */
	/*
	 * Labels of names already seen: as of an annotation, and above LABEL_BITS as of a function
	 * of Python.
	 */
	uint32_t *by_name;
	bool *waits_by_call; /* calls that came back only after their copy was done */
};

/*
 * step_marker may be NULL. The lists come from `arena`, what is needed meanwhile from `scratch`;
 * both remember whether there was memory. O(rows).
 */
void tsi_landmarks_init(struct landmarks *marks, const struct tscope_trace *trace,
			const char *step_marker, struct arena *arena, struct arena *scratch);

/* Does the call of this row come back only when the device has done something? */
bool tsi_is_wait_call(const struct landmarks *marks, uint32_t row);

/* Labels of a host row by its class and name (LABEL_SYNC, that of calls, is not among them). */
unsigned tsi_labels_of_row(const struct landmarks *marks, uint32_t row);
unsigned tsi_labels_of_kind(const struct landmarks *marks, const struct span_kind *kind);

#endif
