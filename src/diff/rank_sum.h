/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_RANK_SUM_H
#define TSCOPE_DIFF_RANK_SUM_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The rank sum test of Wilcoxon, Mann and Whitney: do the values of one sample tend to be larger
 * than those of another? With the shift between the two (Hodges and Lehmann: the median of all
 * differences) and the interval of shifts that the test does not reject.
 */
struct rank_sum_question {
	const int64_t *a, *b; /* sorted */
	size_t a_count, b_count;
	double alpha;     /* of the interval: that holds the shift but for this chance */
	double inflation; /* >= 1: of the variance, as neighbours resemble each other */
};

struct rank_sum {
	double p_value; /* two-sided */
	/* low <= shift <= high; low and high are NAN where alpha is less than can be reached. */
	double shift, low, high;
};

/*
 * Both counts at least 1. Without inflation and with up to 40 values in all the distribution is
 * counted out, ties included; else it is a normal one. Without memory the result is zero.
 */
struct rank_sum tsi_rank_sum(const struct rank_sum_question *question, struct arena *scratch);

/*
 * The least p value (two-sided) that samples of these sizes can have: both orders that keep them
 * apart, of all orders.
 */
double tsi_rank_sum_least_p(size_t a_count, size_t b_count);

#endif
