/* SPDX-License-Identifier: MIT */
/*
 * The fact store: a sheet holds what one analyzer found out for one scope.
 * Values are addressed by the indices of the analyzer's definitions, so a
 * sheet has no names of its own. Tables are flat arrays of cells, row by row.
 */
#include "analyze/fact_sheet.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static enum tscope_status make_room(struct fact_sheet *sheet, const struct tscope_analyzer_def *def,
				    struct tscope_error *err)
{
	if (tsi_array_new(&sheet->facts, def->fact_count, sizeof(*sheet->facts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (tsi_array_new(&sheet->doubts, def->fact_count, sizeof(*sheet->doubts), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	size_t widest = 0;
	for (size_t i = 0; i < def->table_count; i++)
		if (def->tables[i].column_count > widest)
			widest = def->tables[i].column_count;
	if (tsi_array_new(&sheet->spare_row, widest, sizeof(*sheet->spare_row), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&sheet->tables, def->table_count, sizeof(*sheet->tables), err);
}

enum tscope_status tsi_fact_sheet_init(struct fact_sheet *sheet,
				       const struct tscope_analyzer_def *def,
				       struct tscope_error *err)
{
	*sheet = (struct fact_sheet){ .def = def };
	enum tscope_status status = make_room(sheet, def, err);

	/* One that is asked for later may be looked at nevertheless. */
	if (status != TSCOPE_OK)
		tsi_fact_sheet_deinit(sheet);
	return status;
}

enum tscope_status tsi_fact_sheet_status(const struct fact_sheet *sheet, struct tscope_error *err)
{
	enum tscope_status status = tsi_arena_status(&sheet->texts, err);

	return status == TSCOPE_OK ? tsi_arena_status(&sheet->scratch, err) : status;
}

enum tscope_status tsi_fill_sheet(const struct analyzer *analyzer,
				  const struct analysis_scope *scope, struct fact_sheet *sheet,
				  struct tscope_error *err)
{
	enum tscope_status status = tsi_fact_sheet_init(sheet, &analyzer->def, err);
	if (status != TSCOPE_OK)
		return status;
	sheet->scratch.spill = scope->trace ? scope->trace->spill : NULL;
	analyzer->fill(scope, sheet);
	status = tsi_fact_sheet_status(sheet, err);
	tsi_arena_deinit(&sheet->scratch);
	return status;
}

void tsi_fact_sheet_deinit(struct fact_sheet *sheet)
{
	for (size_t i = 0; sheet->tables && i < sheet->def->table_count; i++)
		free(sheet->tables[i].cells);
	free(sheet->tables);
	free(sheet->spare_row);
	tsi_arena_deinit(&sheet->texts);
	tsi_arena_deinit(&sheet->scratch);
	free(sheet->doubts);
	free(sheet->facts);
	*sheet = (struct fact_sheet){ 0 };
}

static void set_fact(struct fact_sheet *sheet, size_t fact, struct tscope_value value)
{
	assert(fact < sheet->def->fact_count);
	sheet->facts[fact] = value;
}

void tsi_fact_int(struct fact_sheet *sheet, size_t fact, int64_t value)
{
	set_fact(sheet, fact, tsi_int(value));
}

void tsi_fact_real(struct fact_sheet *sheet, size_t fact, double value)
{
	set_fact(sheet, fact, tsi_real(value));
}

void tsi_fact_text(struct fact_sheet *sheet, size_t fact, const char *text)
{
	set_fact(sheet, fact, tsi_text(text));
}

void tsi_fact_flag(struct fact_sheet *sheet, size_t fact, bool flag)
{
	set_fact(sheet, fact, (struct tscope_value){ .kind = TSCOPE_VALUE_FLAG, .flag = flag });
}

void tsi_fact_ratio(struct fact_sheet *sheet, size_t fact, int64_t numerator, int64_t denominator)
{
	set_fact(sheet, fact, tsi_ratio(numerator, denominator));
}

void tsi_fact_mean(struct fact_sheet *sheet, size_t fact, int64_t total, int64_t count)
{
	set_fact(sheet, fact, tsi_mean(total, count));
}

void tsi_fact_unreliable(struct fact_sheet *sheet, const char *reason)
{
	if (!sheet->unreliable)
		sheet->unreliable = reason;
}

void tsi_fact_doubt(struct fact_sheet *sheet, size_t fact, const char *reason)
{
	assert(fact < sheet->def->fact_count);
	if (!sheet->doubts[fact])
		sheet->doubts[fact] = reason;
}

struct tscope_value tsi_real(double real)
{
	if (!isfinite(real))
		return (struct tscope_value){ 0 };
	return (struct tscope_value){ .kind = TSCOPE_VALUE_REAL, .real = real };
}

struct tscope_value tsi_ratio(int64_t numerator, int64_t denominator)
{
	if (denominator == 0)
		return (struct tscope_value){ 0 };
	return tsi_real((double)numerator / (double)denominator);
}

struct tscope_value tsi_mean(int64_t total, int64_t count)
{
	if (count == 0)
		return (struct tscope_value){ 0 };
	int64_t rest = total % count;
	return tsi_int(total / count + (rest >= count - rest));
}

struct tscope_value *tsi_table_row(struct fact_sheet *sheet, size_t table)
{
	assert(table < sheet->def->table_count);
	struct fact_table *rows = &sheet->tables[table];
	size_t columns = sheet->def->tables[table].column_count;

	if (tsi_array_reserve(&rows->cells, &rows->row_capacity, rows->row_count + 1,
			      columns * sizeof(*rows->cells), NULL) != TSCOPE_OK) {
		sheet->scratch.has_failed = true;
		return sheet->spare_row;
	}
	struct tscope_value *cells = &rows->cells[rows->row_count++ * columns];
	return memset(cells, 0, columns * sizeof(*cells));
}

/* Sort key of a row. */
struct row_key {
	int64_t number;
	const char *text;
	size_t row;
};

static int compare_keys(const void *left, const void *right)
{
	const struct row_key *a = left, *b = right;

	TSI_DESCENDING(a->number, b->number);
	int order = strcmp(a->text, b->text);
	if (order)
		return order;
	return a->row < b->row ? -1 : 1;
}

static struct row_key key_of_row(const struct tscope_value *cells, size_t row, size_t number_column,
				 size_t text_column)
{
	const struct tscope_value *number = &cells[number_column], *text = &cells[text_column];

	return (struct row_key){
		.number = number->kind == TSCOPE_VALUE_INT ? number->integer : INT64_MIN,
		.text = text->kind == TSCOPE_VALUE_TEXT ? text->text : "",
		.row = row,
	};
}

void tsi_table_order(struct fact_sheet *sheet, size_t table, size_t by_column,
		     size_t then_text_column)
{
	struct fact_table *rows = &sheet->tables[table];
	size_t columns = sheet->def->tables[table].column_count, count = rows->row_count;
	struct tscope_value *sorted = NULL;
	struct row_key *keys = NULL;

	assert(by_column < columns && then_text_column < columns);
	if (count < 2)
		return;
	if (tsi_array_make(&sorted, count, columns * sizeof(*sorted), NULL) != TSCOPE_OK ||
	    tsi_array_make(&keys, count, sizeof(*keys), NULL) != TSCOPE_OK) {
		sheet->scratch.has_failed = true;
	} else {
		for (size_t i = 0; i < count; i++)
			keys[i] = key_of_row(&rows->cells[i * columns], i, by_column,
					     then_text_column);
		qsort(keys, count, sizeof(*keys), compare_keys);
		for (size_t i = 0; i < count; i++)
			memcpy(&sorted[i * columns], &rows->cells[keys[i].row * columns],
			       columns * sizeof(*sorted));
		free(rows->cells);
		rows->cells = sorted;
		rows->row_capacity = count;
		sorted = NULL;
	}
	free(sorted);
	free(keys);
}

enum { MADE_TEXT_MAX = 1024 };

const char *tsi_sheet_copy(struct fact_sheet *sheet, struct str text)
{
	return tsi_arena_copy(&sheet->texts, text);
}

const char *tsi_sheet_print(struct fact_sheet *sheet, const char *format, ...)
{
	char made[MADE_TEXT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(made, sizeof(made), format, arguments);
	va_end(arguments);
	return tsi_sheet_copy(sheet, tsi_str_of(made));
}

struct arena *tsi_sheet_scratch(struct fact_sheet *sheet)
{
	return &sheet->scratch;
}
