/* SPDX-License-Identifier: MIT */
/*
 * The counterpart of src/report/json_parts.c: what that writes of an analysis is read back by the
 * same definitions. What is not there, or is of another kind than it should be, is absent.
 */
#include "analyze/saved_facts.h"

#include <string.h>

#include "analyze/analysis.h"
#include "analyze/analyzer_table.h"
#include "analyze/fact_sheet.h"
#include "base/error.h"

/* What an analysis without any fact takes, in values. */
enum { ANALYSIS_VALUES = 512 };

/* The sheet that is being filled. */
struct filling {
	struct saved_facts_reader *reader;
	struct tscope_analysis *analysis;
	struct fact_sheet *sheet;
	struct tscope_error *err;
};

/* ---- values -------------------------------------------------------------------------------- */

static enum tscope_status count_values(struct saved_facts_reader *reader, size_t count,
				       struct tscope_error *err)
{
	if (count > SAVED_MAX_VALUES - reader->value_count)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more than %d values in one report",
				SAVED_MAX_VALUES);
	reader->value_count += count;
	return TSCOPE_OK;
}

/* -0 becomes 0: written as JSON it would be read as an integer, which has no sign then. */
static struct tscope_value real_of(const struct plain *plain, struct plain_value saved)
{
	double real;

	if (!tsi_plain_to_real(plain, saved, &real))
		return (struct tscope_value){ 0 };
	return tsi_real(real == 0 ? 0 : real);
}

/* Figures that are counted in whole numbers, but for means of them and what is too large. */
static struct tscope_value integer_of(const struct plain *plain, struct plain_value saved)
{
	static const double limit = 9223372036854775808.0; /* 2^63 */
	int64_t integer;
	double real;

	if (tsi_plain_to_int64(plain, saved, &integer))
		return tsi_int(integer);
	if (tsi_plain_to_real(plain, saved, &real) && real >= -limit && real < limit &&
	    (double)(int64_t)real == real)
		return tsi_int((int64_t)real);
	return real_of(plain, saved);
}

static struct tscope_value flag_of(struct plain_value saved)
{
	bool flag;

	return tsi_plain_to_bool(saved, &flag) ? tsi_flag(flag) : (struct tscope_value){ 0 };
}

static struct tscope_value number_of(const struct plain *plain, enum tscope_unit unit,
				     struct plain_value saved)
{
	switch (unit) {
	case TSCOPE_UNIT_COUNT:
	case TSCOPE_UNIT_NS:
	case TSCOPE_UNIT_BYTES:
		return integer_of(plain, saved);
	case TSCOPE_UNIT_FLAG:
		return flag_of(saved);
	case TSCOPE_UNIT_ANY:
		return tsi_plain_kind(saved) == PLAIN_BOOL ? flag_of(saved)
							   : integer_of(plain, saved);
	default:
		return real_of(plain, saved);
	}
}

static enum tscope_status put_value(const struct filling *filling, struct tscope_value *to,
				    enum tscope_unit unit, struct plain_value saved)
{
	const struct plain *plain = filling->reader->plain;

	if (unit != TSCOPE_UNIT_TEXT &&
	    (unit != TSCOPE_UNIT_ANY || tsi_plain_kind(saved) != PLAIN_TEXT)) {
		*to = number_of(plain, unit, saved);
		return TSCOPE_OK;
	}
	if (tsi_plain_kind(saved) != PLAIN_TEXT)
		return TSCOPE_OK;
	to->kind = TSCOPE_VALUE_TEXT;
	return tsi_analysis_keep_text(filling->analysis, tsi_plain_text(plain, saved), &to->text,
				      filling->err);
}

/* ---- facts --------------------------------------------------------------------------------- */

/* "phase.data_ns" stands in the object "phase". */
static struct plain_value find_fact(const struct plain *plain, struct plain_value saved,
				    const char *name)
{
	const char *dot = strchr(name, '.');

	if (!dot)
		return tsi_plain_find(plain, saved, tsi_str_of(name));
	struct str group = { name, (size_t)(dot - name) };
	return tsi_plain_find(plain, tsi_plain_find(plain, saved, group), tsi_str_of(dot + 1));
}

/* *kept stays as it is where nothing is said. */
static enum tscope_status keep_reason(const struct filling *filling, const char **kept,
				      struct plain_value saved)
{
	if (tsi_plain_kind(saved) != PLAIN_TEXT)
		return TSCOPE_OK;
	return tsi_analysis_keep_text(filling->analysis,
				      tsi_plain_text(filling->reader->plain, saved), kept,
				      filling->err);
}

static enum tscope_status put_facts(const struct filling *filling, struct plain_value saved)
{
	const struct plain *plain = filling->reader->plain;
	struct fact_sheet *sheet = filling->sheet;
	struct plain_value doubts = tsi_plain_find(plain, saved, TSI_STR("doubts"));
	enum tscope_status status = keep_reason(
		filling, &sheet->unreliable, tsi_plain_find(plain, saved, TSI_STR("reliability")));

	for (size_t i = 0; status == TSCOPE_OK && i < sheet->def->fact_count; i++) {
		const struct tscope_fact_def *def = &sheet->def->facts[i];
		status = keep_reason(filling, &sheet->doubts[i],
				     tsi_plain_find(plain, doubts, tsi_str_of(def->name)));
		if (status == TSCOPE_OK)
			status = put_value(filling, &sheet->facts[i], def->unit,
					   find_fact(plain, saved, def->name));
	}
	return status;
}

/* ---- tables -------------------------------------------------------------------------------- */

static enum tscope_status add_rows(const struct filling *filling, size_t table, size_t row_count)
{
	size_t column_count = filling->sheet->def->tables[table].column_count;
	enum tscope_status status = TSCOPE_OK;
	struct tscope_value *cells;

	/* A plain has fewer values than 2^32, and a table few columns: the product fits. */
	if (row_count)
		status = count_values(filling->reader, row_count * column_count, filling->err);
	for (size_t i = 0; status == TSCOPE_OK && i < row_count; i++)
		status = tsi_table_add(filling->sheet, table, &cells, filling->err);
	return status;
}

static enum tscope_status put_cell(const struct filling *filling, size_t table, size_t row,
				   size_t column, struct plain_value saved)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	struct tscope_value *cells = filling->sheet->tables[table].cells;

	return put_value(filling, &cells[row * def->column_count + column],
			 def->columns[column].unit, saved);
}

/* As many columns at a time, from `first` on, as one look at a row can give. */
static enum tscope_status put_some_columns(const struct filling *filling, size_t table,
					   struct plain_value rows, size_t first)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	size_t row_count = filling->sheet->tables[table].row_count;
	const struct plain *plain = filling->reader->plain;
	struct plain_value keys[PLAIN_PICK_MAX], saved[PLAIN_PICK_MAX];
	struct plain_pick pick = { .keys = keys };
	enum tscope_status status = TSCOPE_OK;

	for (; pick.count < PLAIN_PICK_MAX && first + pick.count < def->column_count; pick.count++)
		keys[pick.count] =
			tsi_plain_name(plain, tsi_str_of(def->columns[first + pick.count].name));
	for (size_t row = 0; status == TSCOPE_OK && row < row_count; row++) {
		(void)tsi_plain_pick(plain, &pick, tsi_plain_item(plain, rows, row), saved);
		for (size_t i = 0; status == TSCOPE_OK && i < pick.count; i++)
			status = put_cell(filling, table, row, first + i, saved[i]);
	}
	return status;
}

static enum tscope_status put_rows(const struct filling *filling, size_t table,
				   struct plain_value rows)
{
	const struct plain *plain = filling->reader->plain;
	size_t column_count = filling->sheet->def->tables[table].column_count;
	enum tscope_status status = add_rows(filling, table, tsi_plain_length(plain, rows));

	for (size_t first = 0; status == TSCOPE_OK && first < column_count; first += PLAIN_PICK_MAX)
		status = put_some_columns(filling, table, rows, first);
	return status;
}

static enum tscope_status put_list(const struct filling *filling, size_t table, size_t column,
				   struct plain_value list)
{
	const struct plain *plain = filling->reader->plain;
	enum tscope_status status = TSCOPE_OK;

	for (size_t row = 0; status == TSCOPE_OK && row < tsi_plain_length(plain, list); row++)
		status = put_cell(filling, table, row, column, tsi_plain_item(plain, list, row));
	return status;
}

/* Columns that are shorter than the longest have nothing to say of its last rows. */
static enum tscope_status put_columns(const struct filling *filling, size_t table,
				      struct plain_value saved)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	const struct plain *plain = filling->reader->plain;
	size_t row_count = 0;

	for (size_t i = 0; i < def->column_count; i++) {
		struct plain_value list =
			tsi_plain_find(plain, saved, tsi_str_of(def->columns[i].name));
		size_t length = tsi_plain_is_list(list) ? tsi_plain_length(plain, list) : 0;
		row_count = length > row_count ? length : row_count;
	}
	enum tscope_status status = add_rows(filling, table, row_count);
	for (size_t i = 0; status == TSCOPE_OK && i < def->column_count; i++) {
		struct plain_value list =
			tsi_plain_find(plain, saved, tsi_str_of(def->columns[i].name));
		if (tsi_plain_is_list(list))
			status = put_list(filling, table, i, list);
	}
	return status;
}

static enum tscope_status put_object(const struct filling *filling, size_t table,
				     struct plain_value saved)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	const struct plain *plain = filling->reader->plain;
	enum tscope_status status = add_rows(filling, table, 1);

	for (size_t i = 0; status == TSCOPE_OK && i < def->column_count; i++)
		status = put_cell(filling, table, 0, i,
				  tsi_plain_find(plain, saved, tsi_str_of(def->columns[i].name)));
	return status;
}

static enum tscope_status put_table(const struct filling *filling, size_t table,
				    struct plain_value saved)
{
	const struct plain *plain = filling->reader->plain;
	bool is_list = tsi_plain_is_list(saved), is_dict = tsi_plain_kind(saved) == PLAIN_DICT;
	enum tscope_status status = TSCOPE_OK;

	switch (filling->sheet->def->tables[table].shape) {
	case TSCOPE_TABLE_ROWS:
		return is_list ? put_rows(filling, table, saved) : TSCOPE_OK;
	case TSCOPE_TABLE_LIST:
		if (is_list)
			status = add_rows(filling, table, tsi_plain_length(plain, saved));
		return is_list && status == TSCOPE_OK ? put_list(filling, table, 0, saved) : status;
	case TSCOPE_TABLE_OBJECT:
		return is_dict ? put_object(filling, table, saved) : TSCOPE_OK;
	case TSCOPE_TABLE_COLUMNS:
		return is_dict ? put_columns(filling, table, saved) : TSCOPE_OK;
	}
	return TSCOPE_OK;
}

/* ---- analyses ------------------------------------------------------------------------------ */

static enum tscope_status fill_sheet(struct filling *filling, size_t analyzer,
				     struct plain_value saved)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	const struct plain *plain = filling->reader->plain;
	enum tscope_status status =
		count_values(filling->reader, def->fact_count + def->table_count, filling->err);

	if (status == TSCOPE_OK)
		status = tsi_analysis_sheet(filling->analysis, analyzer, &filling->sheet,
					    filling->err);
	if (status == TSCOPE_OK)
		status = put_facts(filling, saved);
	for (size_t i = 0; status == TSCOPE_OK && i < def->table_count; i++)
		status = put_table(filling, i,
				   tsi_plain_find(plain, saved, tsi_str_of(def->tables[i].name)));
	return status;
}

enum tscope_status tsi_saved_facts_read(struct tscope_analysis **ret,
					struct saved_facts_reader *reader, struct plain_value facts,
					struct tscope_error *err)
{
	struct filling filling = { .reader = reader, .err = err };
	enum tscope_status status = count_values(reader, ANALYSIS_VALUES, err);

	if (status == TSCOPE_OK)
		status = tsi_analysis_new(&filling.analysis, err);
	for (size_t i = 0; status == TSCOPE_OK && i < tscope_analyzer_count(); i++) {
		struct plain_value saved =
			tsi_plain_find(reader->plain, facts, tsi_str_of(tscope_analyzer(i)->id));
		if (tsi_plain_kind(saved) == PLAIN_DICT)
			status = fill_sheet(&filling, i, saved);
	}
	if (status != TSCOPE_OK) {
		tscope_analysis_free(filling.analysis);
		return status;
	}
	*ret = filling.analysis;
	return TSCOPE_OK;
}
