/* SPDX-License-Identifier: MIT */
/*
 * Whether two samples of steps differ by more than noise. The tests chosen, and why; rates are of
 * 20,000 generated pairs each (tests/bench/significance.c has fewer of the same kinds), of 20
 * against 20 steps with normal noise of 3 % where nothing else is said.
 *
 * Both p values come together as their harmonic mean. Of steps with normal noise the two tests
 * mostly agree, and halving alpha between them would waste half of it. So 0.46 % of equal pairs are
 * called changed, and 96.6 % of those with a change of 5 %; of 50 against 50 steps 96.9 % of those
 * with a change of 3 %. Where one test alone speaks, it has to be twice as sure.
 *
 * The error of the difference of the means is Welch's or that of pooled variances, whichever is
 * larger. Welch's alone calls equal runs different where the shorter one happens to lack the rare
 * slow steps of the longer one: of 50 against 500, of which 2 % take three times as long, 16 % of
 * equal pairs, and 0.1 % with both.
 *
 * Steps resemble their neighbours where clocks, temperatures or data drift, and n of them are worth
 * less than n independent ones. The lag-1 correlation r of the ranks within each sample shows how
 * much less: it divides n by (1 + r) / (1 - r). Samples without any resemblance show some by
 * chance, so it counts from two standard errors on, of both samples together, or from 2.5 in one
 * alone. With a correlation of 0.6, equal pairs of 20, 50 and 200 steps are called changed in 5,
 * 1.1 and 0.7 %, and without all this in 15 %; so few as 20 steps cannot show it well. A weak one
 * hides longest: with 0.3, of 10, 20, 50 and 200 steps 3, 3, 1 and 0.4 %. Believed from 1.5
 * standard errors on, it would be 2.4 % of 20, and a percent more of the changes would be missed.
 * Where there is no resemblance, it costs half a percent of the changes.
 *
 * With so few steps that no order of them is rare enough for alpha (5 against 5: 0.8 %), nothing is
 * claimed but where the two lie wholly apart, by more than either of them spreads. Such a gap parts
 * all steps into two kinds. Where a step is of A's kind with the probability s, all n of A and none
 * of the m of B are so with s^n (1 - s)^m, which is largest for s = n / (n + m): of 5 against 5
 * equal ones at most 0.2 % are called changed, whatever the distribution.
 *
 * Not claimed: where a run has other noise and far fewer steps than the other one, equal means are
 * called changed more often (10 steps with 9 % against 100 with 3 %: 2.4 %). And two runs may
 * differ for a reason that is in neither's steps: another machine, another neighbour on it.
 */
#include "diff/sample_test.h"

#include <math.h>
#include <string.h>

#include "analyze/shared/chance.h"
#include "base/sort.h"
#include "base/sum.h"
#include "diff/rank_sum.h"

/* Alpha of the mean's confidence interval: changes beyond it are excluded. */
static const double exclusion_alpha = 0.05;
/* Standard errors from which on steps resemble their neighbours, and the most that is believed. */
static const double resemblance_of_both = 2, resemblance_of_one = 2.5, max_resemblance = 0.9;
/* With fewer steps the estimate of the resemblance is not corrected for its bias. */
enum { MIN_CORRECTED_COUNT = 9 };

/* A sample and what the tests need to know of it. */
struct prepared {
	int64_t *values; /* sorted */
	size_t count;
	double mean, variance;
	double resemblance; /* correlation of neighbours in time, by ranks */
	double inflation;   /* >= 1: steps equivalent to one independent step */
};

/* A difference of means. */
struct mean_difference {
	double difference, error, degrees;
};

/* ---- one sample --------------------------------------------------------------------------- */

static void put_moments(struct prepared *sample)
{
	tsi_wide sum = 0;
	double squares = 0, count = (double)sample->count;

	for (size_t i = 0; i < sample->count; i++)
		sum += sample->values[i];
	sample->mean = (double)sum / count;
	for (size_t i = 0; i < sample->count; i++) {
		double deviation = (double)sample->values[i] - sample->mean;
		squares += deviation * deviation;
	}
	sample->variance = sample->count > 1 ? squares / (count - 1) : 0;
}

/* Ranks about their mean, twice each, in the order of time; those of equal values are equal. */
static void put_ranks(double *ranks, const struct sort_pair *sorted, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && sorted[end].key == sorted[i].key;)
			end++;
		for (size_t j = i; j < end; j++)
			ranks[sorted[j].value] = (double)(i + end) - (double)count;
	}
}

static double neighbours_correlation(const double *ranks, size_t count)
{
	double squares = 0, products = 0;

	for (size_t i = 0; i < count; i++) {
		squares += ranks[i] * ranks[i];
		products += i ? ranks[i] * ranks[i - 1] : 0;
	}
	return squares > 0 ? products / squares : 0;
}

static struct prepared prepare(const struct sample *sample, struct arena *scratch)
{
	struct prepared prepared = { .count = sample->count, .inflation = 1 };
	size_t count = sample->count;
	struct sort_pair *pairs = tsi_arena_new(scratch, 2 * count, sizeof(*pairs));
	double *ranks = tsi_arena_new(scratch, count, sizeof(*ranks));

	prepared.values = tsi_arena_new(scratch, count, sizeof(*prepared.values));
	if (!prepared.values)
		return prepared;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct sort_pair){ tsi_sort_key_of_int64(sample->values[i]), i };
	tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++)
		prepared.values[i] = sample->values[pairs[i].value];
	put_ranks(ranks, pairs, count);
	prepared.resemblance = neighbours_correlation(ranks, count);
	put_moments(&prepared);
	return prepared;
}

/* Steps equivalent to one independent step. Few steps look less alike than they are. */
static double inflation_of(double resemblance, double count)
{
	if (count >= MIN_CORRECTED_COUNT)
		resemblance = (resemblance + 1 / count) / (1 - 4 / count);
	resemblance = fmin(resemblance, max_resemblance);
	return (1 + resemblance) / (1 - resemblance);
}

static void judge_resemblance(struct prepared *a, struct prepared *b)
{
	double n = (double)a->count, m = (double)b->count;
	double both = (n * a->resemblance + m * b->resemblance) / (n + m);

	if (both * sqrt(n + m) > resemblance_of_both) {
		a->inflation = b->inflation = inflation_of(both, (n + m) / 2);
		return;
	}
	if (a->resemblance * sqrt(n) > resemblance_of_one)
		a->inflation = inflation_of(a->resemblance, n);
	if (b->resemblance * sqrt(m) > resemblance_of_one)
		b->inflation = inflation_of(b->resemblance, m);
}

/* ---- the test of the means ---------------------------------------------------------------- */

/*
 * A sample for the test of the means. It has as many independent steps as `count`, which the error
 * goes by; how well the variance is known goes by all of them, else a few that resemble each other
 * would leave no degrees of freedom, and a change of any size could be noise.
 */
struct moments {
	double mean, variance, count;
	double step_count; /* all of them */
};

static double at_least_1(double degrees)
{
	return degrees > 1 ? degrees : 1;
}

static struct mean_difference mean_difference_of(const struct moments *a, const struct moments *b)
{
	double share_a = a->variance / a->count, share_b = b->variance / b->count;
	double square = share_a + share_b, degrees = at_least_1(a->step_count + b->step_count - 2);
	double pooled = (a->variance * (a->step_count - 1) + b->variance * (b->step_count - 1)) /
			degrees * (1 / a->count + 1 / b->count);

	if (square >= pooled && square > 0) {
		degrees = square * square /
			  (share_a * share_a / at_least_1(a->step_count - 1) +
			   share_b * share_b / at_least_1(b->step_count - 1));
		pooled = square;
	}
	return (struct mean_difference){ b->mean - a->mean, sqrt(pooled), degrees };
}

static double mean_p(const struct mean_difference *means)
{
	if (means->difference == 0)
		return 1;
	if (means->error == 0)
		return 0;
	return 2 * tsi_student_tail(fabs(means->difference) / means->error, means->degrees);
}

static void put_mean_interval(struct sample_test *result, const struct mean_difference *means,
			      double alpha)
{
	double reach = means->error * tsi_student_quantile(alpha / 2, means->degrees);
	double excluded = means->error * tsi_student_quantile(exclusion_alpha / 2, means->degrees);

	result->mean_low = means->difference - excluded;
	result->mean_high = means->difference + excluded;
	result->shift = means->difference;
	result->low = means->difference - reach;
	result->high = means->difference + reach;
}

/* ---- both tests --------------------------------------------------------------------------- */

static const struct sample_test undecided = {
	.verdict = DIFF_UNDECIDED,
	.method = SAMPLE_TEST_NONE,
	.p_value = 1,
	.shift = NAN,
	.low = NAN,
	.high = NAN,
	.mean_low = NAN,
	.mean_high = NAN,
	.typical_low = NAN,
	.typical_high = NAN,
	.typical_verdict = DIFF_UNDECIDED,
	.typical_p_value = 1,
	.typical_shift = NAN,
};

static const struct sample_test same = {
	.verdict = DIFF_SAME,
	.method = SAMPLE_TEST_RANK,
	.p_value = 1,
	.typical_verdict = DIFF_SAME,
	.typical_p_value = 1,
};

static double corrected(double p_value, size_t comparisons)
{
	return fmin(1, p_value * (double)comparisons);
}

static enum diff_verdict verdict_of(double p_value)
{
	return p_value <= SAMPLE_TEST_ALPHA ? DIFF_CHANGED : DIFF_NO_CHANGE;
}

static double harmonic_mean(double left, double right)
{
	return left > 0 && right > 0 ? 2 / (1 / left + 1 / right) : 0;
}

/*
 * Equal values tie at a shift of 0 and at hardly any other, for which the bounds are. So 0, where
 * the verdict is from, may be rejected and within them, or the other way: they follow the verdict.
 */
static void put_rank_interval(struct sample_test *result, const struct rank_sum *ranks)
{
	bool is_changed = result->verdict == DIFF_CHANGED;
	bool low_is_wrong = is_changed ? ranks->shift > 0 && ranks->low < 0 : ranks->low > 0;
	bool high_is_wrong = is_changed ? ranks->shift < 0 && ranks->high > 0 : ranks->high < 0;

	result->shift = ranks->shift;
	result->low = low_is_wrong ? 0 : ranks->low;
	result->high = high_is_wrong ? 0 : ranks->high;
}

/* The p value that the means have to have, for the harmonic mean with that of the ranks. */
static double alpha_of_means(double rank_p, double alpha)
{
	return rank_p > alpha ? 1 / (2 / alpha - 1 / rank_p) : alpha;
}

/* The rank test counts for the mean only if both have the same sign. */
static void conclude(struct sample_test *ret, const struct rank_sum *ranks,
		     const struct mean_difference *means, size_t comparisons)
{
	bool agree = (ranks->shift > 0 && means->difference > 0) ||
		     (ranks->shift < 0 && means->difference < 0);
	double rank_p = agree ? ranks->p_value : 1, by_means = mean_p(means);

	ret->p_value = corrected(harmonic_mean(rank_p, by_means), comparisons);
	ret->verdict = verdict_of(ret->p_value);
	ret->typical_p_value = corrected(ranks->p_value, comparisons);
	ret->typical_verdict = verdict_of(ret->typical_p_value);
	ret->typical_shift = ranks->shift;

	/* The interval is that of a test which says the same alone, if possible the rank test. */
	bool is_changed = ret->verdict == DIFF_CHANGED;
	bool by_rank = ret->typical_verdict == ret->verdict && (agree || !is_changed);
	if (isnan(ranks->low) &&
	    (!is_changed || verdict_of(corrected(by_means, comparisons)) == DIFF_CHANGED))
		by_rank = false;
	ret->method = by_rank ? SAMPLE_TEST_RANK : SAMPLE_TEST_MEAN;
	put_mean_interval(ret, means,
			  alpha_of_means(rank_p, SAMPLE_TEST_ALPHA / (double)comparisons));
	if (by_rank)
		put_rank_interval(ret, ranks);
	ret->typical_low = ranks->low;
	ret->typical_high = ranks->high;
}

static struct moments independent_moments(const struct prepared *sample)
{
	return (struct moments){ sample->mean, sample->variance,
				 (double)sample->count / sample->inflation, (double)sample->count };
}

static struct sample_test test_both(struct prepared *a, struct prepared *b, size_t comparisons,
				    struct arena *scratch)
{
	double n = (double)a->count, m = (double)b->count;
	struct sample_test result = undecided;

	judge_resemblance(a, b);
	struct rank_sum_question question = {
		.a = a->values,
		.b = b->values,
		.a_count = a->count,
		.b_count = b->count,
		.alpha = SAMPLE_TEST_ALPHA / (double)comparisons,
		.inflation = (a->inflation * m + b->inflation * n) / (n + m),
	};
	struct rank_sum ranks = tsi_rank_sum(&question, scratch);
	struct moments a_moments = independent_moments(a), b_moments = independent_moments(b);
	struct mean_difference means = mean_difference_of(&a_moments, &b_moments);
	conclude(&result, &ranks, &means, comparisons);
	return result;
}

static bool are_equal(const struct prepared *a, const struct prepared *b)
{
	return a->count > 0 && a->count == b->count &&
	       memcmp(a->values, b->values, a->count * sizeof(*a->values)) == 0;
}

/* The chance that equal samples of these sizes lie apart as below, either way round. */
static double apart_p(double n, double m)
{
	return 2 * pow(n / (n + m), n) * pow(m / (n + m), m);
}

/* Whether the gap between sorted samples is wider than each of them. */
static bool are_apart(const struct prepared *a, const struct prepared *b)
{
	const struct prepared *low = a->values[0] < b->values[0] ? a : b, *high = low == a ? b : a;
	tsi_wide low_end = low->values[low->count - 1], high_end = high->values[high->count - 1];
	tsi_wide gap = high->values[0] - low_end;

	return gap > low_end - low->values[0] && gap > high_end - high->values[0];
}

/* Samples too small for any order to be rare. */
static struct sample_test test_few(const struct prepared *a, const struct prepared *b,
				   size_t comparisons)
{
	enum { LEAST_COUNT = 3 };
	double p_value = corrected(apart_p((double)a->count, (double)b->count), comparisons);
	struct moments a_moments = independent_moments(a), b_moments = independent_moments(b);
	struct mean_difference means = mean_difference_of(&a_moments, &b_moments);
	struct sample_test result = undecided;

	if (a->count < LEAST_COUNT || b->count < LEAST_COUNT || p_value > SAMPLE_TEST_ALPHA ||
	    !are_apart(a, b))
		return result;
	result.verdict = result.typical_verdict = DIFF_CHANGED;
	result.method = SAMPLE_TEST_MEAN;
	result.p_value = result.typical_p_value = p_value;
	put_mean_interval(&result, &means, SAMPLE_TEST_ALPHA / (double)comparisons);
	result.typical_shift = means.difference;
	return result;
}

struct sample_test tsi_sample_test(const struct sample *a, const struct sample *b,
				   size_t comparisons, struct arena *memory)
{
	struct arena scratch = { 0 };
	struct prepared sorted_a = prepare(a, &scratch), sorted_b = prepare(b, &scratch);
	struct sample_test result = undecided;

	if (!scratch.has_failed && are_equal(&sorted_a, &sorted_b))
		result = same;
	else if (!scratch.has_failed &&
		 tsi_rank_sum_least_p(a->count, b->count) <= SAMPLE_TEST_ALPHA)
		result = test_both(&sorted_a, &sorted_b, comparisons, &scratch);
	else if (!scratch.has_failed)
		result = test_few(&sorted_a, &sorted_b, comparisons);
	if (scratch.has_failed)
		result = undecided;
	memory->has_failed |= scratch.has_failed;
	tsi_arena_deinit(&scratch);
	return result;
}

/* ---- moments ------------------------------------------------------------------------------ */

static bool is_known(const struct sample_moments *moments)
{
	return moments->count >= 1 && moments->count < 1e15 && isfinite(moments->mean) &&
	       isfinite(moments->deviation);
}

static struct sample_test test_means(const struct sample_moments *a, const struct sample_moments *b,
				     size_t comparisons)
{
	struct moments a_moments = { a->mean, a->deviation * a->deviation, a->count, a->count };
	struct moments b_moments = { b->mean, b->deviation * b->deviation, b->count, b->count };
	struct mean_difference means = mean_difference_of(&a_moments, &b_moments);
	struct sample_test result = undecided;

	result.method = SAMPLE_TEST_MEAN;
	result.p_value = corrected(mean_p(&means), comparisons);
	result.verdict = verdict_of(result.p_value);
	put_mean_interval(&result, &means, SAMPLE_TEST_ALPHA / (double)comparisons);
	return result;
}

struct sample_test tsi_moments_test(const struct sample_moments *a, const struct sample_moments *b,
				    size_t comparisons)
{
	struct sample_test result = undecided;

	if (!is_known(a) || !is_known(b))
		return result;
	if (a->mean == b->mean && a->deviation == b->deviation && a->count == b->count)
		return same;
	if (tsi_rank_sum_least_p((size_t)a->count, (size_t)b->count) > SAMPLE_TEST_ALPHA)
		return result;
	return test_means(a, b, comparisons);
}

struct sample_test tsi_prediction_test(const struct sample_moments *sample, double value)
{
	const struct sample_moments one = { value, 0, 1 };

	if (!is_known(sample) || !is_known(&one) || sample->count < 2)
		return undecided;
	return sample->mean == value && sample->deviation == 0 ? same : test_means(sample, &one, 1);
}

const char *tsi_sample_test_method_name(enum sample_test_method method)
{
	static const char *const names[] = {
		[SAMPLE_TEST_NONE] = "none",
		[SAMPLE_TEST_RANK] = "rank",
		[SAMPLE_TEST_MEAN] = "mean",
	};

	return names[method];
}
