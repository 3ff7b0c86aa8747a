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
	const struct tscope_diagnosis *diagnosis; /* NULL: nobody asks for findings */
};

/* Figures of one of several runs. */
struct history_run {
	const char *path;
	/* Absent where the run does not say. */
	struct tscope_value step_ns, reach_ns, mfu, exposed_comm_ns, peak_bytes, finding_count;
};

/* A fact over several runs, per step as fact_changes has it; without runs that do not say it. */
struct history_series {
	size_t *runs; /* indices */
	double *values;
	size_t count, run_capacity, value_capacity;
};

/*
 * A history of runs of which B is the newest: a fact of A is its median over the last good ones
 * before (trend.h), and what differs from that is judged by how much those differ.
 */
struct trend {
	const struct tscope_analysis **runs; /* the good ones */
	size_t count;
	const struct history_series *series; /* by tsi_fact_place() */
};

struct comparison {
	struct diff_side sides[TSCOPE_SIDE_COUNT];
	double loss_tolerance; /* as in tscope_diff_options */
	/* All runs where there are more than two: the sides are the first and the last. */
	const struct history_run *runs;
	size_t run_count;
	const struct trend *trend; /* NULL: A is a run */
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

/* The mean step is known to this, to either side, with 95 %; absent of fewer than two steps. */
struct tscope_value tsi_step_reach(const struct tscope_analysis *analysis);

/*
 * A fact of the whole; a sum divided by the steps that it is over, so that runs of different
 * lengths can be compared: tsi_divide_total() by tsi_total_steps().
 */
struct tscope_value tsi_per_step(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t fact);
struct tscope_value tsi_divide_total(struct tscope_value sum, int64_t steps, enum tscope_unit unit);
int64_t tsi_total_steps(const struct tscope_analysis *analysis, enum tscope_total total);

/* The rank of a side with this number, or NULL. */
const struct diff_rank *tsi_diff_find_rank(const struct diff_side *side, int64_t number);

/* A number of either kind; false: it is none. */
bool tsi_diff_number(struct tscope_value value, double *number);

#endif
