/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_COMM_SAMPLE_STEPS_H
#define TSCOPE_COMM_SAMPLE_STEPS_H

#include "comm/rank_log.h"

/* A quarter of a second for each replay. */
enum { MAX_REPLAYED_STEP_POINTS = 2000000 };

struct step_sample {
	size_t kept, of; /* steps whose points are kept, of those that count; 0, 0: all */
	bool has_failed; /* there was no memory */
};

/*
 * Where logs have more points than max_points in all, keeps those of as many whole steps as have so
 * many, and of one at least: steps that count and that all ranks have, chosen evenly. Sums of the
 * points of a step, tsi_rank_log_sum_steps(), stay for all steps.
 */
struct step_sample tsi_rank_logs_sample(struct rank_log *logs, size_t count, size_t max_points);

#endif
