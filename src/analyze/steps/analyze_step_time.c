/* SPDX-License-Identifier: MIT */
/*
 * How long the steps take, how evenly, and which phases they are made of, over
 * the steps that are not marked. A spike is a step that towers above the few
 * before it; what grew in it is the line of its budget, or without one the
 * phase, that exceeds its median over all steps the most.
 */
#include "analyze/facts.h"
#include "analyze/shared/quantile.h"
#include "analyze/shared/reliability.h"
#include "analyze/shared/robust.h"
#include "analyze/steps/step_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "comm/latch.h"

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
	COUNT,
	UNKNOWN_COUNT,
	STEPS_PER_SECOND,
	TREND_NS_PER_STEP,
	FIRST_PHASE, /* two facts for each: ns and ratio */
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
	[COUNT] = { "count", TSCOPE_UNIT_COUNT, "steps that these figures are of" },
	[UNKNOWN_COUNT] = { "unknown_count", TSCOPE_UNIT_COUNT,
			    "steps of unknown duration: without a phase, or one is NaN, negative "
			    "or a text; in no figure, but gates on times that hold without them "
			    "are undecided" },
	[STEPS_PER_SECOND] = { "steps_per_second", TSCOPE_UNIT_NUMBER, "one by the mean" },
	[TREND_NS_PER_STEP] = { "trend_ns_per_step", TSCOPE_UNIT_NUMBER,
				"how much longer each step is than the one before, in ns" },
	/* In the order of enum phase. */
	{ "phase.data_ns", TSCOPE_UNIT_NS, "mean of a step's wait for data" },
	{ "phase.data_ratio", TSCOPE_UNIT_RATIO, "its share of the mean step" },
	{ "phase.forward_ns", TSCOPE_UNIT_NS, "mean forward work" },
	{ "phase.forward_ratio", TSCOPE_UNIT_RATIO, "its share" },
	{ "phase.backward_ns", TSCOPE_UNIT_NS, "mean backward work" },
	{ "phase.backward_ratio", TSCOPE_UNIT_RATIO, "its share" },
	{ "phase.optimizer_ns", TSCOPE_UNIT_NS, "mean work of the optimizer" },
	{ "phase.optimizer_ratio", TSCOPE_UNIT_RATIO, "its share" },
	{ "phase.comm_ns", TSCOPE_UNIT_NS, "mean communication" },
	{ "phase.comm_ratio", TSCOPE_UNIT_RATIO, "its share" },
	{ "phase.compute_ns", TSCOPE_UNIT_NS, "mean computation that is not divided" },
	{ "phase.compute_ratio", TSCOPE_UNIT_RATIO, "its share" },
	{ "phase.other_ns", TSCOPE_UNIT_NS, "mean of anything else" },
	{ "phase.other_ratio", TSCOPE_UNIT_RATIO, "its share" },
};

_Static_assert(TSI_COUNT_OF(facts) == FIRST_PHASE + 2 * PHASE_COUNT, "two facts for each phase");

static const char no_phase_words[] = "the trace does not say the phases of its steps";
static const char unknown_phase_words[] = "more than 10 % of compute time is of unknown phase";

#define SLOW_COLUMNS(X)                                                                            \
	X(SLOW_STEP, "step", COUNT, "number of the step")                                          \
	X(SLOW_WALL_NS, "wall_ns", NS, "its wall time")                                            \
	X(SLOW_GREW, "grew", TEXT, "budget line or phase furthest above its median")               \
	X(SLOW_GREW_NS, "grew_ns", NS, "by how much")

TSI_FACT_LIST(enum slow_column, slow_columns, SLOW_COLUMNS);

#define PHASE_COLUMNS(X)                                                                           \
	X(PHASE_NAME, "phase", TEXT, "name of the phase")                                          \
	X(PHASE_MEAN_NS, "mean_ns", NS, "mean of all steps, those without it included")            \
	X(PHASE_RATIO, "ratio", RATIO, "its share of the mean step")

TSI_FACT_LIST(enum phase_column, phase_columns, PHASE_COLUMNS);

#define TABLES(X)                                                                                  \
	X(SLOW, "slow", slow_columns, "the spikes, in order of time")                              \
	X(PHASES, "phases", phase_columns,                                                         \
	  "phases that occur, those with names of the job's own last")

TSI_TABLE_LIST(enum table, tables, TABLES);

struct times {           /* of the steps that are not marked */
	double *by_time; /* as they came */
	int64_t *sorted;
	uint32_t *records; /* index in the series */
	bool *is_spike;
	size_t count;
	int64_t sum_ns;
};

static void times_init(struct times *times, const struct step_series *steps, struct arena *scratch)
{
	size_t room = steps->count;

	times->by_time = tsi_arena_new(scratch, room, sizeof(*times->by_time));
	times->sorted = tsi_arena_new(scratch, room, sizeof(*times->sorted));
	times->records = tsi_arena_new(scratch, room, sizeof(*times->records));
	times->is_spike = tsi_arena_new(scratch, room, sizeof(*times->is_spike));
	if (scratch->has_failed)
		return;
	for (uint32_t i = 0; i < room; i++) {
		int64_t time_ns = steps->records[i].time_ns;
		if (!tsi_step_is_timed(&steps->records[i]))
			continue;
		tsi_sum(&times->sum_ns, time_ns);
		times->records[times->count] = i;
		times->by_time[times->count] = (double)time_ns;
		times->sorted[times->count++] = time_ns;
	}
	tsi_local_spikes(times->by_time, times->count, times->is_spike);
	tsi_latch_sort_numbers(scratch, times->sorted, times->count);
}

/* Standard deviation of the population by mean, in two passes; NaN where the mean is 0. */
static double variation_of(const double *numbers, size_t count)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += numbers[i];
	mean /= (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (numbers[i] - mean) * (numbers[i] - mean);
	return mean > 0 ? sqrt(squares / (double)count) / mean : NAN;
}

static void put_statistics(struct fact_sheet *out, const struct times *times)
{
	double p50_ns = tsi_quantile(times->sorted, times->count, 50);

	tsi_fact_mean(out, MEAN_NS, times->sum_ns, (int64_t)times->count);
	tsi_fact_int(out, P50_NS, tsi_quantile_ns(times->sorted, times->count, 50));
	tsi_fact_int(out, P95_NS, tsi_quantile_ns(times->sorted, times->count, 95));
	tsi_fact_int(out, P99_NS, tsi_quantile_ns(times->sorted, times->count, 99));
	tsi_fact_int(out, MIN_NS, times->sorted[0]);
	tsi_fact_int(out, MAX_NS, times->sorted[times->count - 1]);
	tsi_fact_real(out, CV, variation_of(times->by_time, times->count));
	/* For short steps, rounding to ns would be visible. */
	if (p50_ns > 0)
		tsi_fact_real(out, P95_P50_RATIO,
			      tsi_quantile(times->sorted, times->count, 95) / p50_ns);
	if (times->sum_ns > 0)
		tsi_fact_real(out, STEPS_PER_SECOND,
			      1e9 * (double)times->count / (double)times->sum_ns);
}

static void list_spikes(struct fact_sheet *out, const struct times *times, struct step_parts *parts)
{
	int64_t spike_count = 0;

	for (size_t i = 0; i < times->count; i++) {
		int64_t growth_ns;
		if (!times->is_spike[i])
			continue;
		struct tscope_value *cells = tsi_table_row(out, SLOW);
		const char *grew = tsi_step_growth(parts, times->records[i], &growth_ns);
		const struct step_record *record = &parts->steps->records[times->records[i]];
		cells[SLOW_STEP] = tsi_int(record->number);
		cells[SLOW_WALL_NS] = tsi_int(record->time_ns);
		if (grew) {
			cells[SLOW_GREW] = tsi_text(grew);
			cells[SLOW_GREW_NS] = tsi_int(growth_ns);
		}
		spike_count++;
	}
	tsi_fact_int(out, SPIKE_COUNT, spike_count);
}

/* Records may name other phases; a trace of which no phase is known has none. */
static bool has_phase(const struct step_series *steps, const struct step_parts *parts)
{
	if (!steps->is_of_trace)
		return true;
	for (size_t phase = 0; phase < PHASE_COUNT; phase++)
		if (parts->phases[phase].occurs)
			return true;
	return false;
}

static void put_phases(struct fact_sheet *out, const struct step_series *steps,
		       const struct times *times, const struct step_parts *parts)
{
	bool is_known = has_phase(steps, parts);

	for (size_t phase = 0; phase < PHASE_COUNT; phase++) {
		size_t fact = FIRST_PHASE + 2 * phase;
		if (!is_known) {
			tsi_fact_doubt(out, fact, no_phase_words);
			tsi_fact_doubt(out, fact + 1, no_phase_words);
			continue;
		}
		int64_t sum_ns = parts->phases[phase].sum_ns;

		tsi_fact_mean(out, fact, sum_ns, (int64_t)times->count);
		tsi_fact_ratio(out, fact + 1, sum_ns, times->sum_ns);
	}
}

/* Without much of the computing, how forward, backward and optimizer compare is not known. */
static void doubt_phases(struct fact_sheet *out, const struct step_parts *parts)
{
	static const enum phase compared[] = { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER };
	const double most_unknown = 0.1;
	double unknown_ns = (double)parts->phases[PHASE_COMPUTE].sum_ns;
	double all_ns = unknown_ns;

	for (size_t i = 0; i < TSI_COUNT_OF(compared); i++)
		all_ns += (double)parts->phases[compared[i]].sum_ns;
	if (!(unknown_ns > most_unknown * all_ns))
		return;
	for (size_t i = 0; i < TSI_COUNT_OF(compared); i++) {
		size_t fact = FIRST_PHASE + 2 * compared[i];
		tsi_fact_doubt(out, fact, unknown_phase_words);
		tsi_fact_doubt(out, fact + 1, unknown_phase_words);
	}
}

static void list_phase(struct fact_sheet *out, const struct times *times,
		       const struct step_part *part)
{
	if (!part->occurs)
		return;
	struct tscope_value *cells = tsi_table_row(out, PHASES);
	cells[PHASE_NAME] = tsi_text(part->name);
	cells[PHASE_MEAN_NS] = tsi_mean(part->sum_ns, (int64_t)times->count);
	cells[PHASE_RATIO] = tsi_ratio(part->sum_ns, times->sum_ns);
}

static int compare_names(const void *left, const void *right)
{
	const struct step_part *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Sorts the phases of other names, so that the ids of names are lost: the last to use parts. */
static void list_phases(struct fact_sheet *out, const struct times *times, struct step_parts *parts)
{
	size_t other_count = parts->phase_count - PHASE_COUNT;

	if (other_count)
		qsort(parts->phases + PHASE_COUNT, other_count, sizeof(*parts->phases),
		      compare_names);
	for (size_t i = 0; i < parts->phase_count; i++)
		list_phase(out, times, &parts->phases[i]);
}

static void put_all(struct fact_sheet *out, const struct step_series *steps,
		    const struct times *times)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct step_parts parts;

	tsi_step_parts_init(&parts, steps, scratch);
	if (scratch->has_failed)
		return;
	put_statistics(out, times);
	put_phases(out, steps, times, &parts);
	if (steps->is_of_trace)
		doubt_phases(out, &parts);
	if (times->count > 1)
		tsi_fact_real(out, TREND_NS_PER_STEP,
			      tsi_centred_slope(times->by_time, times->count, scratch));
	list_spikes(out, times, &parts);
	list_phases(out, times, &parts);
}

static void fill_step_time(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct times times = { 0 };

	times_init(&times, scope->steps, tsi_sheet_scratch(out));
	if (scope->steps->is_timeless)
		tsi_fact_unreliable(out, tsi_timeless_doubt);
	tsi_judge_step_time(scope, out);
	tsi_fact_int(out, COUNT, (int64_t)times.count);
	if (!scope->steps->is_of_trace)
		tsi_fact_int(out, UNKNOWN_COUNT, tsi_count_unknown_times(scope->steps));
	if (times.count)
		put_all(out, scope->steps, &times);
}

const struct analyzer tsi_analyzer_step_time = {
	.def = {
		.id = "step_time",
		.summary = "how long steps take, and how evenly",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "complete steps",
	},
	.levels = LEVEL_TRACE | LEVEL_RANK | LEVEL_RUN,
	.fill = fill_step_time,
};
