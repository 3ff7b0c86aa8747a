/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_HOST_STATE_H
#define TSCOPE_TIMELINE_HOST_STATE_H

#include "timeline/first_use.h"
#include "timeline/idle_cause.h"
#include "timeline/landmarks.h"
#include "timeline/timeline.h"

/*
 * Activity of launching threads while a device waits for them: each thread flattened into pieces of
 * one cause. Nothing else is kept of a thread, so this costs no more than there is idle time to
 * explain.
 *
 *	host     |- aten::linear - |launch| -|   |- loader -|
 *	wanted      [                                  )
 *	pieces      op_overhead               none  data
 */
enum {
	PIECE_CAUSE_BITS = 6,
	PIECE_OP_BITS = 32 - PIECE_CAUSE_BITS,
	/* No capture holds more operators of 1 ms; those behind count as what is around. */
	NO_LONG_OP = (1 << PIECE_OP_BITS) - 1,
};

struct host_piece {
	int64_t start_ns;            /* until the start of the next one */
	uint32_t row;                /* the span that the cause is about, or NO_ROW */
	uint32_t op : PIECE_OP_BITS; /* until settled: the innermost long one, or NO_LONG_OP */
	uint32_t cause : PIECE_CAUSE_BITS; /* enum idle_cause; IDLE_NONE: look at other threads */
};

_Static_assert(IDLE_NONE < 1 << PIECE_CAUSE_BITS, "a piece has room for each cause");

enum { MAX_LAUNCHERS = 64 }; /* threads that are looked at: those that launch most */

struct host_thread {
	uint32_t track;
	uint32_t launch_count;     /* gaps that its launches ended */
	struct host_piece *pieces; /* the last one is IDLE_NONE and has no end */
	size_t count, capacity;
};

/* A row that says why threads are late: on none itself, or on one that launches nothing. */
struct aside {
	int64_t start_ns, end_ns;
	uint32_t row;
	uint8_t cause;
};

struct asides {
	struct aside *items; /* in order, disjoint */
	size_t count;
};

struct host_state {
	const struct tscope_timeline *timeline;
	const struct landmarks *marks;
	struct first_uses *uses;
	struct arena *arena;
	const struct host_kind *kinds;             /* host_kinds.h */
	struct interval_set wanted;                /* nothing is known at other times */
	struct host_thread threads[MAX_LAUNCHERS]; /* the one that launches most first */
	uint32_t thread_count;
	uint8_t *thread_of_track; /* 1 + index; 0: none */
	struct asides overhead;   /* the profiler's own work and lazy loading; or lost calls */
	bool has_lost_calls;
	struct asides peers; /* collectives of backends without kernels, which have threads */
};

/* Flattens state->threads; all above kinds, wanted and the threads' tracks are set. O(rows). */
void tsi_host_state_find(struct host_state *state);

/* asides.c: the landmarks that have a label. Of those that overlap the first has the time. */
struct asides tsi_find_asides(const struct host_state *state, unsigned label);

/*
 * Stretches of a damaged trace in which launching threads go on without the calls that they make
 * elsewhere; none where memory ran out. O(rows).
 */
struct asides tsi_find_lost_calls(const struct host_state *state);

#endif
