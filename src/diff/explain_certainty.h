/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_EXPLAIN_CERTAINTY_H
#define TSCOPE_DIFF_EXPLAIN_CERTAINTY_H

#include "diff/explain_parts.h"
#include "diff/step_tests.h"

/*
 * How sure the change of a line or part is. Lines are tested over the steps. So are kernels, by
 * their time per step; one that only one side has in the steps is certain. Of any other part no
 * times per step are kept: it is as sure as its line if it is nine tenths of the line's change, at
 * most likely if it is half of it.
 */
#define CERTAINTIES(X)                                                                             \
	X(CERTAINTY_SAME, "same")               /* no change */                                    \
	X(CERTAINTY_CERTAIN, "certain")         /* significant: p <= SAMPLE_TEST_ALPHA */          \
	X(CERTAINTY_LIKELY, "likely")           /* p <= 0.05 */                                    \
	X(CERTAINTY_CANNOT_TELL, "cannot_tell") /* noise, too few steps, or not tested */

enum certainty { CERTAINTIES(TSI_NAMED_ID) };

const char *tsi_certainty_name(enum certainty certainty);

/* test: of the line, or NULL. */
enum certainty tsi_line_certainty(const struct explained_line *line, const struct step_test *test);

/* Sets `certainty` of all parts; `lines` has that of each line. */
void tsi_judge_parts(struct explained_step *step, const enum certainty *lines,
		     const struct tscope_analysis *const ranks[TSCOPE_SIDE_COUNT],
		     struct arena *scratch);

#endif
