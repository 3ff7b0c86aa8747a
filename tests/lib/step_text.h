/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_STEP_TEXT_H
#define TSCOPE_TESTS_STEP_TEXT_H

#include "run/steps.h"

/*
 * The steps of a rank as text, for tests: a step a line, its number first, then
 * what it recorded.
 *
 *	struct step_series steps = test_steps("0 warmup forward=90\n"
 *					      "1 data=10 forward=30 eval=7 loss=2.5 lr:0.1\n"
 *					      "2 forward=31 alloc=100 reserved=128 loss=nan\n");
 *
 * A word without value is its mark. loss and grad_norm are numbers; alloc,
 * reserved, peak_alloc and peak_reserved bytes; with a colon any other scalar; all else
 * nanoseconds of a phase, and
 * a step with a phase has a time, their sum. To be deinited.
 */
struct step_series test_steps(const char *text);

/*
 * Gives the record at this index an empty budget, for the test to fill, with the record's mark.
 * Valid until the next one.
 */
struct step_budget *test_steps_add_budget(struct step_series *steps, size_t record);

#endif
