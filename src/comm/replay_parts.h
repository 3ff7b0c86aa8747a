/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_REPLAY_PARTS_H
#define TSCOPE_COMM_REPLAY_PARTS_H

#include "base/sum.h"
#include "comm/latch.h"
#include "comm/replay.h"

/* Shared by the files of the replay. */

/* Finds the steps that all ranks have and that count, and where each rank begins. */
void tsi_replay_find_steps(struct replay_graph *graph);

/*
 * Finds what each op of a rank comes after on that rank, and its lag. pairs and scratch are room
 * for its ops.
 */
void tsi_replay_join_streams(struct replay_graph *graph, size_t rank, struct sort_pair *pairs,
			     struct sort_pair *scratch);

/*
 * Finds with whom each op that is matched ends. pairs and scratch are room for the members of a
 * match.
 */
void tsi_replay_join_matches(struct replay_graph *graph, struct sort_pair *pairs,
			     struct sort_pair *scratch);

/* Finds where members of a group go on together, and takes their waits off their local time. */
void tsi_replay_find_barriers(struct replay_graph *graph);

/* Has it a part in the graph? */
static inline bool tsi_is_played(const struct replay_link *link)
{
	return link->ready_end > 0;
}

/* A time that an input chose, so much later: saturates. */
static inline int64_t tsi_later(int64_t time_ns, int64_t by_ns)
{
	tsi_sum_signed(&time_ns, by_ns);
	return time_ns;
}

static inline int64_t tsi_later_of(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Durations of whole files are not negative; those of hostile ones count as none. */
static inline int64_t tsi_replay_duration_of(const struct rank_op *op)
{
	return tsi_later_of(op->dur_ns, 0);
}

static inline int64_t tsi_replay_end_of(const struct rank_op *op)
{
	return tsi_later(op->start_ns, tsi_replay_duration_of(op));
}

/* Does a step begin or the last one of a window end? */
static inline bool tsi_is_step_bound(const struct rank_point *point)
{
	return point->kind == RANK_POINT_STEP || point->kind == RANK_POINT_END;
}

/* A time by a factor: saturates. */
static inline int64_t tsi_scale(int64_t ns, double by)
{
	double scaled = (double)ns * by;

	if (by == 1)
		return ns;
	return scaled < 0x1p62 ? (int64_t)(scaled + 0.5) : INT64_MAX;
}

/* ---- while it is played ---- */

enum replay_op_state {
	REPLAY_OP_READY = 1 << 0,
	REPLAY_OP_BEGUN = 1 << 1,
	REPLAY_OP_ENDED = 1 << 2,
};

/* Where a rank is. */
struct replay_rank_run {
	size_t next;       /* the point that it goes to */
	size_t wait_at;    /* the next of its waits */
	int64_t work_ns;   /* until then it worked or waited */
	int64_t floor_ns;  /* not before it may go on from its standstill, */
	uint32_t floor_op; /* because of this op of its log */
	uint32_t awaits;   /* the op (by number) that it cannot go on without, or NO_ROW */
	size_t still_from; /* the first point of the standstill */
	bool is_there;     /* its local work up to the next point is done */
	bool has_come;     /* to the barrier before the next point */
};

/* How far a barrier is. */
struct replay_barrier_run {
	uint32_t come;   /* members that have */
	int64_t last_ns; /* when the last of them had done its work */
	bool is_open;    /* nobody waits any more */
};

/* How far a match is. */
struct replay_match_run {
	uint32_t begun, ended; /* of those by start, of those by end */
	uint32_t last;         /* of those that have begun, the op that was last */
	int64_t last_ns;       /* when */
};

struct replay_run {
	const struct replay_graph *graph;
	const struct replay_change *change;
	struct replay *replay;
	struct replay_rank_run *ranks;
	struct replay_match_run *matches;
	struct replay_barrier_run *barriers;
	uint8_t *states; /* by number of the op: enum replay_op_state */
	uint32_t *below; /* by number of the op: the one below it on the stack of ops */
	uint32_t top_op; /* ops that can begin, or NO_ROW */
	uint32_t *free_ranks;
	size_t free_rank_count; /* ranks that can go on */
	struct sort_pair *stuck_ranks,
		*scratch; /* by the time of the point that they cannot pass */
};

/* An op has all that it needs from its rank. */
void tsi_replay_make_ready(struct replay_run *run, uint32_t number, int64_t ready_ns);

/* An op from the stack begins, which may end others and let them begin. */
void tsi_replay_begin_op(struct replay_run *run, uint32_t number);

/* An op that has begun ends after as long as it took, whatever it is matched with. */
void tsi_replay_end_alone(struct replay_run *run, uint32_t number);

#endif
