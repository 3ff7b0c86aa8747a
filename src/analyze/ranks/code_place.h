/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_CODE_PLACE_H
#define TSCOPE_ANALYZE_RANKS_CODE_PLACE_H

#include "analyze/ranks/late_ranks.h"
#include "comm/rank_log.h"

/* The place in which a rank's main thread spends longer than the others'. */
struct code_place {
	struct str name;         /* no data: no single one explains the excess */
	double own_ns, usual_ns; /* of a step, means; usual: the median of the others of its role */
	int64_t longest_ns, longest_start_ns; /* as in rank_place */
};

/*
 * The place that explains nearly all of an excess, in ns per step. numbers: room for one per rank.
 */
struct code_place tsi_code_place(const struct analysis_scope *scope, const struct rank_roles *roles,
				 size_t rank, double excess_ns, double *numbers);

#endif
