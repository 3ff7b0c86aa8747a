/* SPDX-License-Identifier: MIT */
/*
 * The metrics that a job logged, name by name, as they were joined to the steps of a rank; and
 * what was taken for its learning rate, throughput and MFU. The loss itself is convergence's.
 * Figures are of all values but those of warm-up, means and extremes of those that are finite.
 */
#include "analyze/facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/scalars.h"

#define FACTS(X)                                                                                   \
	X(NAME_COUNT, "name_count", COUNT, "different metrics")                                    \
	X(VALUE_COUNT, "value_count", COUNT, "their values")                                       \
	X(NONFINITE_COUNT, "nonfinite_count", COUNT, "of these, NaN or infinite")                  \
	X(LOSS_NAME, "loss_name", TEXT, "metric taken for the loss")                               \
	X(GRAD_NORM_NAME, "grad_norm_name", TEXT, "metric taken for the gradient's norm")          \
	X(LEARNING_RATE_NAME, "learning_rate_name", TEXT, "metric taken for the learning rate")    \
	X(LEARNING_RATE, "learning_rate", NUMBER, "its last value")                                \
	X(THROUGHPUT_NAME, "throughput_name", TEXT, "metric taken for the throughput")             \
	X(THROUGHPUT, "throughput", NUMBER, "its mean")                                            \
	X(MFU_NAME, "mfu_name", TEXT, "metric taken for the MFU")                                  \
	X(MFU_RATIO, "mfu_ratio", RATIO, "its mean, as logged")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define BY_NAME_COLUMNS(X)                                                                         \
	X(BY_NAME_NAME, "name", TEXT, "as it was logged")                                          \
	X(BY_NAME_ROLE, "role", TEXT, "loss, grad_norm, learning_rate, throughput, mfu or empty")  \
	X(BY_NAME_SOURCE, "source", TEXT, "steps_jsonl, csv, json, tensorboard, mlflow")           \
	X(BY_NAME_COUNT, "count", COUNT, "values")                                                 \
	X(BY_NAME_FIRST_STEP, "first_step", COUNT, "step of the first")                            \
	X(BY_NAME_LAST_STEP, "last_step", COUNT, "step of the last")                               \
	X(BY_NAME_FIRST, "first", NUMBER, "first value")                                           \
	X(BY_NAME_LAST, "last", NUMBER, "last value")                                              \
	X(BY_NAME_MIN, "min", NUMBER, "smallest value")                                            \
	X(BY_NAME_MAX, "max", NUMBER, "largest value")                                             \
	X(BY_NAME_MEAN, "mean", NUMBER, "mean of the finite values")                               \
	X(BY_NAME_NONFINITE_COUNT, "nonfinite_count", COUNT, "values that are NaN or infinite")

TSI_FACT_LIST(enum by_name_column, by_name_columns, BY_NAME_COLUMNS);

#define TABLES(X) X(TABLE_BY_NAME, "by_name", by_name_columns, "each metric")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* The values of one metric. */
struct tally {
	const struct step_scalar *scalar; /* NULL: the name is none of a metric */
	int64_t count, finite_count;
	int64_t first_step, last_step;
	double first, last;    /* may be NaN or infinite */
	double min, max, mean; /* of the finite ones, if any */
};

static void add_value(struct tally *tally, int64_t step, double value)
{
	if (tally->count++ == 0) {
		tally->first_step = step;
		tally->first = value;
	}
	tally->last_step = step;
	tally->last = value;
	if (!isfinite(value))
		return;
	tally->min = tally->finite_count == 0 ? value : fmin(tally->min, value);
	tally->max = tally->finite_count == 0 ? value : fmax(tally->max, value);
	tally->finite_count++;
	/* Part by part, so that no sum overflows. */
	tally->mean +=
		value / (double)tally->finite_count - tally->mean / (double)tally->finite_count;
}

static void add_of_records(struct tally *tallies, const struct step_series *steps,
			   enum scalar_role role)
{
	const struct step_scalar *scalar = tsi_scalar_of_role(steps, role);
	double value;

	for (size_t i = 0; scalar && i < steps->count; i++)
		if (tsi_step_is_trained(&steps->records[i]) &&
		    tsi_scalar_of_record(&steps->records[i], role, &value))
			add_value(&tallies[scalar->name], steps->records[i].number, value);
}

/* By name; NULL without memory. */
static struct tally *make_tallies(const struct step_series *steps, struct arena *scratch)
{
	struct tally *tallies = tsi_arena_new(scratch, steps->names.count, sizeof(*tallies));

	if (!tallies)
		return NULL;
	for (size_t i = 0; i < steps->scalar_name_count; i++)
		tallies[steps->scalar_names[i].name].scalar = &steps->scalar_names[i];
	add_of_records(tallies, steps, SCALAR_LOSS);
	add_of_records(tallies, steps, SCALAR_GRAD_NORM);
	for (size_t i = 0; i < steps->scalars.count; i++) {
		const struct step_extra *scalar = &steps->scalars.items[i];
		const struct step_record *record = &steps->records[scalar->record];

		if (tsi_step_is_trained(record))
			add_value(&tallies[scalar->name], record->number, scalar->value);
	}
	return tallies;
}

/* ---- rows ---- */

/* A row of the table before it is one. */
struct row {
	const struct tally *tally;
	const char *name;
};

/* Scalars with a role first, then by name. */
static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	TSI_ASCENDING(a->tally->scalar->role, b->tally->scalar->role);
	return strcmp(a->name, b->name);
}

static void fill_row(struct tscope_value *cells, const struct row *row,
		     const struct step_series *steps)
{
	const struct tally *tally = row->tally;
	enum scalar_role role = (enum scalar_role)tally->scalar->role;

	cells[BY_NAME_NAME] = tsi_text(row->name);
	cells[BY_NAME_ROLE] = tsi_text(tsi_scalar_role_name(role));
	cells[BY_NAME_SOURCE] =
		tsi_text(tsi_intern_text(&steps->names, tally->scalar->source).data);
	cells[BY_NAME_COUNT] = tsi_int(tally->count);
	cells[BY_NAME_FIRST_STEP] = tsi_int(tally->first_step);
	cells[BY_NAME_LAST_STEP] = tsi_int(tally->last_step);
	cells[BY_NAME_FIRST] = tsi_real(tally->first);
	cells[BY_NAME_LAST] = tsi_real(tally->last);
	cells[BY_NAME_NONFINITE_COUNT] = tsi_int(tally->count - tally->finite_count);
	if (tally->finite_count == 0)
		return;
	cells[BY_NAME_MIN] = tsi_real(tally->min);
	cells[BY_NAME_MAX] = tsi_real(tally->max);
	cells[BY_NAME_MEAN] = tsi_real(tally->mean);
}

/* ---- facts ---- */

static void put_mfu(struct fact_sheet *out, const struct row *row)
{
	double mfu = row->tally->mean;

	if (tsi_scalar_is_percent(tsi_str_of(row->name)))
		mfu /= 100;
	else if (mfu > 1)
		tsi_fact_doubt(out, MFU_RATIO,
			       "above 1: perhaps a percentage, which its name does not say");
	tsi_fact_real(out, MFU_RATIO, mfu);
}

static void put_role(struct fact_sheet *out, const struct row *row)
{
	static const enum fact names[] = {
		[SCALAR_LOSS] = LOSS_NAME,
		[SCALAR_GRAD_NORM] = GRAD_NORM_NAME,
		[SCALAR_LEARNING_RATE] = LEARNING_RATE_NAME,
		[SCALAR_THROUGHPUT] = THROUGHPUT_NAME,
		[SCALAR_MFU] = MFU_NAME,
	};
	uint8_t role = row->tally->scalar->role;

	if (role == SCALAR_OTHER)
		return;
	tsi_fact_text(out, names[role], row->name);
	if (role == SCALAR_LEARNING_RATE)
		tsi_fact_real(out, LEARNING_RATE, row->tally->last);
	if (row->tally->finite_count == 0)
		return;
	if (role == SCALAR_THROUGHPUT)
		tsi_fact_real(out, THROUGHPUT, row->tally->mean);
	if (role == SCALAR_MFU)
		put_mfu(out, row);
}

static void put_facts(struct fact_sheet *out, const struct row *rows, size_t count)
{
	int64_t value_count = 0, nonfinite_count = 0;

	for (size_t i = 0; i < count; i++) {
		value_count += rows[i].tally->count;
		nonfinite_count += rows[i].tally->count - rows[i].tally->finite_count;
		put_role(out, &rows[i]);
	}
	tsi_fact_int(out, NAME_COUNT, (int64_t)count);
	tsi_fact_int(out, VALUE_COUNT, value_count);
	tsi_fact_int(out, NONFINITE_COUNT, nonfinite_count);
}

static void put_tallies(struct fact_sheet *out, const struct step_series *steps,
			const struct tally *tallies)
{
	struct row *rows =
		tsi_arena_new(tsi_sheet_scratch(out), steps->scalar_name_count, sizeof(*rows));
	size_t count = 0;

	if (!rows)
		return;
	for (uint32_t name = 0; name < steps->names.count; name++)
		if (tallies[name].scalar && tallies[name].count > 0)
			rows[count++] = (struct row){ &tallies[name],
						      tsi_intern_text(&steps->names, name).data };
	if (count == 0)
		return;
	qsort(rows, count, sizeof(*rows), compare_rows);
	put_facts(out, rows, count);
	for (size_t i = 0; i < count; i++)
		fill_row(tsi_table_row(out, TABLE_BY_NAME), &rows[i], steps);
}

static void fill_scalars(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tally *tallies = make_tallies(scope->steps, tsi_sheet_scratch(out));

	if (tallies)
		put_tallies(out, scope->steps, tallies);
}

const struct analyzer tsi_analyzer_scalars = {
	.def = {
		.id = "scalars",
		.summary = "metrics that the job logged: learning rate, throughput and all others",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "step records with scalars, or metrics (csv, TensorBoard, MLflow)",
	},
	.levels = LEVEL_RANK,
	.fill = fill_scalars,
};
