/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_METRIC_LINES_H
#define TSCOPE_TESTS_METRIC_LINES_H

#include "run/scalars.h"

/*
 * Metrics as text, for tests: a value a line, "step name value", and behind it "@ns" where its
 * time is known and "sample" for one.
 *
 *	struct metric_log log = test_metrics("0 train_loss 2.5 @1000\n"
 *					     "0 lr-AdamW nan\n"
 *					     "7 system/cpu 40 sample\n");
 *
 * To be deinited.
 */
struct metric_log test_metrics(const char *lines);

/* Joins such lines to the steps, as metrics of this source ("csv"), without settling them. */
void test_join(struct step_series *steps, const char *lines, const char *source);

#endif
