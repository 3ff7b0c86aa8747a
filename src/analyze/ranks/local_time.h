/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LOCAL_TIME_H
#define TSCOPE_ANALYZE_RANKS_LOCAL_TIME_H

#include "analyze/analyzer.h"
#include "base/arena.h"

/*
 * The time of a step in which a rank did not stand still for communication: who comes late to a
 * collective has more of it, whatever made it late. Of the steps that count, that all ranks have
 * and that the traces of all ranks hold.
 */
struct local_time {
	size_t step_count, rank_count;
	int64_t *numbers;  /* of the steps */
	int64_t *local_ns; /* [step * rank_count + rank] */
	int64_t *line_ns;  /* [rank * TSCOPE_BUDGET_LINE_COUNT + line]: of it, in all these steps */
};

/* step_count is 0 without a world, and without memory. */
void tsi_local_time_fill(struct local_time *local, const struct analysis_scope *scope,
			 struct arena *arena);

/* Local time of a rank, in all these steps. */
int64_t tsi_local_ns(const struct local_time *local, size_t rank);

#endif
