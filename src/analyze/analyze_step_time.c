/* SPDX-License-Identifier: MIT */
/*
 * How long the steps take and how evenly, over the steps that are not marked.
 * A spike is a step that towers above the few before it; what grew in it is
 * the budget line that exceeds its median over all steps the most.
 */
#include "analyze/facts.h"
#include "analyze/quantile.h"
#include "analyze/step_lines.h"
#include "base/sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

enum fact {
	MEAN_NS,
	P50_NS,
	P95_NS,
	P99_NS,
	MIN_NS,
	MAX_NS,
	CV,
	P95_P50_RATIO,
	SPIKE_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[MEAN_NS] = { "mean_ns", TSCOPE_UNIT_NS, "mean wall time of a step" },
	[P50_NS] = { "p50_ns", TSCOPE_UNIT_NS, "median" },
	[P95_NS] = { "p95_ns", TSCOPE_UNIT_NS, "95th percentile, linear between steps" },
	[P99_NS] = { "p99_ns", TSCOPE_UNIT_NS, "99th percentile" },
	[MIN_NS] = { "min_ns", TSCOPE_UNIT_NS, "fastest step" },
	[MAX_NS] = { "max_ns", TSCOPE_UNIT_NS, "slowest step" },
	[CV] = { "cv", TSCOPE_UNIT_NUMBER, "standard deviation (population) by mean" },
	[P95_P50_RATIO] = { "p95_p50_ratio", TSCOPE_UNIT_NUMBER, "95th percentile by median" },
	[SPIKE_COUNT] = { "spike_count", TSCOPE_UNIT_COUNT,
			  "steps far slower than the 12 before them" },
};

enum slow_column { SLOW_STEP, SLOW_WALL_NS, SLOW_GREW, SLOW_GREW_NS };

static const struct tscope_fact_def slow_columns[] = {
	[SLOW_STEP] = { "step", TSCOPE_UNIT_COUNT, "number of the step" },
	[SLOW_WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS, "its wall time" },
	[SLOW_GREW] = { "grew", TSCOPE_UNIT_TEXT, "budget line furthest above its median" },
	[SLOW_GREW_NS] = { "grew_ns", TSCOPE_UNIT_NS, "by how much" },
};

enum table { SLOW };

static const struct tscope_table_def tables[] = {
	[SLOW] = { "slow", slow_columns, TSI_COUNT_OF(slow_columns),
		   "the spikes, in order of time" },
};

/* pytscope's local_spikes: these numbers are its. */
enum {
	SPIKE_WINDOW = 12,     /* steps looked back at */
	SPIKE_MIN_HISTORY = 6, /* fewer steps before: no judgement */
};
static const double spike_scales = 6.0;     /* above the median, in robust deviations */
static const double spike_min_growth = 0.5; /* above the median, where nothing deviates */
static const double deviations_per_mad = 1.4826;

struct walls {            /* of the steps that are not marked */
	int64_t *by_time; /* as they came */
	int64_t *sorted;
	uint32_t *steps; /* index in the timeline */
	size_t count;
};

static void walls_deinit(struct walls *walls)
{
	free(walls->by_time);
	free(walls->sorted);
	free(walls->steps);
}

static enum tscope_status walls_init(struct walls *walls, const struct tscope_timeline *timeline,
				     struct tscope_error *err)
{
	size_t room = timeline->step_count;

	if (tsi_array_new(&walls->by_time, room, sizeof(*walls->by_time), err) != TSCOPE_OK ||
	    tsi_array_new(&walls->sorted, room, sizeof(*walls->sorted), err) != TSCOPE_OK ||
	    tsi_array_new(&walls->steps, room, sizeof(*walls->steps), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (!tsi_step_is_counted(timeline, i))
			continue;
		walls->steps[walls->count] = i;
		walls->by_time[walls->count] = timeline->steps[i].wall_ns;
		walls->sorted[walls->count++] = timeline->steps[i].wall_ns;
	}
	return tsi_sort_ns(walls->sorted, walls->count, err);
}

static double mean_of(const int64_t *numbers, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)numbers[i];
	return sum / (double)count;
}

/* Standard deviation of the population by mean, in two passes. */
static double variation_of(const int64_t *numbers, size_t count)
{
	double mean = mean_of(numbers, count), squares = 0;

	for (size_t i = 0; i < count; i++) {
		double deviation = (double)numbers[i] - mean;
		squares += deviation * deviation;
	}
	return sqrt(squares / (double)count) / mean;
}

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double sort_and_find_median(double *numbers, size_t count)
{
	qsort(numbers, count, sizeof(*numbers), compare_doubles);
	return (numbers[(count - 1) / 2] + numbers[count / 2]) / 2;
}

/* Is the last of `count` numbers a spike above up to 12 before it? */
static bool is_spike(const int64_t *numbers, size_t count)
{
	size_t history_count = count - 1 < SPIKE_WINDOW ? count - 1 : SPIKE_WINDOW;
	const int64_t *history = numbers + count - 1 - history_count;
	double values[SPIKE_WINDOW], candidate = (double)numbers[count - 1];

	if (history_count < SPIKE_MIN_HISTORY)
		return false;
	for (size_t i = 0; i < history_count; i++)
		values[i] = (double)history[i];
	double median = sort_and_find_median(values, history_count);
	for (size_t i = 0; i < history_count; i++)
		values[i] = fabs(values[i] - median);
	double scale = deviations_per_mad * sort_and_find_median(values, history_count);
	double margin = scale > 0 ? spike_scales * scale : spike_min_growth * median;
	return candidate > median + margin;
}

/* The median of each budget line over the unmarked steps. */
static enum tscope_status find_line_medians(int64_t *medians, const struct walls *walls,
					    const struct tscope_timeline *timeline,
					    struct tscope_error *err)
{
	int64_t *numbers = NULL;
	enum tscope_status status = tsi_array_new(&numbers, walls->count, sizeof(*numbers), err);

	for (size_t line = 0; status == TSCOPE_OK && line < tsi_step_line_count(timeline); line++) {
		for (size_t i = 0; i < walls->count; i++)
			numbers[i] = tsi_step_line_ns(timeline, walls->steps[i], line);
		status = tsi_sort_ns(numbers, walls->count, err);
		medians[line] = tsi_quantile_ns(numbers, walls->count, 50);
	}
	free(numbers);
	return status;
}

static void fill_slow_row(struct tscope_value *cells, const struct tscope_timeline *timeline,
			  uint32_t step, const int64_t *medians)
{
	int64_t most_ns = 0;

	cells[SLOW_STEP] = tsi_int(timeline->steps[step].number);
	cells[SLOW_WALL_NS] = tsi_int(timeline->steps[step].wall_ns);
	for (size_t line = 0; line < tsi_step_line_count(timeline); line++) {
		int64_t growth_ns = tsi_step_line_ns(timeline, step, line) - medians[line];
		if (growth_ns <= most_ns)
			continue;
		most_ns = growth_ns;
		cells[SLOW_GREW] = tsi_text(tsi_step_line_name(timeline, line));
		cells[SLOW_GREW_NS] = tsi_int(growth_ns);
	}
}

static enum tscope_status list_spikes(struct fact_sheet *out, const struct walls *walls,
				      const struct tscope_timeline *timeline,
				      struct tscope_error *err)
{
	int64_t medians[TSI_STEP_LINE_MAX] = { 0 }, spike_count = 0;

	if (find_line_medians(medians, walls, timeline, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < walls->count; i++) {
		struct tscope_value *cells;
		if (!is_spike(walls->by_time, i + 1))
			continue;
		if (tsi_table_add(out, SLOW, &cells, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		fill_slow_row(cells, timeline, walls->steps[i], medians);
		spike_count++;
	}
	tsi_fact_int(out, SPIKE_COUNT, spike_count);
	return TSCOPE_OK;
}

static void put_facts(struct fact_sheet *out, const struct walls *walls)
{
	int64_t sum_ns = 0, count = (int64_t)walls->count;
	int64_t p50_ns = tsi_quantile_ns(walls->sorted, walls->count, 50);
	int64_t p95_ns = tsi_quantile_ns(walls->sorted, walls->count, 95);

	for (size_t i = 0; i < walls->count; i++)
		tsi_sum(&sum_ns, walls->by_time[i]);
	tsi_fact_int(out, MEAN_NS, sum_ns / count + (sum_ns % count * 2 >= count));
	tsi_fact_int(out, P50_NS, p50_ns);
	tsi_fact_int(out, P95_NS, p95_ns);
	tsi_fact_int(out, P99_NS, tsi_quantile_ns(walls->sorted, walls->count, 99));
	tsi_fact_int(out, MIN_NS, walls->sorted[0]);
	tsi_fact_int(out, MAX_NS, walls->sorted[walls->count - 1]);
	tsi_fact_real(out, CV, variation_of(walls->by_time, walls->count));
	tsi_fact_ratio(out, P95_P50_RATIO, p95_ns, p50_ns);
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	struct walls walls = { 0 };
	enum tscope_status status = walls_init(&walls, scope->timeline, err);

	if (status == TSCOPE_OK && walls.count) {
		put_facts(out, &walls);
		status = list_spikes(out, &walls, scope->timeline, err);
	}
	walls_deinit(&walls);
	return status;
}

const struct analyzer tsi_analyzer_step_time = {
	.def = {
		.id = "step_time",
		.summary = "how long steps take, and how evenly",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
	},
	.run = run,
};
