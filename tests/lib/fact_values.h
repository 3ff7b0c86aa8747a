/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_FACT_VALUES_H
#define TSCOPE_TESTS_FACT_VALUES_H

#include <tscope/analysis.h>

/*
 * An analysis that holds the facts a test says, for what reads facts only. One
 * fact or one row of a table a line; a line with ! says why the figures of an
 * analyzer, or one fact, are in doubt.
 *
 *	struct tscope_analysis *facts =
 *		fact_values("step_time.count 12\n"
 *			    "step_time.cv 0.5\n"
 *			    "distributed.slow_ranks rank=3 excess_ratio=0.02\n"
 *			    "! overlap clocks do not agree\n"
 *			    "! efficiency.mfu no peak\n");
 *
 * An analyzer of which nothing is said did not run. Integers are written
 * without a point, ratios, FLOPs and numbers are real in any case, flags yes or no.
 * A cell with blanks stands in single quotes.
 * The test fails on a name that no analyzer defines. The analysis is freed when the test ends.
 */
struct tscope_analysis *fact_values(const char *lines);

#endif
