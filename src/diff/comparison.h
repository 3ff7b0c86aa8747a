/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_COMPARISON_H
#define TSCOPE_DIFF_COMPARISON_H

#include "base/attributes.h"

#include <tscope/diff.h>

/*
 * Input of the analyzers of a comparison (LEVEL_DIFF, in this folder): the facts of both sides,
 * computed just now or saved. They read facts by name (analyze/lookup.h) and know nothing about
 * files.
 */
struct diff_rank {
	int64_t number; /* -1: not said */
	const struct tscope_analysis *analysis;
};

struct diff_side {
	const struct tscope_analysis *analysis; /* of the whole */
	const struct diff_rank *ranks;          /* in ascending order; at least one */
	size_t rank_count;
	const struct tscope_diagnosis *diagnosis;
};

/* Figures of one of several runs. */
struct history_run {
	const char *path;
	/* Absent where the run does not say. */
	struct tscope_value step_ns, reach_ns, mfu, exposed_comm_ns, peak_bytes;
	int64_t finding_count;
};

struct comparison {
	struct diff_side sides[TSCOPE_SIDE_COUNT];
	double loss_tolerance; /* as in tscope_diff_options */
	/* All runs where there are more than two: the sides are the first and the last. */
	const struct history_run *runs;
	size_t run_count;
};

/* Whether a figure of both sides changed, and how that is known. */
#define DIFF_VERDICTS(X)                                                                           \
	X(DIFF_SAME, "same")             /* equal */                                               \
	X(DIFF_CHANGED, "changed")       /* tested over the steps: significant */                  \
	X(DIFF_NO_CHANGE, "no_change")   /* tested over the steps: no more than noise */           \
	X(DIFF_UNDECIDED, "undecided")   /* too few steps */                                       \
	X(DIFF_EXACT, "exact")           /* differs, and not by chance: a count, bytes, a text */  \
	X(DIFF_NOT_TESTED, "not_tested") /* differs, and there is nothing to test it by */         \
	X(DIFF_ONLY_A, "only_a")         /* B has no such figure */                                \
	X(DIFF_ONLY_B, "only_b")         /* A has none */

enum diff_verdict { DIFF_VERDICTS(TSI_NAMED_ID) };

/* "same", "changed", "no_change", "undecided", "exact", "not_tested", "only_a", "only_b". */
const char *tsi_diff_verdict_name(enum diff_verdict verdict);

/* Figures of a run (diff_history.c). */
struct history_run tsi_history_run(const char *path, const struct tscope_analysis *analysis,
				   const struct tscope_diagnosis *diagnosis);

/* The rank of a side with this number, or NULL. */
const struct diff_rank *tsi_diff_find_rank(const struct diff_side *side, int64_t number);

/* A number of either kind; false: it is none. */
bool tsi_diff_number(struct tscope_value value, double *number);

#endif
