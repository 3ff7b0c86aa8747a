/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_FLATTEN_H
#define TSCOPE_TIMELINE_FLATTEN_H

#include "base/arena.h"

/*
 * Turns the nested spans of a thread into a flat list: what is the thread in
 * at each instant, the innermost span (that which started last) first.
 *
 *	spans      data [0,100)   sync [20,30)
 *	segments   data [0,20)    sync [20,30)    data [30,100)
 */
struct flat_segment {
	int64_t start_ns, end_ns;
	uint32_t label;
};

struct flattener {
	struct arena *arena;           /* of both lists: remembers whether there was memory */
	struct flat_segment *segments; /* sorted, disjoint; neighbours of one label are joined */
	size_t count, capacity;
	struct open_span *open; /* the stack of spans that have not ended at at_ns */
	size_t depth, open_capacity;
	int64_t at_ns; /* segments are complete up to here */
	size_t first;  /* of the current thread's segments */
};

/* Adds a span that starts no earlier than the one before. Amortised O(1). */
void tsi_flatten_add(struct flattener *flat, int64_t start_ns, int64_t end_ns, uint32_t label);

/* Ends all spans of a thread; those of the next one may follow. */
void tsi_flatten_end(struct flattener *flat);

#endif
