/* SPDX-License-Identifier: MIT */
/*
 * From the tables of steps of two sides to tests of significance. A step without one of the phases
 * spent no time in it, so it counts with 0; one without a budget is not known to any line.
 */
#include "diff/step_tests.h"

#include <string.h>

#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "base/sort.h"
#include "base/sum.h"
#include "diff/trend.h"

/* A share of 1 in a sample of integers. */
static const double whole_share = 1e9;

/* A column of one side, in the steps that count. */
struct column_values {
	int64_t *values;
	size_t count;
	bool occurs;
	bool takes_time; /* a value is not 0 */
};

static bool has_prefix(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- one side ----------------------------------------------------------------------------- */

static bool is_figure(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_INT && value.integer >= 0;
}

/* The columns that a sample is made of. */
struct read_columns {
	size_t mark, time, value;
	bool missing_is_0;
	enum part_measure measure;
};

static void read_row(struct column_values *column, const struct table_view *steps, size_t row,
		     const struct read_columns *columns)
{
	struct tscope_value mark = tsi_table_cell(steps, row, columns->mark);
	struct tscope_value time = tsi_table_cell(steps, row, columns->time);
	struct tscope_value value = tsi_table_cell(steps, row, columns->value);
	bool is_marked = mark.kind == TSCOPE_VALUE_TEXT && mark.text[0] != '\0';

	if (is_marked || !is_figure(time) || (!is_figure(value) && !columns->missing_is_0))
		return;
	int64_t number = is_figure(value) ? value.integer : 0;
	column->occurs |= is_figure(value);
	column->takes_time |= number != 0;
	if (columns->measure == PART_SHARE)
		number = time.integer
				 ? (int64_t)((double)number / (double)time.integer * whole_share)
				 : 0;
	column->values[column->count++] = number;
}

static struct column_values read_column(const struct tscope_analysis *analysis, const char *name,
					enum part_measure measure, struct arena *scratch)
{
	struct table_view steps = tsi_lookup_table(analysis, "series.steps");
	struct read_columns columns = {
		.mark = tsi_table_column(&steps, "mark"),
		.time = tsi_table_column(&steps, "time_ns"),
		.value = tsi_table_column(&steps, name),
		.missing_is_0 = has_prefix(name, "phase_"),
		.measure = measure,
	};
	struct column_values column = {
		.values = tsi_arena_new(scratch, steps.row_count, sizeof(*column.values)),
	};

	for (size_t row = 0; column.values && row < steps.row_count; row++)
		read_row(&column, &steps, row, &columns);
	return column;
}

static int64_t mean_of(const struct column_values *column)
{
	tsi_wide sum = 0;

	for (size_t i = 0; i < column->count; i++)
		sum += column->values[i];
	return tsi_mean(tsi_narrow(sum), (int64_t)column->count).integer;
}

/* The mean of both in the middle. */
static int64_t median_of(const struct column_values *column, struct arena *scratch)
{
	int64_t *sorted = tsi_arena_new(scratch, column->count, sizeof(*sorted));
	size_t middle = column->count / 2;

	if (!sorted || column->count == 0)
		return 0;
	memcpy(sorted, column->values, column->count * sizeof(*sorted));
	tsi_select_number(sorted, column->count, middle);
	int64_t upper = sorted[middle];
	if (column->count % 2)
		return upper;
	tsi_select_number(sorted, column->count, middle - 1);
	return tsi_narrow(((tsi_wide)upper + sorted[middle - 1]) / 2);
}

/* ---- both sides --------------------------------------------------------------------------- */

struct column_pair {
	struct column_values sides[TSCOPE_SIDE_COUNT];
};

static struct column_pair read_pair(const struct tested_sides *sides, const char *name,
				    enum part_measure measure, struct arena *scratch)
{
	struct column_pair pair;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		pair.sides[i] = read_column(sides->analysis[i], name, measure, scratch);
	return pair;
}

static enum diff_verdict verdict_by_presence(const struct step_test *test)
{
	if (test->is_in[TSCOPE_SIDE_A] == test->is_in[TSCOPE_SIDE_B])
		return DIFF_NOT_TESTED;
	return test->is_in[TSCOPE_SIDE_A] ? DIFF_ONLY_A : DIFF_ONLY_B;
}

static void test_pair(struct step_test *test, const struct column_pair *pair, size_t comparisons,
		      struct arena *memory)
{
	const struct column_values *a = &pair->sides[TSCOPE_SIDE_A],
				   *b = &pair->sides[TSCOPE_SIDE_B];
	struct sample sample_a = { a->values, a->count }, sample_b = { b->values, b->count };

	test->test = tsi_sample_test(&sample_a, &sample_b, comparisons, memory);
	test->verdict = test->test.verdict;
}

/* Frees what was needed for a while. */
static void close_scratch(struct arena *scratch, struct arena *memory)
{
	memory->has_failed |= scratch->has_failed;
	tsi_arena_deinit(scratch);
}

static void test_by_trend(struct step_test *test, const struct tested_sides *sides,
			  struct arena *scratch)
{
	struct tscope_value newest =
		tsi_lookup(sides->analysis[TSCOPE_SIDE_B], "step_time.mean_ns");
	size_t analyzer, fact;

	if (!tsi_find_fact("step_time.mean_ns", &analyzer, &fact))
		return;
	test->test = tsi_trend_figure(sides->trend, analyzer, fact, newest, scratch).test;
	test->verdict = test->test.verdict;
}

struct step_test tsi_test_step_time(const struct tested_sides *sides, size_t comparisons,
				    struct arena *memory)
{
	struct step_test test = { .column = "time_ns" };
	struct arena scratch = { 0 };
	struct column_pair pair = read_pair(sides, "time_ns", PART_TIME, &scratch);
	bool are_there = true;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		struct tscope_value mean = tsi_lookup(sides->analysis[i], "step_time.mean_ns");
		test.is_in[i] = is_figure(mean);
		test.mean[i] = test.is_in[i] ? mean.integer : 0;
		test.count[i] = pair.sides[i].count;
		are_there &= test.is_in[i] && test.count[i] > 0;
		if (!test.doubt && test.is_in[i])
			test.doubt = tsi_lookup_doubt(sides->analysis[i], "step_time.mean_ns");
	}
	test.verdict = verdict_by_presence(&test);
	if (sides->trend && test.is_in[TSCOPE_SIDE_A] && test.is_in[TSCOPE_SIDE_B] && !test.doubt)
		test_by_trend(&test, sides, &scratch);
	else if (are_there && !test.doubt)
		test_pair(&test, &pair, comparisons, &scratch);
	close_scratch(&scratch, memory);
	return test;
}

static void describe(struct step_test *test, const struct column_pair *pair, const char *column,
		     struct arena *scratch)
{
	*test = (struct step_test){ .column = column };
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		test->is_in[i] = pair->sides[i].occurs;
		test->mean[i] = pair->sides[i].count ? mean_of(&pair->sides[i]) : 0;
		test->p50[i] = median_of(&pair->sides[i], scratch);
		test->count[i] = pair->sides[i].count;
	}
	test->verdict = verdict_by_presence(test);
}

struct step_test tsi_test_step_column(const struct tested_sides *sides, const char *column,
				      struct arena *memory)
{
	struct step_test test;
	struct arena scratch = { 0 };
	struct column_pair pair = read_pair(sides, column, PART_TIME, &scratch);

	describe(&test, &pair, column, &scratch);
	if (test.is_in[TSCOPE_SIDE_A] && test.is_in[TSCOPE_SIDE_B])
		test_pair(&test, &pair, 1, &scratch);
	close_scratch(&scratch, memory);
	return test;
}

/* ---- parts -------------------------------------------------------------------------------- */

static bool is_part(const char *column)
{
	return has_prefix(column, "line_") || has_prefix(column, "phase_") ||
	       has_prefix(column, "host_");
}

/* Times of devices may be in doubt where those of steps are not. */
static const char *doubt_of(const struct tested_sides *sides, const char *column)
{
	const char *doubt = NULL;

	for (size_t i = 0; !doubt && i < TSCOPE_SIDE_COUNT; i++) {
		doubt = tsi_lookup_doubt(sides->analysis[i], "step_time.mean_ns");
		if (!doubt && has_prefix(column, "line_"))
			doubt = tsi_lookup_doubt(sides->analysis[i], "budget.wall_total_ns");
	}
	return doubt;
}

/* A phase that only one side has took no time on the other, if that has phases at all. */
static void settle_phase(struct step_test *test, const bool *has_phases)
{
	if (!has_prefix(test->column, "phase_"))
		return;
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		test->is_in[i] |= has_phases[i];
	test->verdict = verdict_by_presence(test);
}

struct part_reader {
	const struct tested_sides *sides;
	enum part_measure measure;
	struct column_pair *pairs; /* of each part */
	struct part_tests tests;
	size_t comparisons;
	bool has_phases[TSCOPE_SIDE_COUNT];
	struct arena scratch;
};

static void read_part(struct part_reader *reader, const char *column)
{
	struct step_test *test = &reader->tests.items[reader->tests.count];
	struct column_pair *pair = &reader->pairs[reader->tests.count];

	*pair = read_pair(reader->sides, column, reader->measure, &reader->scratch);
	describe(test, pair, column, &reader->scratch);
	if (!test->is_in[TSCOPE_SIDE_A] && !test->is_in[TSCOPE_SIDE_B])
		return;
	test->doubt = doubt_of(reader->sides, column);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++)
		reader->has_phases[i] |= test->is_in[i] && has_prefix(column, "phase_");
	reader->comparisons +=
		pair->sides[TSCOPE_SIDE_A].takes_time || pair->sides[TSCOPE_SIDE_B].takes_time;
	reader->tests.count++;
}

static void test_part(struct part_reader *reader, size_t part)
{
	struct step_test *test = &reader->tests.items[part];

	settle_phase(test, reader->has_phases);
	if (!test->doubt && test->is_in[TSCOPE_SIDE_A] && test->is_in[TSCOPE_SIDE_B])
		test_pair(test, &reader->pairs[part], reader->comparisons ? reader->comparisons : 1,
			  &reader->scratch);
}

struct part_tests tsi_test_parts(const struct tested_sides *sides, enum part_measure measure,
				 struct arena *memory)
{
	size_t analyzer, table;
	const struct tscope_table_def *def = tscope_table_find("series.steps", &analyzer, &table);
	struct part_reader reader = { .sides = sides, .measure = measure };

	if (doubt_of(sides, "time_ns"))
		return reader.tests;
	reader.tests.items = tsi_arena_new(memory, def->column_count, sizeof(*reader.tests.items));
	if (!reader.tests.items)
		return reader.tests;
	reader.pairs = tsi_arena_new(&reader.scratch, def->column_count, sizeof(*reader.pairs));
	/* All columns first: how many there are decides how certain each has to be. */
	for (size_t i = 0; reader.pairs && i < def->column_count; i++)
		if (is_part(def->columns[i].name))
			read_part(&reader, def->columns[i].name);
	for (size_t i = 0; i < reader.tests.count; i++)
		test_part(&reader, i);
	close_scratch(&reader.scratch, memory);
	return reader.tests;
}

const struct step_test *tsi_part_tests_find(const struct part_tests *tests, const char *column)
{
	for (size_t i = 0; i < tests->count; i++)
		if (strcmp(tests->items[i].column, column) == 0)
			return &tests->items[i];
	return NULL;
}
