/* SPDX-License-Identifier: MIT */
/*
 * More than two runs, as nightly ones: figures of each, and where their level changed. The first is
 * the baseline; all else that a comparison says is of the first and the last.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "analyze/shared/chance.h"
#include "diff/change_points.h"
#include "diff/comparison.h"

#include <math.h>

#define FACTS(X)                                                                                   \
	X(RUN_COUNT, "run_count", COUNT, "runs that were compared")                                \
	X(CHANGE_COUNT, "change_count", COUNT, "of the list of changes")

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
	X(CHANGE_FIGURE, "figure", TEXT, "step_ns, mfu, exposed_comm_ns or peak_bytes")            \
	X(CHANGE_RUN, "run", COUNT, "the first run of the new level")                              \
	X(CHANGE_PATH, "path", TEXT, "of this run")                                                \
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

/* Half of the interval of the mean step; absent of fewer than two steps. */
static struct tscope_value reach_of(const struct tscope_analysis *analysis, int64_t mean_ns)
{
	static const double outside = 0.05;
	double count = (double)tsi_lookup_int(analysis, "step_time.count"), cv;

	if (count < 2 || !tsi_diff_number(tsi_lookup(analysis, "step_time.cv"), &cv))
		return (struct tscope_value){ 0 };
	/* cv is of the population. */
	double error = cv * (double)mean_ns / sqrt(count - 1);
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
	struct history_run run = {
		.path = path,
		.step_ns = tsi_lookup(analysis, "step_time.mean_ns"),
		.mfu = tsi_lookup(analysis, "efficiency.mfu"),
		.exposed_comm_ns = exposed_comm(analysis),
		.peak_bytes = tsi_lookup(analysis, "memory.peak_alloc_bytes"),
		.finding_count = (int64_t)tscope_diagnosis_finding_count(diagnosis),
	};

	if (run.step_ns.kind == TSCOPE_VALUE_INT)
		run.reach_ns = reach_of(analysis, run.step_ns.integer);
	return run;
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
	cells[RUN_FINDING_COUNT] = tsi_int(runs[i].finding_count);
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

/* Runs that do not say it are passed over. Returns how many changes there are. */
static size_t list_changes(struct fact_sheet *out, const struct history_run *runs, size_t count,
			   const struct figure *figure)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	double *values = tsi_arena_new(scratch, count, sizeof(*values));
	size_t *places = tsi_arena_new(scratch, count, sizeof(*places)), known = 0;

	for (size_t i = 0; values && places && i < count; i++) {
		places[known] = i;
		known += tsi_diff_number(value_of(&runs[i], figure), &values[known]);
	}
	if (known < CHANGE_POINT_MIN_RUNS)
		return 0;
	struct change_points points =
		tsi_change_points(values, known, TSI_COUNT_OF(figures), scratch);
	for (size_t i = 0; i < points.count; i++) {
		const struct change_point *point = &points.items[i];
		struct tscope_value *cells = tsi_table_row(out, CHANGES_TABLE);
		cells[CHANGE_FIGURE] = tsi_text(figure->name);
		cells[CHANGE_RUN] = tsi_int((int64_t)places[point->first] + 1);
		cells[CHANGE_PATH] = tsi_text(runs[places[point->first]].path);
		cells[CHANGE_BEFORE] = tsi_real(point->before);
		cells[CHANGE_AFTER] = tsi_real(point->after);
		if (point->before != 0)
			cells[CHANGE_RATIO] =
				tsi_real((point->after - point->before) / fabs(point->before));
		cells[CHANGE_P_VALUE] = tsi_real(point->p_value);
	}
	return points.count;
}

static void diff_history(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct comparison *comparison = scope->comparison;
	size_t change_count = 0;

	if (comparison->run_count <= TSCOPE_SIDE_COUNT)
		return;
	for (size_t i = 0; i < comparison->run_count; i++)
		list_run(out, comparison->runs, i);
	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		change_count +=
			list_changes(out, comparison->runs, comparison->run_count, &figures[i]);
	tsi_fact_int(out, RUN_COUNT, (int64_t)comparison->run_count);
	tsi_fact_int(out, CHANGE_COUNT, (int64_t)change_count);
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
