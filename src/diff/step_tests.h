/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_STEP_TESTS_H
#define TSCOPE_DIFF_STEP_TESTS_H

#include "diff/sample_test.h"

/*
 * Tests over the steps of two analyses: of their time, and of each of its parts, the columns
 * line_…, phase_… and host_… of series.steps. Only steps with a time and no mark count.
 */
struct step_test {
	const char *column;              /* of series.steps */
	bool is_in[TSCOPE_SIDE_COUNT];   /* has the side such figures? */
	int64_t mean[TSCOPE_SIDE_COUNT]; /* where it has */
	int64_t p50[TSCOPE_SIDE_COUNT];  /* the same */
	size_t count[TSCOPE_SIDE_COUNT]; /* steps */
	const char *doubt;               /* why nothing can be said, or NULL */
	/* The test's verdict, or ONLY_A, ONLY_B; NOT_TESTED: in doubt, or a side has no series. */
	enum diff_verdict verdict;
	struct sample_test test; /* where verdict is SAME, CHANGED, NO_CHANGE or UNDECIDED */
};

struct tested_sides {
	const struct tscope_analysis *analysis[TSCOPE_SIDE_COUNT];
	const struct trend
		*trend; /* what the step time of B is tested by, in place of A; or NULL */
};

/*
 * The mean is step_time.mean_ns, whether or not there is a series. Leaves nothing in `memory` but
 * the note that it ran out, if it did; so do the calls below.
 */
struct step_test tsi_test_step_time(const struct tested_sides *sides, size_t comparisons,
				    struct arena *memory);

/* One column, of which nothing is known but itself: alloc_bytes. */
struct step_test tsi_test_step_column(const struct tested_sides *sides, const char *column,
				      struct arena *memory);

/* All parts that a side has, in the order of the columns, each with all in mind that take time. */
struct part_tests {
	struct step_test *items;
	size_t count;
};

/* The tested quantity of a part: its time, or its share of the step. */
enum part_measure { PART_TIME, PART_SHARE };

/* None where the step times are in doubt. Only the tests themselves stay in `memory`. */
struct part_tests tsi_test_parts(const struct tested_sides *sides, enum part_measure measure,
				 struct arena *memory);

/* The test of a column, or NULL. */
const struct step_test *tsi_part_tests_find(const struct part_tests *tests, const char *column);

/* Whether it was tested, so that p value, shift and interval are known. */
static inline bool tsi_is_tested(enum diff_verdict verdict)
{
	return verdict == DIFF_SAME || verdict == DIFF_CHANGED || verdict == DIFF_NO_CHANGE;
}

#endif
