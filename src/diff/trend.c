/* SPDX-License-Identifier: MIT */
/*
 * Is the newest run as those before it? A single run is compared, so the error is that of a
 * prediction: of one more run of the same kind, not of their mean.
 */
#include "diff/trend.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/lookup.h"

/* A run's value. */
struct item {
	double number;
	struct tscope_value value;
	size_t run;
};

static int by_number(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->run > b->run) - (a->run < b->run);
}

static struct item *sorted_items(const struct tscope_analysis *const *runs, size_t run_count,
				 size_t analyzer, size_t fact, size_t *count, struct arena *scratch)
{
	struct item *items = tsi_arena_new(scratch, run_count, sizeof(*items));

	*count = 0;
	for (size_t i = 0; items && i < run_count; i++) {
		struct item *item = &items[*count];

		item->value = tsi_per_step(runs[i], analyzer, fact);
		item->run = i;
		if (tsi_diff_number(item->value, &item->number) &&
		    !tscope_analysis_fact_doubt(runs[i], analyzer, fact, TSCOPE_WHOLE_TRACE))
			++*count;
	}
	if (*count > 0)
		qsort(items, *count, sizeof(*items), by_number);
	return items;
}

static struct sample_moments moments_of(const struct item *items, size_t count)
{
	struct sample_moments moments = { .count = (double)count };
	double squares = 0;

	for (size_t i = 0; i < count; i++)
		moments.mean += items[i].number / moments.count;
	for (size_t i = 0; i < count; i++)
		squares += (items[i].number - moments.mean) * (items[i].number - moments.mean);
	moments.deviation = count > 1 ? sqrt(squares / (moments.count - 1)) : 0;
	/* Rounding makes equal numbers differ. */
	if (count > 0 && items[0].number == items[count - 1].number)
		moments = (struct sample_moments){ items[0].number, 0, moments.count };
	return moments;
}

struct trend_figure tsi_trend_figure(const struct trend *trend, size_t analyzer, size_t fact,
				     struct tscope_value newest, struct arena *scratch)
{
	struct trend_figure figure = { .test.verdict = DIFF_UNDECIDED };
	struct item *items =
		sorted_items(trend->runs, trend->count, analyzer, fact, &figure.count, scratch);
	double number;

	if (figure.count > 0)
		figure.median = items[(figure.count - 1) / 2].value;
	if (figure.count < TREND_MIN_RUNS || !tsi_diff_number(newest, &number))
		return figure;
	struct sample_moments before = moments_of(items, figure.count);
	figure.test = tsi_prediction_test(&before, number);
	return figure;
}

size_t tsi_trend_median_run(const struct tscope_analysis *const *runs, size_t count,
			    struct arena *scratch)
{
	size_t analyzer, fact, known = 0;
	struct item *items = NULL;

	if (tsi_find_fact("step_time.mean_ns", &analyzer, &fact))
		items = sorted_items(runs, count, analyzer, fact, &known, scratch);
	return known > 0 ? items[(known - 1) / 2].run : count - 1;
}

size_t tsi_fact_place(size_t analyzer, size_t fact)
{
	size_t place = fact;

	for (size_t i = 0; i < analyzer; i++)
		place += tscope_analyzer(i)->fact_count;
	return place;
}

size_t tsi_fact_place_count(void)
{
	return tsi_fact_place(tscope_analyzer_count(), 0);
}
