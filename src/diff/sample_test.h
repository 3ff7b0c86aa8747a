/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_SAMPLE_TEST_H
#define TSCOPE_DIFF_SAMPLE_TEST_H

#include "base/arena.h"
#include "diff/comparison.h"

/*
 * Is the difference between two samples of steps more than noise? Two tests together: the rank sum
 * test (Wilcoxon, Mann and Whitney; exact where the samples are small, ties included), which a few
 * wild steps do not move, and Student's t test of the means, which sees what happens in few steps
 * only. Steps that resemble their neighbours count as fewer.
 *
 * The verdict is on the mean: where the typical step differs one way and the mean the other, the
 * rank test does not speak for the mean. It speaks for the typical step, always.
 */
#define SAMPLE_TEST_ALPHA 0.004 /* a change is called one below this p value */

enum sample_test_method {
	SAMPLE_TEST_NONE, /* too few steps, unless they lie wholly apart */
	SAMPLE_TEST_RANK, /* the typical step differs */
	SAMPLE_TEST_MEAN, /* the means differ, the typical step does not, or the other way */
};

struct sample {
	const int64_t *values; /* in the order of time */
	size_t count;
};

struct sample_test {
	enum diff_verdict verdict; /* on the mean: SAME, CHANGED, NO_CHANGE or UNDECIDED */
	/*
	 * The deciding test. RANK if nothing changed, unless it alone would report a change or has
	 * no bounds.
	 */
	enum sample_test_method method;
	double p_value; /* of both tests together, times `comparisons`, at most 1 */
	/*
	 * How much more b is than a, by the method: the median of all differences (Hodges and
	 * Lehmann), or the difference of means; and the interval that holds it with the
	 * confidence of that test, where the other one leaves it no less. low <= shift <= high,
	 * NAN where UNDECIDED. 0 is in the interval unless CHANGED; then it is not, but for one of
	 * RANK that touches it where many steps are equal, or has no bounds (NAN).
	 */
	double shift, low, high;
	/*
	 * 95 % confidence interval of the difference of the means, whatever the method. NAN where
	 * UNDECIDED.
	 */
	double mean_low, mean_high;
	/* On the typical step, by the rank test alone: what is to be said of a median. */
	enum diff_verdict typical_verdict;
	double typical_p_value, typical_shift;
	double typical_low, typical_high; /* with the confidence of the verdict, or NAN */
};

/*
 * Tests b against a; comparisons (at least 1): how many such tests one question is asked by, so
 * that all together err no more often than one (Bonferroni). Two equal samples are SAME, in
 * whatever order. O(n log n) but for small samples. Leaves nothing in `memory` but the note that
 * it ran out, if it did.
 */
struct sample_test tsi_sample_test(const struct sample *a, const struct sample *b,
				   size_t comparisons, struct arena *memory);

/* Moments of a sample that was not kept; they allow the test of the means only. */
struct sample_moments {
	double mean, deviation; /* standard deviation of the sample (by n - 1) */
	double count;
};

struct sample_test tsi_moments_test(const struct sample_moments *a, const struct sample_moments *b,
				    size_t comparisons);

/* Whether one value is of the kind of a sample: undecided of fewer than two. */
struct sample_test tsi_prediction_test(const struct sample_moments *sample, double value);

/* "rank", "mean", "none". */
const char *tsi_sample_test_method_name(enum sample_test_method method);

#endif
