/* SPDX-License-Identifier: MIT */
/*
 * Counters that a trace holds, series by series, as the writer noted them. Counters that Composer's
 * system profiler names wrongly are shown for what they are, with the factor that its values took.
 */
#include "analyze/facts.h"

#include <string.h>

#include "base/attributes.h"
#include "base/sum.h"
#include "timeline/timeline.h"

#define FACTS(X)                                                                                   \
	X(SERIES_COUNT, "series_count", COUNT, "different series")                                 \
	X(VALUE_COUNT, "value_count", COUNT, "values of all")                                      \
	X(DROPPED_COUNT, "dropped_count", COUNT,                                                   \
	  "values beyond the limits of series and values, in no figure")                           \
	X(BAD_COUNT, "bad_count", COUNT, "values that are no number")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define BY_NAME_COLUMNS(X)                                                                         \
	X(BY_NAME_COUNTER, "counter", TEXT, "name of the counter")                                 \
	X(BY_NAME_SERIES, "series", TEXT, "name of the series in it")                              \
	X(BY_NAME_PROCESS, "process", TEXT, "that wrote it, its pid")                              \
	X(BY_NAME_UNIT, "unit", TEXT, "bytes, percent, ms or number")                              \
	X(BY_NAME_FACTOR, "factor", NUMBER,                                                        \
	  "of values that the file calls something else: what they were multiplied with to be of " \
	  "this unit")                                                                             \
	X(BY_NAME_COUNT, "count", COUNT, "values")                                                 \
	X(BY_NAME_MIN, "min", NUMBER, "smallest value")                                            \
	X(BY_NAME_MEAN, "mean", NUMBER,                                                            \
	  "mean over time from the first value to the last: each holds until the next")            \
	X(BY_NAME_MAX, "max", NUMBER, "largest value")                                             \
	X(BY_NAME_LAST, "last", NUMBER, "last value")                                              \
	X(BY_NAME_MAX_STEP, "max_step", COUNT,                                                     \
	  "number of the step in which the largest was reached first; absent outside steps")

TSI_FACT_LIST(enum by_name_column, by_name_columns, BY_NAME_COLUMNS);

#define TABLES(X) X(TABLE_BY_NAME, "by_name", by_name_columns, "each series of each counter")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* ---- what values are ---- */

enum { PERCENT, BYTES, MILLISECONDS, NUMBER };

static const char *const unit_names[] = {
	[PERCENT] = "percent",
	[BYTES] = "bytes",
	[MILLISECONDS] = "ms",
	[NUMBER] = "number",
};

/* Units by the end of a series' name, for any writer. */
static const struct {
	struct str end;
	int unit;
} ends[] = {
	{ { "bytes", 5 }, BYTES },
	{ { "percent", 7 }, PERCENT },
	{ { "%", 1 }, PERCENT },
};

/*
 * Series of Composer's system profiler that are not what they are called: sizes divided by 2^9
 * as "gb", by 2^3 as "kb", and figures of disks that are all called "field_name" and mean the
 * last part of the counter's name. Those are bytes, milliseconds or a number of requests.
 */
static const struct {
	const char *counter; /* what it begins with */
	const char *series;  /* what it ends with */
	double factor;       /* to bytes */
} misnamed[] = {
	{ "memory/swap", "_gb", 512 },
	{ "memory/virtual", "_gb", 512 },
	{ "network/", "kb_sent", 8 },
	{ "network/", "kb_recv", 8 },
};

/* A series as it is shown. */
struct meaning {
	const char *name; /* of the series */
	int unit;
	double factor; /* that its values are multiplied with */
};

static int unit_of(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(ends); i++)
		if (tsi_str_has_suffix(name, ends[i].end))
			return ends[i].unit;
	return NUMBER;
}

/* "read_time" of "disk/sda/read_time". */
static void take_disk_field(struct meaning *meaning, struct str counter)
{
	const char *slash = strrchr(counter.data, '/');

	meaning->name = slash ? slash + 1 : counter.data;
	meaning->unit = unit_of(tsi_str_of(meaning->name));
	if (tsi_str_has_suffix(tsi_str_of(meaning->name), TSI_STR("_time")))
		meaning->unit = MILLISECONDS;
}

static struct meaning meaning_of(const struct tscope_trace *trace,
				 const struct counter_series *series)
{
	struct str counter = tsi_intern_text(&trace->names, series->counter);
	struct str name = tsi_intern_text(&trace->names, series->name);
	struct meaning meaning = { name.data, unit_of(name), 1 };

	if (!trace->is_composer)
		return meaning;
	if (tsi_str_starts(counter, "disk/") && tsi_str_is(name, "field_name"))
		take_disk_field(&meaning, counter);
	for (size_t i = 0; i < TSI_COUNT_OF(misnamed); i++) {
		if (!tsi_str_has_prefix(counter, tsi_str_of(misnamed[i].counter)) ||
		    !tsi_str_has_suffix(name, tsi_str_of(misnamed[i].series)))
			continue;
		meaning.unit = BYTES;
		meaning.factor = misnamed[i].factor;
	}
	return meaning;
}

/* ---- figures of a series ---- */

struct figures {
	double min, max, mean, last;
	int64_t max_ns; /* when it was reached first */
};

/*
 * Each value holds until the next, so the last one has no part in the mean; where all are of one
 * moment it is the last that holds.
 */
static struct figures figures_of(const struct counter_value *values, uint32_t count)
{
	struct figures figures = { values[0].value, values[0].value, 0, values[count - 1].value,
				   values[0].time_ns };
	/* Exact: as doubles, times of today are off by hundreds of nanoseconds. */
	int64_t span_ns = tsi_difference(values[0].time_ns, values[count - 1].time_ns);

	for (uint32_t i = 0; i < count; i++) {
		double value = values[i].value;
		if (value < figures.min)
			figures.min = value;
		if (value > figures.max) {
			figures.max = value;
			figures.max_ns = values[i].time_ns;
		}
		if (i + 1 < count && span_ns > 0)
			figures.mean += value * ((double)tsi_difference(values[i].time_ns,
									values[i + 1].time_ns) /
						 (double)span_ns);
	}
	if (span_ns <= 0)
		figures.mean = figures.last;
	return figures;
}

static const char *name_counter(const struct intern *names, const struct counter_series *series,
				struct fact_sheet *out)
{
	const char *name = tsi_intern_text(names, series->counter).data;

	if (series->id == 0)
		return name;
	return tsi_sheet_print(out, "%s[%s]", name, tsi_intern_text(names, series->id).data);
}

static void put_series(const struct analysis_scope *scope, const struct counter_series *series,
		       struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	struct meaning meaning = meaning_of(trace, series);
	struct figures figures = figures_of(&trace->counters.values[series->first], series->count);
	uint32_t step = tsi_timeline_step_at(scope->timeline, figures.max_ns);
	struct tscope_value *cells = tsi_table_row(out, TABLE_BY_NAME);
	cells[BY_NAME_COUNTER] = tsi_text(name_counter(&trace->names, series, out));
	cells[BY_NAME_SERIES] = tsi_text(meaning.name);
	cells[BY_NAME_PROCESS] = tsi_text(tsi_intern_text(&trace->names, series->process).data);
	cells[BY_NAME_UNIT] = tsi_text(unit_names[meaning.unit]);
	if (meaning.factor != 1)
		cells[BY_NAME_FACTOR] = tsi_real(meaning.factor);
	cells[BY_NAME_COUNT] = tsi_int(series->count);
	cells[BY_NAME_MIN] = tsi_real(figures.min * meaning.factor);
	cells[BY_NAME_MEAN] = tsi_real(figures.mean * meaning.factor);
	cells[BY_NAME_MAX] = tsi_real(figures.max * meaning.factor);
	cells[BY_NAME_LAST] = tsi_real(figures.last * meaning.factor);
	if (step != NO_ROW)
		cells[BY_NAME_MAX_STEP] = tsi_int(scope->timeline->steps[step].number);
}

static void fill_counters(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct counters *counters = &scope->trace->counters;

	if (counters->series_count == 0 && counters->bad_count == 0)
		return;
	tsi_fact_int(out, SERIES_COUNT, (int64_t)counters->series_count);
	tsi_fact_int(out, VALUE_COUNT, (int64_t)counters->value_count);
	tsi_fact_int(out, DROPPED_COUNT, (int64_t)counters->dropped_count);
	tsi_fact_int(out, BAD_COUNT, (int64_t)counters->bad_count);
	for (size_t i = 0; i < counters->series_count; i++)
		if (counters->series[i].count > 0)
			put_series(scope, &counters->series[i], out);
}

const struct analyzer tsi_analyzer_counters = {
	.def = {
		.id = "counters",
		.summary = "counters of the host that a trace holds: processor, memory, disk, "
			   "network and those of the user",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with counter events",
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_counters,
};
