/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_STRAGGLER_CAUSE_H
#define TSCOPE_ANALYZE_RANKS_STRAGGLER_CAUSE_H

#include "analyze/facts.h"
#include "analyze/ranks/late_ranks.h"

#define STRAGGLER_CAUSES(X)                                                                        \
	X(STRAGGLER_UNKNOWN, "unknown")                                                            \
	X(STRAGGLER_SLOW_KERNELS, "slow_kernels") /* some kernels last longer */                   \
	X(STRAGGLER_SLOW_CLOCK, "slow_clock")     /* all do, by the same ratio */                  \
	X(STRAGGLER_MORE_WORK, "more_work")                                                        \
	X(STRAGGLER_SLOW_HOST, "slow_host")                                                        \
	X(STRAGGLER_SLOW_LOADER, "slow_loader")                                                    \
	X(STRAGGLER_SYNC, "sync")                                                                  \
	X(STRAGGLER_COPIES, "copies")

enum straggler_cause { STRAGGLER_CAUSES(TSI_NAMED_ID) };

/* The local time of a step of a rank beside that of the others of its role: means. */
struct straggler_line {
	int64_t rank_ns, others_ns; /* others: the median */
};

struct straggler {
	enum straggler_cause cause;
	struct straggler_line total, lines[TSCOPE_BUDGET_LINE_COUNT];
	enum tscope_budget_line worst_line; /* the one with most excess */
	/* In words with figures; lives as long as the analysis. NULL: it has no excess. */
	const char *detail;
	/* Place of its main thread that explains the excess, likewise; NULL: no single place. */
	const char *place;
	int64_t place_ns, others_place_ns;    /* of a step */
	int64_t longest_ns, longest_start_ns; /* of the stretches in it, on its trace's own clock */
};

/* Inputs for explaining late ranks. */
struct straggler_search {
	const struct analysis_scope *scope;
	const struct late_ranks *late;
	double *numbers;        /* room for one of each rank */
	struct fact_sheet *out; /* keeps the texts */
};

/* Why a rank is late. */
struct straggler tsi_find_straggler(const struct straggler_search *search, size_t rank);

/* "slow_kernels" …: never NULL. */
const char *tsi_straggler_cause_name(enum straggler_cause cause);

static inline int64_t tsi_straggler_excess(const struct straggler_line *line)
{
	return line->rank_ns - line->others_ns; /* neither is negative */
}

#endif
