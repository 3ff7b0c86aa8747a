/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_RANKS_REPLAY_DOUBT_H
#define TSCOPE_ANALYZE_RANKS_REPLAY_DOUBT_H

#include "analyze/facts.h"
#include "comm/replay.h"

/* How far the unchanged replay is off the measured step: their ratio - 1. */
double tsi_replay_error(const struct replay *unchanged);

/*
 * Time of a rank's step, by the measured step, that passed between the first end of a collective
 * and its own: the mean of steps that count, 0 without clocks that are known. The replay keeps it
 * as it was, which is no error of the unchanged replay but may be one where something is changed.
 */
double tsi_replay_end_spread(const struct replay_graph *graph, const struct replay *unchanged);

/* Why nothing simulated must be believed, as the unchanged replay shows; or NULL. Static. */
const char *tsi_replay_error_doubt(const struct replay *unchanged);

/* Whether the spread is so large that what was simulated may depend on it. */
bool tsi_has_end_spread(const struct replay_graph *graph, const struct replay *unchanged);

/* Whether a gain does depend on it: by the same change where members end together. */
bool tsi_is_gain_of_spread(int64_t gain_ns, int64_t gain_together_ns, int64_t step_ns);

/* Both doubts, for what has no gain of its own. */
const char *tsi_replay_doubt(const struct replay_graph *graph, const struct replay *unchanged);

/* Puts that, and what doubts the times of the ranks (tsi_ranks_doubt()), into a sheet. */
void tsi_put_replay_doubts(const struct analysis_scope *scope, const struct replay *unchanged,
			   struct fact_sheet *out);

#endif
