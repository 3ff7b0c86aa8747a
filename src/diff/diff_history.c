/* SPDX-License-Identifier: MIT */
/*
 * More than two runs, as nightly ones: figures of each, and where their level changed. The first is
 * the baseline; all else that a comparison says is of the first and the last.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "analyze/shared/chance.h"
#include "diff/change_points.h"
#include "diff/trend.h"

#include <math.h>
#include <string.h>

#define FACTS(X)                                                                                   \
	X(RUN_COUNT, "run_count", COUNT, "runs that were compared")                                \
	X(CHANGE_COUNT, "change_count", COUNT, "of the list of changes")                           \
	X(TREND_COUNT, "trend_count", COUNT,                                                       \
	  "of a trend: the good runs before the newest that it is the median of")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define RUN_COLUMNS(X)                                                                             \
	X(RUN_RUN, "run", COUNT, "its place on the command line, from 1 on")                       \
	X(RUN_PATH, "path", TEXT, "as it was given")                                               \
	X(RUN_STEP_NS, "step_ns", NS, "its mean step")                                             \
	X(RUN_REACH_NS, "reach_ns", NS,                                                            \
	  "the mean is known to this, to either side, with a confidence of 95 %")                  \
	X(RUN_CHANGE_RATIO, "change_ratio", NUMBER,                                                \
	  "by how much its step is longer than the first's")                                       \
	X(RUN_MFU, "mfu", RATIO, "as in efficiency")                                               \
	X(RUN_EXPOSED_COMM_NS, "exposed_comm_ns", NS, "exposed communication of a mean step")      \
	X(RUN_PEAK_BYTES, "peak_bytes", BYTES, "as memory.peak_alloc_bytes")                       \
	X(RUN_FINDING_COUNT, "finding_count", COUNT, "findings")

TSI_FACT_LIST(enum run_column, run_columns, RUN_COLUMNS);

#define CHANGE_COLUMNS(X)                                                                          \
	X(CHANGE_FIGURE, "figure", TEXT,                                                           \
	  "step_ns, mfu, exposed_comm_ns or peak_bytes; of a trend any fact, too, per step")       \
	X(CHANGE_RUN, "run", COUNT, "the first run of the new level")                              \
	X(CHANGE_EARLIEST, "earliest", COUNT,                                                      \
	  "the new level begins with this run or a later one, with 95 % confidence")               \
	X(CHANGE_LATEST, "latest", COUNT, "and with this one or an earlier one")                   \
	X(CHANGE_PATH, "path", TEXT, "of the run most likely to be the first")                     \
	X(CHANGE_BEFORE, "before", NUMBER, "mean of the runs before, back to the last change")     \
	X(CHANGE_AFTER, "after", NUMBER, "mean of those from it on, up to the next")               \
	X(CHANGE_RATIO, "ratio", NUMBER, "by how much after is more than before")                  \
	X(CHANGE_P_VALUE, "p_value", NUMBER, "with all runs in mind")

TSI_FACT_LIST(enum change_column, change_columns, CHANGE_COLUMNS);

#define TABLES(X)                                                                                  \
	X(RUNS_TABLE, "runs", run_columns, "the runs in the order of the command line")            \
	X(CHANGES_TABLE, "changes", change_columns,                                                \
	  "where the level of a figure changed, of 8 runs or more that have it")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* ---- one run ---- */

struct tscope_value tsi_step_reach(const struct tscope_analysis *analysis)
{
	static const double outside = 0.05;
	double count = (double)tsi_lookup_int(analysis, "step_time.count"), mean_ns, cv;

	if (count < 2 || !tsi_diff_number(tsi_lookup(analysis, "step_time.cv"), &cv) ||
	    !tsi_diff_number(tsi_lookup(analysis, "step_time.mean_ns"), &mean_ns))
		return (struct tscope_value){ 0 };
	/* cv is of the population. */
	double error = cv * mean_ns / sqrt(count - 1);
	double reach = error * tsi_student_quantile(outside / 2, count - 1);
	return reach < 0x1p62 ? tsi_int((int64_t)(reach + 0.5)) : (struct tscope_value){ 0 };
}

static struct tscope_value exposed_comm(const struct tscope_analysis *analysis)
{
	struct tscope_value sum = tsi_lookup(analysis, "budget.exposed_comm_total_ns");

	return sum.kind == TSCOPE_VALUE_INT
		       ? tsi_mean(sum.integer, tsi_lookup_int(analysis, "budget.step_count"))
		       : sum;
}

struct history_run tsi_history_run(const char *path, const struct tscope_analysis *analysis,
				   const struct tscope_diagnosis *diagnosis)
{
	return (struct history_run){
		.path = path,
		.step_ns = tsi_lookup(analysis, "step_time.mean_ns"),
		.mfu = tsi_lookup(analysis, "efficiency.mfu"),
		.exposed_comm_ns = exposed_comm(analysis),
		.peak_bytes = tsi_lookup(analysis, "memory.peak_alloc_bytes"),
		.reach_ns = tsi_step_reach(analysis),
		.finding_count =
			diagnosis ? tsi_int((int64_t)tscope_diagnosis_finding_count(diagnosis))
				  : (struct tscope_value){ 0 },
	};
}

/* ---- all of them ---- */

static void list_run(struct fact_sheet *out, const struct history_run *runs, size_t i)
{
	struct tscope_value *cells = tsi_table_row(out, RUNS_TABLE);
	double first, step;

	cells[RUN_RUN] = tsi_int((int64_t)i + 1);
	cells[RUN_PATH] = tsi_text(runs[i].path);
	cells[RUN_STEP_NS] = runs[i].step_ns;
	cells[RUN_REACH_NS] = runs[i].reach_ns;
	if (tsi_diff_number(runs[0].step_ns, &first) && tsi_diff_number(runs[i].step_ns, &step) &&
	    first > 0)
		cells[RUN_CHANGE_RATIO] = tsi_real((step - first) / first);
	cells[RUN_MFU] = runs[i].mfu;
	cells[RUN_EXPOSED_COMM_NS] = runs[i].exposed_comm_ns;
	cells[RUN_PEAK_BYTES] = runs[i].peak_bytes;
	cells[RUN_FINDING_COUNT] = runs[i].finding_count;
}

static const struct figure {
	const char *name;
	size_t offset; /* in struct history_run */
} figures[] = {
	{ "step_ns", offsetof(struct history_run, step_ns) },
	{ "mfu", offsetof(struct history_run, mfu) },
	{ "exposed_comm_ns", offsetof(struct history_run, exposed_comm_ns) },
	{ "peak_bytes", offsetof(struct history_run, peak_bytes) },
};

static struct tscope_value value_of(const struct history_run *run, const struct figure *figure)
{
	return *(const struct tscope_value *)((const char *)run + figure->offset);
}

/* Values of a figure, and whose they are. */
struct points {
	const char *figure;
	const double *values;
	const size_t *runs; /* indices */
	size_t count;
};

/* Returns how many changes there are. comparisons: of how many figures this is asked. */
static int64_t list_points(struct fact_sheet *out, const struct history_run *runs,
			   const struct points *points, size_t comparisons)
{
	if (points->count < CHANGE_POINT_MIN_RUNS)
		return 0;
	struct change_points found = tsi_change_points(points->values, points->count, comparisons,
						       tsi_sheet_scratch(out));
	for (size_t i = 0; i < found.count; i++) {
		const struct change_point *point = &found.items[i];
		struct tscope_value *cells = tsi_table_row(out, CHANGES_TABLE);
		size_t run = points->runs[point->first];
		cells[CHANGE_FIGURE] = tsi_text(points->figure);
		cells[CHANGE_RUN] = tsi_int((int64_t)run + 1);
		cells[CHANGE_EARLIEST] = tsi_int((int64_t)points->runs[point->earliest] + 1);
		cells[CHANGE_LATEST] = tsi_int((int64_t)points->runs[point->latest] + 1);
		cells[CHANGE_PATH] = tsi_text(runs[run].path);
		cells[CHANGE_BEFORE] = tsi_real(point->before);
		cells[CHANGE_AFTER] = tsi_real(point->after);
		if (point->before != 0)
			cells[CHANGE_RATIO] =
				tsi_real((point->after - point->before) / fabs(point->before));
		cells[CHANGE_P_VALUE] = tsi_real(point->p_value);
	}
	return (int64_t)found.count;
}

/* Runs that do not say it are passed over. */
static int64_t list_changes(struct fact_sheet *out, const struct history_run *runs, size_t count,
			    const struct figure *figure)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	double *values = tsi_arena_new(scratch, count, sizeof(*values));
	size_t *places = tsi_arena_new(scratch, count, sizeof(*places)), known = 0;

	for (size_t i = 0; values && places && i < count; i++) {
		places[known] = i;
		known += tsi_diff_number(value_of(&runs[i], figure), &values[known]);
	}
	return list_points(out, runs, &(struct points){ figure->name, values, places, known },
			   TSI_COUNT_OF(figures));
}

/* Those of figures[] under their own names. */
static bool is_listed(const char *id)
{
	static const char *const ids[] = { "step_time.mean_ns", "efficiency.mfu",
					   "budget.exposed_comm_total_ns",
					   "memory.peak_alloc_bytes" };

	for (size_t i = 0; i < TSI_COUNT_OF(ids); i++)
		if (strcmp(ids[i], id) == 0)
			return true;
	return false;
}

/* Does it vary, and in enough runs? Others are no question that could be answered wrongly. */
static bool is_question(const struct history_series *series)
{
	for (size_t i = 1; series->count >= CHANGE_POINT_MIN_RUNS && i < series->count; i++)
		if (series->values[i] != series->values[0])
			return true;
	return false;
}

/* All other facts that runs of a trend say; together they err as often as those above. */
static int64_t list_all_changes(struct fact_sheet *out, const struct comparison *comparison)
{
	const struct history_series *series = comparison->trend->series;
	size_t count = tsi_fact_place_count(), questions = 0, place = 0;
	int64_t changes = 0;

	for (size_t i = 0; i < count; i++)
		questions += is_question(&series[i]);
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		const struct tscope_analyzer_def *def = tscope_analyzer(i);

		for (size_t k = 0; k < def->fact_count; k++, place++) {
			const struct history_series *one = &series[place];
			if (!is_question(one))
				continue;
			const char *id = tsi_sheet_print(out, "%s.%s", def->id, def->facts[k].name);
			if (!is_listed(id))
				changes += list_points(
					out, comparison->runs,
					&(struct points){ id, one->values, one->runs, one->count },
					questions);
		}
	}
	return changes;
}

static void diff_history(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct comparison *comparison = scope->comparison;
	int64_t change_count = 0;

	if (comparison->run_count <= TSCOPE_SIDE_COUNT && !comparison->trend)
		return;
	for (size_t i = 0; i < comparison->run_count; i++)
		list_run(out, comparison->runs, i);
	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		change_count +=
			list_changes(out, comparison->runs, comparison->run_count, &figures[i]);
	tsi_fact_int(out, RUN_COUNT, (int64_t)comparison->run_count);
	if (comparison->trend) {
		change_count += list_all_changes(out, comparison);
		tsi_fact_int(out, TREND_COUNT, (int64_t)comparison->trend->count);
	}
	tsi_fact_int(out, CHANGE_COUNT, change_count);
}

const struct analyzer tsi_analyzer_history = {
	.def = {
		.id = "history",
		.summary = "more than two runs: where did figures change?",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of three runs or more",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_history,
};
