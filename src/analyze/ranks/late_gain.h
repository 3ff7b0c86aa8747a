/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_LATE_GAIN_H
#define TSCOPE_ANALYZE_RANKS_LATE_GAIN_H

#include "analyze/ranks/late_ranks.h"

/*
 * Fills late->gain and the gains of the late ranks: by the replay where there is one to be
 * believed, else from the steps' times: a late rank takes what the median of the healthy ones of
 * its role takes, and the slowest rank of each step is looked for again.
 */
void tsi_late_gain_find(struct late_ranks *late, const struct analysis_scope *scope,
			const struct rank_steps *steps, struct arena *arena);

#endif
