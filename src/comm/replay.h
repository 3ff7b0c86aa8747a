/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_REPLAY_H
#define TSCOPE_COMM_REPLAY_H

#include "comm/world.h"

/*
 * Plays the steps of all ranks again on the graph that the points of their logs and the matches
 * make: local time passes as it did, a collective begins when its last member is ready (and those
 * before it on its stream are through) and takes its transfer time, and who waited for it goes on
 * when it ends. With something changed, this says how long the steps would have been.
 *
 *	ready     of an op: its READY
 *	begin     latest of ready, the end of the op before it on its stream and, where it began
 *	          within 10 us after the end of an op of another stream of its rank, that end; + the
 *	          lag that was measured beyond these (replay_streams.c)
 *	end       latest begin of those members that were there before it ended + transfer + the
 *	          member's tail. Who left before another came (a small message, a broadcast's root)
 *	          does not wait for it. An op that is not matched takes as long as it did
 *	transfer  the shortest duration of the members; where clocks are known not more than from
 *	          the last begin to the first end
 *	tail      of a member of a synchronising collective, where clocks are known: from the first
 *	          end of the members to its own. It has a cause on this rank alone, and stays
 *	RESUME    not before the end of its op
 *	READY     of a launch that members of a group were seen to wait with for their last: not
 *	          before the work before it is done on all of them (replay_barriers.c)
 *	STEP, END not before the ends of the ops that ended before it although nobody was seen to
 *	          wait for them
 *
 * Of clocks only differences on one rank are used, but for when ranks begin, for who left early,
 * and for tails and transfers, beyond the noise of the clocks (replay_matches.c). So with known
 * clocks the unchanged replay ends a matched collective nearly when it ended, if its members begin
 * when they began: how far it is off the measured step says whether the rest of the graph is right
 * (what waits for what, and matches), not whether what is kept would stay when something changes.
 * The sum of the tails says how much is at stake there (analyze/ranks/replay_doubt.h).
 */

/* An op in the graph; ops are numbered rank by rank (replay_rank.first_op). */
struct replay_link {
	int64_t lag_ns;          /* its start, after all that it waited for */
	int64_t transfer_ns;     /* its duration where it is alone */
	int64_t tail_ns;         /* its end, after the transfer of the match */
	uint32_t rank, match;    /* match: NO_ROW where it is alone */
	uint32_t need;           /* it ends when so many of the match have begun, by start */
	uint32_t previous, next; /* on its stream, or NO_ROW */
	uint32_t awaited;        /* of another stream: it begins after its end; or NO_ROW */
	uint32_t first_waiter;   /* of those that await this one, or NO_ROW */
	uint32_t next_waiter;    /* of those that await the same one, or NO_ROW */
	/* Index behind its READY; 0: it is not played, and nothing else is set either. */
	uint32_t ready_end;
};

/* An op whose end a STEP or END waits for; by point. */
struct replay_wait {
	uint32_t point, op; /* indices in the rank's log */
	bool is_resumed;    /* a RESUME waits for it already */
};

struct replay_rank {
	size_t first_op, first_point;  /* where its ops and points stand in arrays of all ranks' */
	size_t begin_point, end_point; /* those that are played, from a STEP on; equal: none */
	int64_t begin_ns;              /* when; the first rank begins at 0 */
	size_t wait_count;             /* from replay_graph.waits[first_op] */
};

/* A step that counts, of one rank: indices of its STEP and of the STEP or END after it. */
struct replay_step {
	uint32_t first_point, end_point;
};

/* Members of a group that go on together: at points whose barrier_of it is. */
struct replay_barrier {
	const struct process_group *group;
	uint32_t *points; /* of each member, in its log */
};

struct replay_graph {
	struct arena arena; /* of all that it has */
	const struct world *world;
	struct replay_rank *ranks;
	struct replay_link *ops;
	struct replay_wait *waits;
	/* As world.members, by match, but in the order of start and of end; numbers of ops. */
	uint32_t *by_start, *by_end;
	/* By first_point + index: all lines; the standstill since the last RESUME or END. */
	int64_t *local_ns, *still_ns;
	/* Likewise: index of the barrier before a READY, or NO_ROW; what its rank waited there. */
	uint32_t *barrier_of;
	int64_t *barrier_wait_ns;
	struct replay_barrier *barriers;
	size_t barrier_count, barrier_capacity;
	size_t op_count, point_count;
	struct replay_step *steps; /* [step * rank_count + rank], by number */
	size_t step_count; /* that all ranks with points have and that count on all; see below */
	/* Instances in which members take part that were not read: what these did stays. */
	bool has_unread_members;
};

/*
 * world must outlive the graph. Of a very large one the steps are played that have points
 * (sample_steps.h).
 */
TSI_MUST_CHECK
enum tscope_status tsi_replay_graph_new(struct replay_graph **ret, const struct world *world,
					struct tscope_error *err);
void tsi_replay_graph_free(struct replay_graph *graph);

struct replay_change {
	/*
	 * Local time of each line is multiplied by this: [rank * TSCOPE_BUDGET_LINE_COUNT + line];
	 * NULL: as it was.
	 */
	const double *line_scale;
	/* Instead: local ns by rank and point, [rank][point]; NULL (or of a rank): as it was. */
	const int64_t *const *local_ns;
	double transfer_scale; /* of transfers of matches; 1: as it was, 0: an ideal network */
	bool is_overlap_ideal; /* nobody waits for a collective before its step's end */
	bool has_no_tails;     /* members of a collective end together */
};

/* When a point was reached. */
struct replay_point {
	int64_t time_ns; /* since the first rank began its first step */
	/* Until then its rank worked or waited; before time_ns where it stood still meanwhile. */
	int64_t work_ns;
	uint32_t op; /* of its log: whose end work_ns is, else NO_ROW: local work ended then */
};

struct replay_op {
	int64_t ready_ns, begin_ns, end_ns;
	uint32_t last; /* number of the op of its match whose begin decided the end */
};

struct replay {
	struct arena arena;          /* of all that it has; remembers if memory ended */
	struct replay_point *points; /* [first_point of its rank + index] */
	struct replay_op *ops;       /* by number */
	int64_t step_ns; /* of the steps that count: mean over steps and ranks, from STEP to STEP */
	int64_t measured_ns;      /* the same as it was measured */
	uint64_t unordered_count; /* points that could not be ordered: see tsi_replay() */
};

/*
 * change may be NULL: as it was. Where a log contradicts itself or another (each waits for the
 * other), the rank that was first goes on at its measured pace, which is counted. Time and memory
 * are linear in points and members. Where memory ends all is 0, and there are no points and ops.
 */
void tsi_replay(struct replay *replay, const struct replay_graph *graph,
		const struct replay_change *change);
void tsi_replay_deinit(struct replay *replay); /* fine on a zeroed struct */

/* A rank's launch time after the barrier before a point; it is local. */
int64_t tsi_replay_launch_ns(const struct replay_graph *graph, uint32_t rank, size_t point);

/* Time of a rank's step that counts. */
int64_t tsi_replay_step_ns(const struct replay *replay, const struct replay_graph *graph,
			   size_t rank, size_t step);

#endif
