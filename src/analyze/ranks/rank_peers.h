/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_RANK_PEERS_H
#define TSCOPE_ANALYZE_RANKS_RANK_PEERS_H

#include "analyze/ranks/rank_roles.h"
#include "comm/replay.h"

/*
 * Local time that a rank would have if it were like its peers, the ranks of its role. Steps that
 * count are compared stretch by stretch, from one collective to the next where all peers have the
 * same ones in the same order, else as a whole.
 */
struct peer_stretch {
	uint32_t first_point, end_point; /* local time of [first_point, end_point) is its time */
	int64_t local_ns;
};

/* A step of a rank; steps of peers have equally many stretches. */
struct peer_step {
	uint64_t shape; /* equal where the collectives between the stretches are the same */
	size_t first_stretch, stretch_count;
	int64_t local_ns;
};

/* One stretch, of all peers. */
struct peer_level {
	int64_t low_ns, middle_ns, high_ns; /* of all in order: the middle one and its neighbours */
	int64_t mean_ns;
};

struct rank_peers {
	struct arena *arena;
	const struct replay_graph *graph;
	uint32_t *peers;    /* ranks by role, in a role by rank */
	uint32_t *first_of; /* by rank: where its role begins in peers, NO_ROW: it has no steps */
	uint32_t *count_of; /* by beginning of the role: how many it has */
	uint32_t rank_count, role_count; /* ranks that have steps, their roles */
	struct peer_step *steps;         /* [step * rank_count of the world + rank] */
	struct peer_stretch *stretches;
	size_t stretch_count, stretch_capacity;
	struct peer_level *levels; /* by stretch of the first of the role */
	int64_t *mean_ns;          /* by step: local time, mean of all ranks */
};

/* False without memory. */
TSI_MUST_CHECK
bool tsi_rank_peers_find(struct rank_peers *peers, const struct replay_graph *graph,
			 const struct rank_roles *roles, struct arena *arena);

/* Has the rank anybody to be compared with? */
bool tsi_has_peers(const struct rank_peers *peers, uint32_t rank);

/* Local time of its steps above the median of the other peers, or below (negative). */
int64_t tsi_rank_excess_ns(const struct rank_peers *peers, uint32_t rank);

/* Place where a rank comes late: the collective behind the stretch with most of its excess. */
struct late_place {
	const struct rank_op *op; /* NULL: the end of the step */
	uint32_t number;          /* it is the how manieth of its kind in the step, from 1 */
	int64_t excess_ns;        /* of the stretch, mean of the steps */
};

/* For steps cut like the first. False if these are not cut at collectives, or without excess. */
bool tsi_rank_late_place(const struct rank_peers *peers, uint32_t rank, struct late_place *place,
			 struct arena *arena);

/* Numbers of steps, ascending. */
struct step_choice {
	const int64_t *numbers;
	size_t count;
};

/*
 * Local ns by point for replay_change.local_ns: each stretch takes what the median of the other
 * peers takes, in the steps of choice (NULL: in all). NULL without memory.
 */
int64_t *tsi_like_peers(const struct rank_peers *peers, uint32_t rank,
			const struct step_choice *choice, struct arena *arena);

/* Likewise, with each stretch the mean of all ranks, stages of a pipeline included. */
int64_t *tsi_balanced(const struct rank_peers *peers, uint32_t rank, struct arena *arena);

#endif
