/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_TRAJECTORY_H
#define TSCOPE_DIFF_TRAJECTORY_H

#include <tscope/analysis.h>

/*
 * The losses that two sides recorded, one after the other, those of marked steps too: a
 * trajectory begins with the first step. The first is compared with the first, the second with
 * the second, whatever the numbers of their steps. NaN equals NaN, and each infinity itself.
 */
enum trajectory_relation {
	TRAJECTORY_UNKNOWN,  /* neither side has a loss */
	TRAJECTORY_ONE_SIDE, /* one has none */
	TRAJECTORY_EQUAL,
	TRAJECTORY_PREFIX, /* equal as far as both go, and one goes further */
	TRAJECTORY_DIFFERS,
};

struct trajectory_loss {
	double loss;
	int64_t step;
	bool has_step;
};

struct trajectories {
	enum trajectory_relation relation;
	size_t a_count, b_count;
	/* Index of the first loss that differs or is missing: of all but UNKNOWN and EQUAL. */
	size_t divergence;
	struct trajectory_loss a, b; /* with this index; of PREFIX and ONE_SIDE one is zero */
};

/* By series.steps. Losses a and b are equal up to |a - b| <= tolerance * max(|a|, |b|). */
struct trajectories tsi_compare_trajectories(const struct tscope_analysis *a,
					     const struct tscope_analysis *b, double tolerance);

/* The number of the step that a divergence is at: A's where A has it. False: not known. */
bool tsi_divergence_step(const struct trajectories *trajectories, int64_t *step);

#endif
