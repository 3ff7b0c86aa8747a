/* SPDX-License-Identifier: MIT */
/* The fact store: what is put on a sheet comes back, what is not stays absent. */
#include "analyze/fact_sheet.h"

#include <math.h>

#include "check.h"
#include "fail_alloc.h"

enum fact { COUNT, MEAN, NAME, IS_FAST, SHARE, FACTS };

static const struct tscope_fact_def facts[] = {
	[COUNT] = { "count", TSCOPE_UNIT_COUNT, "things" },
	[MEAN] = { "mean", TSCOPE_UNIT_NUMBER, "mean" },
	[NAME] = { "name", TSCOPE_UNIT_TEXT, "name" },
	[IS_FAST] = { "is_fast", TSCOPE_UNIT_FLAG, "fast" },
	[SHARE] = { "share_ratio", TSCOPE_UNIT_RATIO, "share" },
};

enum column { COLUMN_NAME, COLUMN_TOTAL, COLUMN_NOTE, COLUMNS };

static const struct tscope_fact_def columns[] = {
	[COLUMN_NAME] = { "name", TSCOPE_UNIT_TEXT, "name" },
	[COLUMN_TOTAL] = { "total_ns", TSCOPE_UNIT_NS, "total" },
	[COLUMN_NOTE] = { "note", TSCOPE_UNIT_COUNT, "place in the input" },
};

static const struct tscope_table_def tables[] = {
	{ "first", columns, COLUMNS, "rows", TSCOPE_TABLE_ROWS },
	{ "second", columns, COLUMNS, "never filled", TSCOPE_TABLE_ROWS },
};

static const struct tscope_analyzer_def def = {
	.id = "things",
	.facts = facts,
	.fact_count = FACTS,
	.tables = tables,
	.table_count = TSI_COUNT_OF(tables),
};

TEST(new_facts_are_absent)
{
	struct fact_sheet sheet;

	assert_int_equal(tsi_fact_sheet_init(&sheet, &def, NULL), TSCOPE_OK);
	for (size_t i = 0; i < FACTS; i++)
		assert_int_equal(sheet.facts[i].kind, TSCOPE_VALUE_ABSENT);
	assert_int_equal(sheet.tables[0].row_count, 0);
	assert_null(sheet.unreliable);
	tsi_fact_sheet_deinit(&sheet);
	tsi_fact_sheet_deinit(&sheet); /* a zeroed sheet is fine */
}

TEST(facts_come_back_as_they_were_put)
{
	struct fact_sheet sheet;

	assert_int_equal(tsi_fact_sheet_init(&sheet, &def, NULL), TSCOPE_OK);
	tsi_fact_int(&sheet, COUNT, -3);
	tsi_fact_real(&sheet, MEAN, 2.5);
	tsi_fact_text(&sheet, NAME, "gemm");
	tsi_fact_flag(&sheet, IS_FAST, true);
	tsi_fact_ratio(&sheet, SHARE, 1, 4);
	assert_int_equal(sheet.facts[COUNT].kind, TSCOPE_VALUE_INT);
	assert_int_equal(sheet.facts[COUNT].integer, -3);
	assert_int_equal(sheet.facts[MEAN].kind, TSCOPE_VALUE_REAL);
	assert_true(sheet.facts[MEAN].real == 2.5);
	assert_int_equal(sheet.facts[NAME].kind, TSCOPE_VALUE_TEXT);
	assert_string_equal(sheet.facts[NAME].text, "gemm");
	assert_int_equal(sheet.facts[IS_FAST].kind, TSCOPE_VALUE_FLAG);
	assert_true(sheet.facts[IS_FAST].flag);
	assert_int_equal(sheet.facts[SHARE].kind, TSCOPE_VALUE_REAL);
	assert_true(sheet.facts[SHARE].real == 0.25);
	tsi_fact_sheet_deinit(&sheet);
}

TEST(what_is_no_number_is_absent)
{
	struct fact_sheet sheet;

	assert_int_equal(tsi_fact_sheet_init(&sheet, &def, NULL), TSCOPE_OK);
	tsi_fact_real(&sheet, MEAN, (double)NAN);
	assert_int_equal(sheet.facts[MEAN].kind, TSCOPE_VALUE_ABSENT);
	tsi_fact_real(&sheet, MEAN, -(double)INFINITY);
	assert_int_equal(sheet.facts[MEAN].kind, TSCOPE_VALUE_ABSENT);
	tsi_fact_ratio(&sheet, SHARE, 0, 0);
	assert_int_equal(sheet.facts[SHARE].kind, TSCOPE_VALUE_ABSENT);
	assert_int_equal(tsi_ratio(7, 0).kind, TSCOPE_VALUE_ABSENT);
	tsi_fact_sheet_deinit(&sheet);
}

TEST(the_first_doubt_stays)
{
	struct fact_sheet sheet;

	assert_int_equal(tsi_fact_sheet_init(&sheet, &def, NULL), TSCOPE_OK);
	tsi_fact_unreliable(&sheet, "graphs without kernels");
	tsi_fact_unreliable(&sheet, "something else");
	assert_string_equal(sheet.unreliable, "graphs without kernels");
	tsi_fact_sheet_deinit(&sheet);
}

static void add_row(struct fact_sheet *sheet, const char *name, int64_t total_ns)
{
	struct tscope_value *cells = tsi_table_row(sheet, 0);

	if (sheet->scratch.has_failed)
		return;
	for (size_t i = 0; i < COLUMNS; i++)
		assert_int_equal(cells[i].kind, TSCOPE_VALUE_ABSENT);
	cells[COLUMN_NAME] = tsi_text(name);
	if (total_ns >= 0)
		cells[COLUMN_TOTAL] = tsi_int(total_ns);
	cells[COLUMN_NOTE] = tsi_int((int64_t)sheet->tables[0].row_count - 1);
}

TEST(rows_sort_by_number_then_text_then_place)
{
	static const struct {
		const char *name;
		int64_t total_ns; /* -1: absent, which is last */
	} rows[] = { { "b", 5 }, { "a", 5 }, { "z", -1 }, { "c", 9 }, { "a", 5 }, { "d", 0 } };
	static const int64_t sorted_places[] = { 3, 1, 4, 0, 5, 2 };
	struct fact_sheet sheet;

	assert_int_equal(tsi_fact_sheet_init(&sheet, &def, NULL), TSCOPE_OK);
	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++)
		add_row(&sheet, rows[i].name, rows[i].total_ns);
	tsi_table_order(&sheet, 0, COLUMN_TOTAL, COLUMN_NAME);
	assert_int_equal(sheet.tables[0].row_count, TSI_COUNT_OF(rows));
	for (size_t i = 0; i < TSI_COUNT_OF(rows); i++)
		assert_int_equal(sheet.tables[0].cells[i * COLUMNS + COLUMN_NOTE].integer,
				 sorted_places[i]);

	/* A table without rows sorts, and rows may still follow. */
	tsi_table_order(&sheet, 1, COLUMN_TOTAL, COLUMN_NAME);
	add_row(&sheet, "e", 1);
	assert_int_equal(sheet.tables[0].row_count, TSI_COUNT_OF(rows) + 1);
	assert_int_equal(tsi_fact_sheet_status(&sheet, NULL), TSCOPE_OK);
	tsi_fact_sheet_deinit(&sheet);
}

static enum tscope_status fill_and_sort(struct tscope_error *err)
{
	struct fact_sheet sheet = { 0 };
	enum tscope_status status = tsi_fact_sheet_init(&sheet, &def, err);

	for (int i = 0; status == TSCOPE_OK && i < 40; i++)
		add_row(&sheet, "row", i);
	if (status == TSCOPE_OK) {
		tsi_table_order(&sheet, 0, COLUMN_TOTAL, COLUMN_NAME);
		status = tsi_fact_sheet_status(&sheet, err);
	}
	tsi_fact_sheet_deinit(&sheet);
	return status;
}

TEST(every_allocation_may_fail)
{
	/* facts, tables, rows three times, keys, sorted rows */
	struct alloc_sweep sweep = { .at_least = 5 };
	while (alloc_sweep_next(&sweep))
		alloc_sweep_try(&sweep, fill_and_sort(&sweep.err));
}
