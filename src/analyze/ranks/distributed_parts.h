/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_DISTRIBUTED_PARTS_H
#define TSCOPE_ANALYZE_RANKS_DISTRIBUTED_PARTS_H

#include "analyze/facts.h"
#include "analyze/ranks/late_ranks.h"
#include "analyze/ranks/rank_steps.h"

/*
 * The parts that the analyzer `distributed` is made of. Definitions with units and meanings stand
 * in analyze_distributed.c.
 */
enum distributed_fact {
	WORLD_SIZE,
	DECLARED_WORLD_SIZE,
	MISSING_RANK_COUNT,
	N_STEPS,
	DROPPED_STEP_COUNT,
	MEAN_STEP_WALL_NS,
	MEAN_COMM_FRACTION,
	MEAN_TRANSFER_FRACTION,
	IMBALANCE_CV,
	SYNC_SKEW_NS,
	WALL_FRAC_LOST,
	WALL_LOST_NS_PER_STEP,
	LEAST_WAITING_RANK,
};

enum distributed_table { RANKS, STRAGGLER, SLOW_RANKS, MISSING_RANKS };

enum rank_column {
	RANK,
	MEAN_COMPUTE_NS,
	MEDIAN_COMPUTE_NS,
	SLOWEST_COUNT,
	SLOWEST_FRACTION,
	STRAGGLER_Z,
	REL_SLOWDOWN,
	SLOWEST_P_VALUE,
	EXCESS_RATIO,
	P_VALUE,
	MEAN_COMM_NS,
	MEAN_WAIT_NS,
	WAIT_NS,
	TRANSFER_NS,
	CLOCK_OFFSET_NS,
	CLOCK_DRIFT_PPM,
	CLOCK_ERROR_NS,
};

enum straggler_column {
	STRAGGLER_RANK,
	STRAGGLER_STRAGGLER_Z,
	STRAGGLER_REL_SLOWDOWN,
	STRAGGLER_SLOWEST_FRACTION,
	STRAGGLER_EXCESS_RATIO,
};

enum slow_column { SLOW_RANK, SLOW_EXCESS_RATIO, SLOW_P_VALUE, SLOW_BASIS };

/* A step across the ranks. */
struct step_view {
	int64_t most_compute_ns, sum_compute_ns, most_comm_ns, least_comm_ns;
	int64_t transfer_ns; /* communication without the wait for other ranks */
	double median_compute_ns, variation;
	size_t slowest; /* of equals, the first */
	bool is_alone;  /* the slowest has no equal */
};

/* What the columns of a rank's row need, along the steps. */
struct rank_view {
	int64_t sum_compute_ns, sum_comm_ns, sum_wait_ns;
	size_t slowest_count, alone_count;
	double median_compute_ns, straggler_z, rel_slowdown;
};

struct survey {
	const struct analysis_scope *scope;
	struct rank_steps steps;
	struct step_view *step_views;
	struct rank_view *rank_views;
	struct late_ranks late;
	double *numbers; /* room for a median over steps or ranks */
};

/* The rows of ranks, and who stands out. Step views are there. */
void tsi_distributed_put_ranks(struct survey *survey, struct fact_sheet *out);

/* Ranks and steps that are not there. */
void tsi_distributed_put_missing(const struct survey *survey, struct fact_sheet *out);

#endif
