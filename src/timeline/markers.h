/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_MARKERS_H
#define TSCOPE_TIMELINE_MARKERS_H

#include "timeline/landmarks.h"
#include "timeline/timeline.h"

/* The markers of one rule on one thread, by start; none lies within another. */
struct markers {
	struct tscope_step *items;
	size_t count, capacity;
	uint32_t track;
	uint32_t nested_count; /* left out within others, though they name steps of their own */
	bool is_numbered;      /* each says its number; else these are their places in the row */
};

/*
 * Makes of the marks of an optimizer one for each step. A model may have several optimizers of one
 * name, which follow each other after one backward pass: their marks become one. Where each
 * parameter has its own, which steps within the backward pass, no mark ends a step. Without a
 * backward pass in the trace nothing is known, and all stay.
 */
void tsi_markers_join_turns(struct markers *markers, const struct landmarks *marks,
			    struct arena *scratch);

/* Do more than half of the outer markers that hold the end of an inner one hold several? */
bool tsi_markers_hold_several(const struct markers *outer, const struct markers *inner);

/*
 * Do the outer markers hide steps, which the inner ones are? They hold several of them and, if the
 * trace shows data loading, fetch about as many batches. (Else these are several optimizers, or
 * passes over one batch, and the outer markers are right.)
 */
bool tsi_markers_hide_steps(const struct markers *outer, const struct markers *inner,
			    const struct landmarks *marks, struct arena *scratch);

#endif
