/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_RANK_LOG_H
#define TSCOPE_COMM_RANK_LOG_H

#include "base/arena.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "timeline/timeline.h"

/*
 * Data kept of a rank's traces once they are closed, to compare and simulate it together with the
 * other ranks: its collectives one by one, and between them how much local time went into each line
 * of the budget. A few hundred bytes for each collective, nothing for kernels.
 *
 * A rank has one timeline here: that of the device with the most communication or, without
 * devices, of the main thread. All times are ns on the rank's own clock, as Unix time where the
 * trace knows it (has_start).
 */

/* A collective, a send or a receive, as this rank saw it. */
struct rank_op {
	int64_t start_ns, dur_ns;
	/*
	 * When everything that it needs from this rank was there: the latest of its launch and the
	 * end of the last kernel launched before it. Not after start_ns; start_ns where unknown.
	 */
	int64_t ready_ns;
	int64_t launch_ns;      /* start of its launch call, or NO_NUMBER */
	int64_t step;           /* number of the step that launched it, or NO_NUMBER */
	int64_t sequence;       /* "Seq", or NO_NUMBER */
	int64_t bytes;          /* S of collective_kind.h, or NO_NUMBER */
	double bus_bytes;       /* S × bus factor, or NAN */
	int64_t received_bytes; /* what this rank gets out, or NO_NUMBER */
	int64_t peer;           /* rank at the other end of a send or receive, or -1 */
	uint32_t group;         /* index in rank_log.groups */
	uint32_t dtype;         /* id in rank_log.names, 0: not said */
	/*
	 * Ops of equal stream ran one after the other. gloo's threads take the work of a group in
	 * turn: there the order of starts is that of calls, over all streams.
	 */
	uint32_t stream;
	uint8_t kind; /* enum collective_kind */
	bool is_send; /* of SEND_RECV: this rank is the source */
	bool is_cut;  /* touches the begin or end of the capture */
};

/* Limit for all groups of a trace together: more than any job has, and what memory is left for. */
enum { MAX_GROUP_MEMBERS = 1 << 22 };

/* A process group as the trace names it. */
struct rank_group {
	uint32_t name, description;          /* ids in rank_log.names, 0: not said */
	int64_t size;                        /* or NO_NUMBER */
	uint32_t first_member, member_count; /* in rank_log.members; 0: not said */
	int64_t stride;     /* 0: each is listed; else the first alone, and others follow at this */
	const char *shared; /* where they are listed, 8 bytes each; NULL: in rank_log.members */
};

enum rank_point_kind {
	RANK_POINT_STEP,   /* a step begins; index is that of the step */
	RANK_POINT_READY,  /* an op has all that it needs (ready_ns); index is the op's */
	RANK_POINT_RESUME, /* local work goes on, which had waited for this op's end */
	RANK_POINT_END,    /* a step (index) ends that no other follows at once: of each window */
};

/*
 * Where the rank's local timeline touches the outside world, in the order of time. line_ns is
 * the local time since the point before: all time but that in which the rank stood still for a
 * collective (which ended at a RESUME). Sums of integer ns: the local time of all
 * points and the standstills give back the wall time of the steps. Local time of the line
 * exposed_comm is standstill as well, but nothing is known of what for, or of its end; the rest is
 * the rank's own time.
 */
struct rank_point {
	int64_t time_ns;
	int64_t stall_ns; /* of a RESUME: how long the rank stood still before it */
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT];
	uint32_t index;
	uint8_t kind; /* enum rank_point_kind */
};

struct rank_log_step {
	int64_t number, start_ns, wall_ns;
	uint8_t mark; /* enum tscope_step_mark */
};

/*
 * Kernels of a name in the steps that count. Where there is no device: operators of the host, with
 * the whole of their time, so that one within another counts in both.
 */
struct rank_kernel {
	uint32_t name; /* id in rank_log.names */
	bool is_comm;
	int64_t count, total_ns;
	int64_t blocks; /* sum of grid blocks, 0: not said */
};

/*
 * A name that the main thread of a rank was in while the rank did not stand still, in the steps
 * that count: of an annotation, an operator or a Python frame that held nothing else just then.
 */
struct rank_place {
	uint32_t name; /* id in rank_log.names */
	int64_t total_ns;
	int64_t longest_ns,
		longest_start_ns; /* of its stretches; start: on the trace's own clock */
};

struct rank_log {
	struct arena arena; /* of the arrays */
	int64_t rank;       /* -1: not said */
	bool has_start;
	bool is_host; /* no device: lines are made of the main thread's (rank_log_fill.c) */
	uint32_t host_name, device_name; /* ids in names, 0: not said */
	int64_t device_ordinal;          /* or -1 */
	int64_t visible_device_count;    /* devices that the process lists, 0: not said */
	struct rank_op *ops;             /* by start */
	size_t op_count, op_capacity;
	/*
	 * Each once. Also those that the trace lists (pg_config) and this rank is in, without any
	 * op: backends without kernels do not say the group of theirs, which is then one of which
	 * nothing is said.
	 */
	struct rank_group *groups;
	size_t group_count, group_capacity;
	struct arena member_memory; /* of the members alone */
	int64_t *members; /* of groups, ascending, until others have them (member_lists.h) */
	size_t member_count, member_capacity;
	struct arena point_memory; /* of the points alone */
	struct rank_point *points; /* of all steps or, with step_lines, of some (sample_steps.h) */
	size_t point_count, point_capacity;
	int64_t (*step_lines)[TSCOPE_BUDGET_LINE_COUNT]; /* by step: their sums; or NULL */
	struct rank_log_step *steps;                     /* in the order of time */
	size_t step_count, step_capacity;
	struct arena still_memory;   /* of the set alone, which others replace as a whole */
	struct interval_set still;   /* in steps: when the rank stood still for a collective */
	struct rank_kernel *kernels; /* by name id */
	size_t kernel_count, kernel_capacity;
	struct rank_place *places; /* by name id; those that take a part of the steps */
	size_t place_count, place_capacity;
	struct intern names;
};

TSI_MUST_CHECK
enum tscope_status tsi_rank_log_init(struct rank_log *log, struct tscope_error *err);
void tsi_rank_log_deinit(struct rank_log *log); /* fine on a zeroed struct */

/* Logs a trace that is still open (rank_log_fill.c). A trace without communication has no ops. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_log_fill(struct rank_log *log, const struct tscope_trace *trace,
				     const struct tscope_timeline *timeline,
				     struct tscope_error *err);

/* Appends a later window of the same rank; from stays as it was. Streams get new numbers. */
TSI_MUST_CHECK
enum tscope_status tsi_rank_log_append(struct rank_log *log, const struct rank_log *from,
				       struct tscope_error *err);

/* Moves a first window to an empty log: from is gone then. */
void tsi_rank_log_take(struct rank_log *log, struct rank_log *from);

/* Sorts the kernels by name, and makes one of those that share it. */
void tsi_rank_log_join_kernels(struct rank_log *log);

/* Likewise the places. */
void tsi_rank_log_join_places(struct rank_log *log);

/* The place of this name; NULL: it takes no time of note. */
const struct rank_place *tsi_rank_log_place(const struct rank_log *log, struct str name);

/* Adds a member to those of which tsi_rank_log_add_group() makes a group. */
void tsi_rank_log_add_member(struct rank_log *log, int64_t rank);

/*
 * Adds a group whose members, if any, are the last of log->members; where the log has it, they
 * are taken off again. Three and more at equal distances become a stride. keys knows the groups of
 * the log: zeroed at first, deinit it as any intern.
 * Returns the group's index; memory that ends is remembered by log->arena.
 */
uint32_t tsi_rank_log_add_group(struct rank_log *log, struct intern *keys,
				const struct rank_group *group);

/*
 * Makes the points of a log that has steps and ops, out of where its time went. Ops that the rank
 * stood still for are those whose end ended a stretch of exposed communication: where local work
 * went on while the collective still ran, it had waited for something else, and the time is local
 * (launch_stall). So is what the host takes to go on after the end. Ends that threads of the host
 * write late are seen through (rank_points.c). Only where the window ends while the collective
 * runs, or on a device that runs none that the log has, local time is of exposed_comm. pieces are
 * in order, do not overlap and cover the steps; lines are enum tscope_budget_line.
 *
 * An op that was ready in no step has no READY, a step can begin while the rank stands still
 * (then all of stall_ns is that of the RESUME which follows), and the READY of an op stands before
 * its RESUME. log->arena remembers if memory ends.
 */
void tsi_rank_log_find_points(struct rank_log *log, const struct line_pieces *pieces);

/* The local time by step of the log and line; see above for what of it is the rank's own. */
void tsi_rank_log_sum_steps(const struct rank_log *log, int64_t (*lines)[TSCOPE_BUDGET_LINE_COUNT]);

/*
 * The step of a log that began then and took so long, or NO_ROW. Of several (windows that overlap)
 * one that counts.
 */
uint32_t tsi_rank_log_find_step(const struct rank_log *log, int64_t start_ns, int64_t wall_ns);

/* How many of its members are listed. */
static inline uint32_t tsi_listed_members(const struct rank_group *group)
{
	return group->stride > 0 ? group->member_count > 0 : group->member_count;
}

/* The bytes of the members that are listed. */
static inline struct str tsi_group_list(const struct rank_log *log, const struct rank_group *group)
{
	size_t bytes = tsi_listed_members(group) * sizeof(int64_t);

	if (bytes == 0)
		return TSI_STR("");
	return (struct str){ group->shared ? group->shared
					   : (const char *)(log->members + group->first_member),
			     bytes };
}

static inline int64_t tsi_group_member(const struct rank_log *log, const struct rank_group *group,
				       uint32_t index)
{
	const char *list = tsi_group_list(log, group).data;
	size_t at = group->stride == 0 ? index : 0;
	int64_t member;

	/* Shared lists are texts, which begin anywhere. */
	memcpy(&member, list + at * sizeof(member), sizeof(member));
	return member + (int64_t)index * group->stride;
}

/* End of an op on its rank's clock. Saturates. */
static inline int64_t tsi_op_end(const struct rank_op *op)
{
	return tsi_narrow((tsi_wide)op->start_ns + op->dur_ns);
}

/* Do all members end together, so that who comes early waits? (Not of broadcast, send …) */
static inline bool tsi_is_synchronising(enum collective_kind kind)
{
	return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
	       kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_TO_ALL ||
	       kind == COLLECTIVE_BARRIER;
}

#endif
