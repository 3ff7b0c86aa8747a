/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_PATH_WALK_H
#define TSCOPE_ANALYZE_TRACE_PATH_WALK_H

#include "base/arena.h"
#include "timeline/timeline.h"

/*
 * The critical path of one rank: the chain of causes that leads to the end of the last
 * step that counts, walked backward from there, without a graph.
 *
 *	device event    ran; before it the device was slow to begin after the event that it
 *	                had waited for, or, where it was launched later than that, the launch
 *	                took its time, and the chain goes on at the launch call
 *	host thread     the innermost span has the time; a call that came back when the
 *	                device had finished leads to the event that it waited for, and the
 *	                idle time of a thread to the thread that worked meanwhile
 *
 * The steps are windows on this one chain, so that a device that is steps behind its host is
 * what bounds them. Where the cause of a late event is unknown the chain has a hole.
 */
enum path_line {
	PATH_COMPUTE,
	PATH_COMM,
	PATH_COPY,
	PATH_LAUNCH,     /* from a launch call to the start of what it launched */
	PATH_DEVICE_GAP, /* from the end of what an event had waited for to its start */
	PATH_HOST,
	PATH_DATA, /* the thread waits for a data loader */
	PATH_LINE_COUNT,
};

/* A piece of the chain in a step that counts. */
struct path_piece {
	int64_t start_ns, end_ns;
	/*
	 * Row of the work: a device event, the innermost span of a thread or the span that loads
	 * data; of a launch or gap the event behind it. NO_ROW: the host was in no span with a
	 * name.
	 */
	uint32_t row;
	uint8_t line; /* enum path_line */
};

/* Takes the pieces. They do not overlap, and come in no order that means anything. */
struct path_sink {
	void (*take)(struct path_sink *sink, const struct path_piece *piece);
};

/* O(rows of the trace), whatever they are. */
void tsi_path_walk(const struct tscope_timeline *timeline, struct path_sink *sink,
		   struct arena *scratch);

#endif
