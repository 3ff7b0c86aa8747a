/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_TREND_H
#define TSCOPE_DIFF_TREND_H

#include "diff/sample_test.h"

/* One fact of the newest run against the good runs before it (struct trend of comparison.h). */
struct trend_figure {
	struct tscope_value median; /* the lower one of two; absent: no run says it */
	size_t count;               /* runs that say it, and do not doubt it */
	struct sample_test test;    /* of fewer than TREND_MIN_RUNS undecided */
};

enum { TREND_MIN_RUNS = 3 };

struct trend_figure tsi_trend_figure(const struct trend *trend, size_t analyzer, size_t fact,
				     struct tscope_value newest, struct arena *scratch);

/* The run whose step is median: its index; the last one where no run says its step. count > 0. */
size_t tsi_trend_median_run(const struct tscope_analysis *const *runs, size_t count,
			    struct arena *scratch);

/* A fact's place among those of all analyzers, and how many there are. */
size_t tsi_fact_place(size_t analyzer, size_t fact);
size_t tsi_fact_place_count(void);

#endif
