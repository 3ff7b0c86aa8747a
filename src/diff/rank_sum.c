/* SPDX-License-Identifier: MIT */
/*
 * The rank sum test. Ranks are counted twice, so that the mean rank of values that are equal is an
 * integer, and everything is symmetric about the expected sum: "deviation" is the distance to it.
 */
#include "diff/rank_sum.h"

#include <math.h>
#include <stdbool.h>

#include "analyze/shared/chance.h"
#include "base/bisect.h"
#include "base/sum.h"

/* The orders of so many values, and their rank sums, are still exact in 64 bits. */
enum { MAX_EXACT_COUNT = 40 };

/* Summary of the ranks of both samples. */
struct ranking {
	size_t a_count, b_count;
	uint64_t ranks[MAX_EXACT_COUNT]; /* twice each, ascending; if there are few */
	double tie_sum;                  /* over groups of equal values: size³ − size */
	double deviation;                /* of b's sum of doubled ranks: positive, it is larger */
};

/* The distribution of the deviation if both samples are alike. */
struct null {
	uint64_t *orders; /* by deviation, both signs: how many have it; or NULL: normal */
	size_t largest;   /* deviation of the above */
	double all;       /* orders */
	double scale;     /* standard deviation of the normal distribution */
	double least_p;   /* lower bound on any p value */
};

/* ---- ranks -------------------------------------------------------------------------------- */

/* How many of the sorted values equal `value`, from the first on. */
static size_t run_of(const int64_t *values, size_t count, int64_t value)
{
	size_t length = 0;

	while (length < count && values[length] == value)
		length++;
	return length;
}

static void rank(struct ranking *ranking, const struct rank_sum_question *q)
{
	size_t i = 0, j = 0, n = q->a_count, m = q->b_count;
	bool are_few = n + m <= MAX_EXACT_COUNT;
	double sum = 0;

	*ranking = (struct ranking){ .a_count = n, .b_count = m };
	while (i < n || j < m) {
		int64_t value = j == m || (i < n && q->a[i] <= q->b[j]) ? q->a[i] : q->b[j];
		size_t in_a = run_of(q->a + i, n - i, value), in_b = run_of(q->b + j, m - j, value);
		double size = (double)(in_a + in_b);
		uint64_t twice = 2 * (uint64_t)(i + j) + in_a + in_b + 1;
		for (size_t k = 0; are_few && k < in_a + in_b; k++)
			ranking->ranks[i + j + k] = twice;
		sum += (double)in_b * (double)twice;
		ranking->tie_sum += size * size * size - size;
		i += in_a;
		j += in_b;
	}
	ranking->deviation = sum - (double)m * (double)(n + m + 1);
}

/* ---- the distribution --------------------------------------------------------------------- */

/*
 * Counts, for each size of a subset of the ranks up to `size`, the subsets with each sum: one rank
 * after the other, which either is in a subset or is not.
 */
static void count_subsets(uint64_t *ways, size_t size, size_t row, const struct ranking *ranking)
{
	size_t count = ranking->a_count + ranking->b_count, reached = 0;

	ways[0] = 1;
	for (size_t i = 0; i < count; i++) {
		size_t rank = (size_t)ranking->ranks[i];
		for (size_t k = i + 1 < size ? i + 1 : size; k > 0; k--)
			for (size_t sum = 0; sum <= reached && sum + rank < row; sum++)
				ways[k * row + sum + rank] += ways[(k - 1) * row + sum];
		reached += rank;
	}
}

/*
 * The smaller sample is a subset of all ranks; its deviation is that of the other but for the sign.
 */
static void null_init_exact(struct null *null, const struct ranking *ranking, struct arena *scratch)
{
	size_t n = ranking->a_count, m = ranking->b_count, size = n < m ? n : m;
	size_t expected = size * (n + m + 1), row = 2 * expected + 1;
	uint64_t *ways = tsi_arena_new(scratch, (size + 1) * row, sizeof(*ways));
	uint64_t *orders = tsi_arena_new(scratch, expected + 1, sizeof(*orders));

	if (!orders)
		return;
	count_subsets(ways, size, row, ranking);
	for (size_t sum = 0; sum < row; sum++) {
		uint64_t with_sum = ways[size * row + sum];
		orders[sum < expected ? expected - sum : sum - expected] += with_sum;
		null->all += (double)with_sum;
	}
	null->orders = orders;
	null->largest = expected;
}

static void null_init_normal(struct null *null, const struct ranking *ranking, double inflation)
{
	double n = (double)ranking->a_count, m = (double)ranking->b_count, all = n + m;

	null->scale =
		sqrt(n * m / 3 * (all + 1 - ranking->tie_sum / (all * (all - 1))) * inflation);
	null->least_p = tsi_rank_sum_least_p(ranking->a_count, ranking->b_count);
}

/* The chance of a deviation at least this large, of either sign. */
static double null_p(const struct null *null, double deviation)
{
	double orders = 0, distance = fabs(deviation);

	if (!null->orders) { /* 1 less, for sums are integers */
		if (null->scale == 0 || distance <= 1)
			return 1;
		return fmax(2 * tsi_student_tail((distance - 1) / null->scale, INFINITY),
			    null->least_p);
	}
	for (size_t i = (size_t)distance; i <= null->largest; i++)
		orders += (double)null->orders[i];
	return orders / null->all;
}

/* The least deviation whose chance is at most alpha; it may be larger than any that there is. */
static double null_critical(const struct null *null, double alpha)
{
	double orders = 0;
	size_t least = null->largest + 1;

	if (!null->orders)
		return 1 + null->scale * tsi_student_quantile(alpha / 2, INFINITY);
	while (least > 0 && (orders + (double)null->orders[least - 1]) / null->all <= alpha)
		orders += (double)null->orders[--least];
	return (double)least;
}

/* ---- differences -------------------------------------------------------------------------- */

/* Counts the differences b - a up to the limit, along the staircase edge of the sorted pairs. */
static uint64_t differences_up_to(const struct rank_sum_question *q, tsi_wide limit)
{
	uint64_t count = 0;
	size_t j = 0;

	for (size_t i = 0; i < q->a_count; i++) {
		while (j < q->b_count && (tsi_wide)q->b[j] - q->a[i] <= limit)
			j++;
		count += j;
	}
	return count;
}

/* The difference at a place (from 0) among all of them in ascending order: by halving. */
static double difference_at(const struct rank_sum_question *q, uint64_t place)
{
	tsi_wide low = (tsi_wide)q->b[0] - q->a[q->a_count - 1];
	tsi_wide high = (tsi_wide)q->b[q->b_count - 1] - q->a[0];

	TSI_BISECT(low, high, differences_up_to(q, middle) <= place);
	return (double)low;
}

/*
 * A shift between two differences next to each other leaves so many below it: it is rejected from
 * the critical deviation on.
 */
static void put_interval(struct rank_sum *result, const struct rank_sum_question *q,
			 double critical)
{
	uint64_t all = (uint64_t)q->a_count * q->b_count;
	double least = ceil(((double)all + critical) / 2);

	result->low = result->high = NAN;
	if (least > (double)all)
		return;
	result->low = difference_at(q, all - (uint64_t)least);
	result->high = difference_at(q, (uint64_t)least - 1);
}

static double median_difference(const struct rank_sum_question *q)
{
	uint64_t all = (uint64_t)q->a_count * q->b_count;

	return (difference_at(q, (all - 1) / 2) + difference_at(q, all / 2)) / 2;
}

static struct null null_of(const struct ranking *ranking, double inflation, struct arena *scratch)
{
	struct null null = { 0 };

	if (inflation <= 1 && ranking->a_count + ranking->b_count <= MAX_EXACT_COUNT)
		null_init_exact(&null, ranking, scratch);
	else
		null_init_normal(&null, ranking, inflation);
	return null;
}

static void drop_ties(struct ranking *ranking)
{
	for (size_t i = 0; i < MAX_EXACT_COUNT; i++)
		ranking->ranks[i] = 2 * (i + 1);
	ranking->tie_sum = 0;
}

struct rank_sum tsi_rank_sum(const struct rank_sum_question *question, struct arena *scratch)
{
	struct ranking ranking;
	struct rank_sum result = { 0 };

	rank(&ranking, question);
	struct null null = null_of(&ranking, question->inflation, scratch);
	result.p_value = null_p(&null, ranking.deviation);
	/* Equal values are not equal any more after any other shift. */
	if (ranking.tie_sum > 0) {
		drop_ties(&ranking);
		null = null_of(&ranking, question->inflation, scratch);
	}
	if (scratch->has_failed)
		return (struct rank_sum){ 0 };
	result.shift = median_difference(question);
	put_interval(&result, question, null_critical(&null, question->alpha));
	return result;
}

double tsi_rank_sum_least_p(size_t a_count, size_t b_count)
{
	double all = (double)a_count + (double)b_count, orders = 1;
	double size = (double)(a_count < b_count ? a_count : b_count);

	for (double i = 0; i < size && orders < 1e300; i++)
		orders *= (all - i) / (i + 1);
	return orders > 2 ? 2 / orders : 1;
}
