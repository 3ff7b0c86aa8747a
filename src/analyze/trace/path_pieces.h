/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PATH_PIECES_H
#define TSCOPE_ANALYZE_TRACE_PATH_PIECES_H

#include "analyze/trace/path_walk.h"

/* Cuts a chain that is walked backward at the borders of the steps that count. */
struct path_cutter {
	const struct tscope_timeline *timeline;
	uint32_t step;          /* steps [0, step) may hold what is still to come */
	struct interval window; /* the last of them; without length if it does not count */
};

void tsi_path_cutter_init(struct path_cutter *cutter, const struct tscope_timeline *timeline,
			  uint32_t end_step);

/*
 * Takes the last part of `left` that lies in a step that counts off it, and puts it into
 * `part`; false: nothing is left. No time comes that is later than what came before.
 *
 *	struct interval left = { start_ns, end_ns }, part;
 *	while (tsi_path_cut(&cutter, &left, &part))
 *		…
 */
bool tsi_path_cut(struct path_cutter *cutter, struct interval *left, struct interval *part);

/* Does a piece lie in the step that the one before lay in, and does that count? It needs no cut. */
static inline bool tsi_path_is_whole(const struct path_cutter *cutter, int64_t start_ns,
				     int64_t end_ns)
{
	return start_ns >= cutter->window.start_ns && end_ns <= cutter->window.end_ns;
}

#endif
