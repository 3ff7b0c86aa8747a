/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_WAITS_H
#define TSCOPE_TIMELINE_WAITS_H

#include "timeline/flatten.h"
#include "timeline/landmarks.h"

/* When each host thread waits for a data loader or a device. */
struct waits {
	struct flattener flat;  /* segments labelled with the row, thread after thread */
	size_t *first_of_track; /* of thread i: segments [first[i], first[i + 1]) */
};

/* The arena remembers whether there was memory. O(landmarks + tracks). */
void tsi_waits_init(struct waits *waits, const struct landmarks *marks, struct arena *arena);

/*
 * The innermost wait that the thread (NO_ROW: none) is in at *start_ns, which
 * moves on to where that ends, or to end_ns: the row of a data loader's span or
 * of a call that synchronises, or NO_ROW. O(log waits).
 */
uint32_t tsi_waits_next(const struct waits *waits, uint32_t track, int64_t *start_ns,
			int64_t end_ns);

#endif
