/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LOCAL_TIME_H
#define TSCOPE_ANALYZE_RANKS_LOCAL_TIME_H

#include "analyze/analyzer.h"

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

/* step_count is 0 without a world. On failure it may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_local_time_init(struct local_time *local, const struct analysis_scope *scope,
				       struct tscope_error *err);
/* Of a rank, in all these steps. */
int64_t tsi_local_ns(const struct local_time *local, size_t rank);
void tsi_local_time_deinit(struct local_time *local); /* fine on a zeroed struct */

#endif
