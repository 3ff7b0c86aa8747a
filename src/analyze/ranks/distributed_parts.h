/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_DISTRIBUTED_PARTS_H
#define TSCOPE_ANALYZE_RANKS_DISTRIBUTED_PARTS_H

#include "analyze/facts.h"
#include "analyze/ranks/late_ranks.h"
#include "analyze/ranks/rank_steps.h"

/*
 * The parts that the analyzer `distributed` is made of, and its facts.
 */
#define DISTRIBUTED_FACTS(X)                                                                       \
	X(WORLD_SIZE, "world_size", COUNT, "ranks that were read")                                 \
	X(DECLARED_WORLD_SIZE, "declared_world_size", COUNT,                                       \
	  "ranks that the job had, as its files say")                                              \
	X(MISSING_RANK_COUNT, "missing_rank_count", COUNT, "of these, not read")                   \
	X(N_STEPS, "n_steps", COUNT, "steps that all ranks have, or of a hundred and more 99 %")   \
	X(DROPPED_STEP_COUNT, "dropped_step_count", COUNT,                                         \
	  "steps that only some ranks have, in no figure here")                                    \
	X(LACKING_RANK, "lacking_rank", COUNT, "the rank that lacks most steps of other ranks")    \
	X(LACKING_STEP_COUNT, "lacking_step_count", COUNT, "how many it lacks")                    \
	X(MEAN_STEP_WALL_NS, "mean_step_wall_ns", NS,                                              \
	  "mean of most compute + most communication of any rank")                                 \
	X(MEAN_COMM_FRACTION, "mean_comm_fraction", RATIO,                                         \
	  "mean share of most communication in that")                                              \
	X(MEAN_TRANSFER_FRACTION, "mean_transfer_fraction", RATIO,                                 \
	  "mean share of communication without waiting in most compute + that: the ranks' mean "   \
	  "where traces tell it, else the least of any rank")                                      \
	X(IMBALANCE_CV, "imbalance_cv", NUMBER,                                                    \
	  "compute over ranks: standard deviation by mean, median of the steps")                   \
	X(SYNC_SKEW_NS, "sync_skew_ns", NS,                                                        \
	  "slowest less median rank's compute, median of the steps")                               \
	X(WALL_FRAC_LOST, "wall_frac_lost_to_imbalance", RATIO,                                    \
	  "slowest less mean compute, share of the slowest")                                       \
	X(WALL_LOST_NS_PER_STEP, "wall_lost_ns_per_step", NS,                                      \
	  "slowest less mean compute, mean of the steps")                                          \
	X(LEAST_WAITING_RANK, "least_waiting_rank", COUNT,                                         \
	  "rank with the shortest matched collectives that all members end together, in sum: for " \
	  "which the others wait")                                                                 \
	X(SLOW_GAIN_NS, "slow_gain_ns", NS,                                                        \
	  "what a step wins if all of slow_ranks were like the median of the others: by replay "   \
	  "of the traces where that can be believed, else by the slowest rank of each step")       \
	X(SLOW_GAIN_RATIO, "slow_gain_ratio", RATIO, "by the mean step")                           \
	X(SLOW_GAIN_IS_SIMULATED, "slow_gain_is_simulated", FLAG, "by replay of the traces")       \
	X(DETECTABLE_EXCESS_RATIO, "detectable_excess_ratio", NUMBER,                              \
	  "least excess_ratio that would have been significant")                                   \
	X(SLOW_RANK_DOUBT, "slow_rank_doubt", TEXT,                                                \
	  "why a rank that is not in slow_ranks may be slow all the same: few steps, ranks that "  \
	  "were not read, ranks without others that do the same, an excess of 15 % that would "    \
	  "not "                                                                                   \
	  "show")

enum distributed_fact { DISTRIBUTED_FACTS(TSI_FACT_ID) };

enum distributed_table { RANKS, STRAGGLER, SLOW_RANKS, MISSING_RANKS };

#define DISTRIBUTED_RANK_COLUMNS(X)                                                                \
	X(RANK, "rank", COUNT, "number of the rank")                                               \
	X(MEAN_COMPUTE_NS, "mean_compute_ns", NS, "compute of a step, mean")                       \
	X(MEDIAN_COMPUTE_NS, "median_compute_ns", NS, "median")                                    \
	X(SLOWEST_COUNT, "slowest_count", COUNT,                                                   \
	  "steps in which it was slowest (of equals, the lowest rank)")                            \
	X(SLOWEST_FRACTION, "slowest_fraction", RATIO, "their share")                              \
	X(STRAGGLER_Z, "straggler_z", NUMBER, "their excess over chance in standard deviations")   \
	X(REL_SLOWDOWN, "rel_slowdown", NUMBER,                                                    \
	  "compute by that of the median rank - 1, median of the steps")                           \
	X(EXCESS_RATIO, "excess_ratio", NUMBER,                                                    \
	  "its level of compute above the median of the others' (of its stage)")                   \
	X(P_VALUE, "p_value", RATIO,                                                               \
	  "chance that any of healthy ranks, which differ by 1 % or as these do, stands out as "   \
	  "much")                                                                                  \
	X(MEAN_COMM_NS, "mean_comm_ns", NS, "communication of a step, mean")                       \
	X(MEAN_WAIT_NS, "mean_wait_ns", NS,                                                        \
	  "of that, waiting for other ranks: in matched collectives where traces tell it, else "   \
	  "beyond the rank with the least")                                                        \
	X(WAIT_NS, "wait_ns", NS,                                                                  \
	  "waiting in matched collectives that all members end together, exposed or not, whole "   \
	  "capture")                                                                               \
	X(TRANSFER_NS, "transfer_ns", NS, "the rest of their duration")                            \
	X(CLOCK_OFFSET_NS, "clock_offset_ns", NS,                                                  \
	  "its clock less the lowest rank's: positive is ahead")                                   \
	X(CLOCK_DRIFT_PPM, "clock_drift_ppm", NUMBER, "µs that this grows by in each second")      \
	X(CLOCK_ERROR_NS, "clock_error_ns", NS, "most that the offset can be wrong by")

enum rank_column { DISTRIBUTED_RANK_COLUMNS(TSI_FACT_ID) };

#define DISTRIBUTED_STRAGGLER_COLUMNS(X)                                                           \
	X(STRAGGLER_RANK, "rank", COUNT, "number of the rank")                                     \
	X(STRAGGLER_STRAGGLER_Z, "straggler_z", NUMBER, "as in ranks")                             \
	X(STRAGGLER_REL_SLOWDOWN, "rel_slowdown", NUMBER, "as in ranks")                           \
	X(STRAGGLER_SLOWEST_FRACTION, "slowest_fraction", RATIO, "as in ranks")                    \
	X(STRAGGLER_EXCESS_RATIO, "excess_ratio", NUMBER, "as in ranks")

enum straggler_column { DISTRIBUTED_STRAGGLER_COLUMNS(TSI_FACT_ID) };

#define DISTRIBUTED_SLOW_COLUMNS(X)                                                                \
	X(SLOW_RANK, "rank", COUNT, "number of the rank")                                          \
	X(SLOW_EXCESS_RATIO, "excess_ratio", NUMBER,                                               \
	  "as in ranks, or in stragglers.ranks: see basis; of stalls, their mean excess over the " \
	  "rank's usual step")                                                                     \
	X(SLOW_P_VALUE, "p_value", RATIO, "likewise")                                              \
	X(SLOW_BASIS, "basis", TEXT,                                                               \
	  "what it has more of: compute or, by traces, local_time (in which it does not wait for " \
	  "others); stalls: of either, in a few steps only")                                       \
	X(SLOW_RANK_GAIN_NS, "gain_ns", NS, "what it costs a step while no other rank is slow")    \
	X(SLOW_STALL_COUNT, "stall_count", COUNT, "steps in which it stalls")                      \
	X(SLOW_STALL_STEPS, "stall_steps", TEXT, "their numbers")                                  \
	X(SLOW_STALL_NS, "stall_ns", NS, "the longest stall")                                      \
	X(SLOW_STALL_OF, "stall_of", COUNT, "steps in which stalls were looked for")

enum slow_column { DISTRIBUTED_SLOW_COLUMNS(TSI_FACT_ID) };

/* A step across the ranks. */
struct step_view {
	int64_t most_compute_ns, sum_compute_ns, most_comm_ns, least_comm_ns;
	int64_t transfer_ns; /* communication without the wait for other ranks */
	double median_compute_ns, variation;
	size_t slowest; /* of equals, the first */
};

/* Inputs of a rank's row, along the steps. */
struct rank_view {
	int64_t sum_compute_ns, sum_comm_ns, sum_wait_ns;
	size_t slowest_count, step_count; /* step_count: those that it has */
	double median_compute_ns, straggler_z, rel_slowdown;
};

struct survey {
	const struct analysis_scope *scope;
	struct rank_steps steps;
	struct step_view *step_views;
	struct rank_view *rank_views;
	struct late_ranks late;
	double *numbers; /* room for a median over steps or ranks */
	int64_t missing_rank_count;
	size_t dropped_count; /* steps */
};

/* The rows of ranks, and who stands out. Step views are there. */
void tsi_distributed_put_ranks(struct survey *survey, struct fact_sheet *out);

/* Ranks and steps that are not there. */
void tsi_distributed_put_missing(struct survey *survey, struct fact_sheet *out);

/* Puts the cost of slow ranks, and what could not be seen. Missing ranks are counted. */
void tsi_distributed_put_verdict(const struct survey *survey, struct fact_sheet *out);

#endif
