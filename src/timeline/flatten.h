/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_FLATTEN_H
#define TSCOPE_TIMELINE_FLATTEN_H

#include "base/arena.h"
#include "base/attributes.h"

/*
 * Turns the nested spans of a thread into flat segments: what is the thread in
 * at each instant, the innermost span (that which started last) first.
 *
 *	spans      data [0,100)   sync [20,30)
 *	segments   data [0,20)    sync [20,30)    data [30,100)
 *
 * A stack holds the spans that have not ended; time passes from one start or end to the next and
 * belongs to the top of the stack. Spans that cross instead of nesting are no special case: the
 * later one is on top. All inline, and no list of the segments: threads have millions of spans.
 */
struct flat_segment {
	int64_t start_ns, end_ns;
	uint32_t label;
};

struct open_span {
	int64_t end_ns;
	uint32_t label;
};

struct flattener {
	struct arena *arena;    /* remembers whether there was memory */
	struct open_span *open; /* the stack of spans that have not ended at at_ns */
	size_t depth, capacity;
	int64_t at_ns; /* segments are complete up to here */
};

/* Takes the next segment: none is empty, and two of one label may touch. */
typedef void take_segment(void *data, struct flat_segment segment);

static TSI_INLINE void tsi_flatten_pass(struct flattener *flat, int64_t until_ns,
					take_segment *take, void *data)
{
	int64_t start_ns = flat->at_ns;

	if (until_ns <= start_ns)
		return;
	flat->at_ns = until_ns;
	take(data, (struct flat_segment){ start_ns, until_ns, flat->open[flat->depth - 1].label });
}

/* Takes the spans off the stack that end before or at t. */
static TSI_INLINE void tsi_flatten_until(struct flattener *flat, int64_t t_ns, take_segment *take,
					 void *data)
{
	while (flat->depth && flat->open[flat->depth - 1].end_ns <= t_ns) {
		tsi_flatten_pass(flat, flat->open[flat->depth - 1].end_ns, take, data);
		flat->depth--;
	}
}

/* Adds a span that starts no earlier than the one before. Amortised O(1). */
static TSI_INLINE void tsi_flatten_add(struct flattener *flat, struct flat_segment span,
				       take_segment *take, void *data)
{
	tsi_flatten_until(flat, span.start_ns, take, data);
	if (flat->depth)
		tsi_flatten_pass(flat, span.start_ns, take, data);
	flat->at_ns = span.start_ns;
	struct open_span *open = tsi_arena_reserve(flat->arena, flat->open, &flat->capacity,
						   flat->depth + 1, sizeof(*open));
	if (!open)
		return;
	flat->open = open;
	open[flat->depth++] = (struct open_span){ span.end_ns, span.label };
}

/* Ends all spans of a thread. */
static TSI_INLINE void tsi_flatten_end(struct flattener *flat, take_segment *take, void *data)
{
	tsi_flatten_until(flat, INT64_MAX, take, data);
}

#endif
