/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_REPRODUCIBILITY_NOTES_H
#define TSCOPE_DIFF_REPRODUCIBILITY_NOTES_H

#include "analyze/facts.h"
#include "diff/setting_match.h"
#include "diff/trajectory.h"

#include <tscope/diff.h>

/*
 * Explains differences of environment, configuration and losses in sentences: pytscope's logic and
 * order, but silent about anything that a side did not record.
 */
struct reproducibility {
	/* Losses of the lowest rank that has any; if equal, of the first rank that diverges. */
	struct trajectories losses;
	int64_t rank; /* that they are of, where it is not the lowest; -1 */
	size_t rank_count[TSCOPE_SIDE_COUNT];
	double loss_tolerance;
	struct setting_pairs config, environment;
	/* Per side. */
	bool knows_job[TSCOPE_SIDE_COUNT]; /* its run.json says environment or configuration */
	bool knows_environment[TSCOPE_SIDE_COUNT];
	bool has_cudnn_benchmark[TSCOPE_SIDE_COUNT]; /* it is on */
	bool has_hash_seed[TSCOPE_SIDE_COUNT];
};

/* Environment, configuration, ranks and all losses are equal, and there are losses. */
bool tsi_is_reproducible(const struct reproducibility *r);

/* Appends the notes to a table whose first column they are, the most important first. */
void tsi_put_reproducibility_notes(struct fact_sheet *out, size_t table,
				   const struct reproducibility *r);

#endif
