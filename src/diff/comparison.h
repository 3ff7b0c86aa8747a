/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_COMPARISON_H
#define TSCOPE_DIFF_COMPARISON_H

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

struct comparison {
	struct diff_side sides[TSCOPE_SIDE_COUNT];
	double loss_tolerance; /* as in tscope_diff_options */
};

/* Whether a figure of both sides changed, and how that is known. */
enum diff_verdict {
	DIFF_SAME,       /* equal */
	DIFF_CHANGED,    /* tested over the steps: significant */
	DIFF_NO_CHANGE,  /* tested over the steps: no more than noise */
	DIFF_UNDECIDED,  /* too few steps */
	DIFF_EXACT,      /* differs, and not by chance: a count, bytes, a text */
	DIFF_NOT_TESTED, /* differs, and there is nothing to test it by */
	DIFF_ONLY_A,     /* B has no such figure */
	DIFF_ONLY_B,     /* A has none */
};

/* "same", "changed", "no_change", "undecided", "exact", "not_tested", "only_a", "only_b". */
const char *tsi_diff_verdict_name(enum diff_verdict verdict);

/* The rank of a side with this number, or NULL. */
const struct diff_rank *tsi_diff_find_rank(const struct diff_side *side, int64_t number);

/* A number of either kind; false: it is none. */
bool tsi_diff_number(struct tscope_value value, double *number);

#endif
