/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_REPRODUCIBILITY_NOTES_H
#define TSCOPE_DIFF_REPRODUCIBILITY_NOTES_H

#include "analyze/facts.h"
#include "diff/trajectory.h"

#include <tscope/diff.h>

/*
 * What differences of environment, configuration and losses mean, in sentences: pytscope's
 * logic and order, but that nothing is said of what a side does not know.
 */
struct setting_changes {
	const char *const *names; /* of the settings that differ, sorted */
	size_t count;
};

struct reproducibility {
	/* Of the lowest rank with losses, or, where those are equal, of the first that part. */
	struct trajectories losses;
	int64_t rank; /* that they are of, where it is not the lowest; -1 */
	size_t rank_count[TSCOPE_SIDE_COUNT];
	double loss_tolerance;
	struct setting_changes config, environment;
	struct setting_changes relevant; /* those of the environment that can change numerics */
	/* Of each side. */
	bool knows_job[TSCOPE_SIDE_COUNT]; /* its run.json says environment or configuration */
	bool knows_environment[TSCOPE_SIDE_COUNT];
	bool has_cudnn_benchmark[TSCOPE_SIDE_COUNT]; /* it is on */
	bool has_hash_seed[TSCOPE_SIDE_COUNT];
};

/* Environment, configuration, ranks and all losses are equal, and there are losses. */
bool tsi_is_reproducible(const struct reproducibility *r);

enum { MAX_REPRODUCIBILITY_NOTES = 4 };

/* The notes, the most important first, as texts of the scope. */
TSI_MUST_CHECK
enum tscope_status tsi_reproducibility_notes(const struct analysis_scope *scope,
					     const struct reproducibility *r,
					     const char *notes[MAX_REPRODUCIBILITY_NOTES],
					     size_t *count, struct tscope_error *err);

#endif
