/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_WORLD_H
#define TSCOPE_COMM_WORLD_H

#include "comm/latch.h"
#include "comm/rank_log.h"
#include "run/steps.h"

/*
 * All ranks of a run together: which collective of one rank is which of another, how long each
 * rank waited in it, and how their clocks differ. Made once for a run by tsi_world_new(), stage
 * by stage; immutable afterwards.
 *
 *	groups   process groups by their members          (process_groups.c)
 *	matches  the same collective on all members       (match.c)
 *	clocks   offset and drift of each rank            (clocks.c)
 *	waits    waiting and transfer, exposed or hidden  (waits.c)
 *
 * Ranks are named by their index in logs, which is in ascending order of their numbers, but where
 * "number" is said.
 */

/* Ranks that communicate with one another. */
struct process_group {
	uint32_t *ranks; /* indices of the members that were read and have ops of it, ascending */
	uint32_t rank_count;
	int64_t size; /* with those that were not read; or NO_NUMBER */
	/* Numbers of all members, of a log or the world; NULL: only those read are known. */
	const int64_t *members;
	uint32_t member_count;
	const char *name;       /* description, else name, of its lowest rank; "" */
	bool is_inferred;       /* nobody says its members: order and size did */
	bool is_point_to_point; /* of two: sends and receives */
	/* Counts of instances, each counted once: */
	uint64_t matched_count;
	/* Kind, size or dtype differ, or it ended on one rank before it began on another. */
	uint64_t mismatched_count;
	uint64_t missing_count; /* some members that were read lack it */
	uint64_t surplus_count; /* one rank alone has it */
	uint64_t cut_count;     /* touches the edge of some rank's capture */
};

/* One collective, as its members saw it. */
struct match {
	uint32_t group, member_count;
	size_t first_member; /* in world.members, by rank; of large jobs beyond 32 bits */
	int64_t step;        /* number, or NO_NUMBER */
	int64_t bytes;       /* or NO_NUMBER */
	double bus_bytes;    /* or NAN */
	/*
	 * Upper bound of the pure transfer: the shortest duration of its members. For those that do
	 * not end together it means no more than that.
	 */
	int64_t transfer_ns;
	uint8_t kind;          /* enum collective_kind */
	bool is_synchronising; /* feeds waits and clocks */
};

struct match_member {
	uint32_t rank, op; /* index of the log, of the op in it */
	int64_t wait_ns;   /* its duration less transfer_ns; 0 where not synchronising */
};

/*
 * A rank's clock as a line over its own time: offset_ns at reference_ns, growing by drift. Times
 * are comparable after tsi_world_time().
 */
struct rank_clock {
	bool is_known;     /* something ties it to the lowest rank */
	int64_t offset_ns; /* this clock − the lowest rank's, at reference_ns; positive: ahead */
	double drift;      /* s per s: (this clock − the lowest rank's) grows so fast */
	int64_t reference_ns; /* on its own clock: the middle of its matched collectives */
	/*
	 * From the first to the last matched collective it is at most so far off, drift included:
	 * nobody ends before the last has begun. Errors on the way through other ranks add up.
	 */
	int64_t error_ns;
	/* Residuals of matched ends after correction, against the rank through which it is tied: */
	int64_t residual_ns;  /* their robust standard deviation, */
	uint64_t match_count; /* and how many they are; 0 of the lowest rank */
};

/* A rank's share in matched synchronising collectives, over the whole capture. */
struct rank_wait {
	uint64_t count;
	int64_t wait_ns, transfer_ns; /* sum to their durations */
	uint64_t last_count;          /* of those with a wait: it waited least, so came last */
};

/*
 * How long a rank stood still in a step, divided: with its own time (rank_log.h) the parts are the
 * wall time.
 */
struct step_split {
	int64_t wait_ns, transfer_ns;
	int64_t unsplit_ns; /* of what is not matched, or does not end together */
};

struct world {
	struct arena arena;          /* of all that it has */
	const struct rank_log *logs; /* borrowed, by rank */
	size_t rank_count;
	int64_t world_size; /* as the files say, or -1 */
	size_t sampled_of;  /* steps of which those with points were chosen; 0: all have them */
	struct process_group *groups;
	size_t group_count, group_capacity;
	uint32_t **group_of_op; /* [rank][op]: index in groups, or NO_ROW where unknown */
	struct match *matches;  /* by group, in its order; of a pair, first the lower's sends */
	size_t match_count, match_capacity;
	struct match_member *members;
	size_t member_count, member_capacity;
	uint32_t **match_of_op;     /* [rank][op]: index in matches, or NO_ROW */
	struct rank_clock *clocks;  /* by rank */
	struct rank_wait *waits;    /* by rank */
	struct step_split **splits; /* [rank][step of its log] */
	uint32_t *nodes;            /* by rank: number of its node, or NO_ROW where unknown */
	size_t node_count;          /* 0: nodes are not known */
};

/*
 * logs must outlive the world; rank_count ≥ 1. *ret is the caller's to free. A world of ranks that
 * share no collective has no matches.
 */
TSI_MUST_CHECK
enum tscope_status tsi_world_new(struct world **ret, const struct rank_log *logs, size_t rank_count,
				 int64_t world_size, struct tscope_error *err);
void tsi_world_free(struct world *world);

/* The index of a log by the number of its rank, or NO_ROW. */
uint32_t tsi_rank_index(const struct world *world, int64_t rank);

/*
 * Were all of its members read? Waiting for others looks like transfer. Where nobody says how many
 * it has, there are no others if all ranks of the job were read; where nobody says how many these
 * are, ranks that are numbered from 0 on without a gap are taken for all.
 */
bool tsi_group_is_whole(const struct world *world, const struct process_group *group);

/* A time of a rank on the lowest rank's clock. Saturates. */
int64_t tsi_world_time(const struct world *world, uint32_t rank, int64_t time_ns);

/* Writes the splits into the budgets of the ranks' steps (series[i] is of logs[i]). */
void tsi_world_split_budgets(const struct world *world, struct step_series *series);

/* ---- the stages, for world.c and their tests; each may fail for lack of memory only ---- */

void tsi_world_find_groups(struct world *world);
void tsi_world_find_matches(struct world *world);
void tsi_world_find_clocks(struct world *world);
void tsi_world_find_waits(struct world *world);
void tsi_world_find_nodes(struct world *world);

/* [rank][op], all NO_ROW; NULL without memory. */
TSI_MUST_CHECK
uint32_t **tsi_world_op_rows(struct world *world);

/* The ops of all ranks. */
size_t tsi_world_op_count(const struct world *world);

#endif
