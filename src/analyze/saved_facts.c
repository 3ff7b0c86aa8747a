/* SPDX-License-Identifier: MIT */
/*
 * The counterpart of src/report/json_parts.c: what that writes of an analysis is read back by the
 * same definitions. Values that are missing, or of another kind than they should be, are absent.
 */
#include "analyze/saved_facts.h"

#include <stdio.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/fact_sheet.h"
#include "base/error.h"

/* Size of an analysis without any fact, in values. */
enum { ANALYSIS_VALUES = 512 };

/* The sheet that is being filled. The first failure stays; all calls after it do nothing. */
struct filling {
	struct saved_facts_reader *reader;
	struct tscope_analysis *analysis;
	struct fact_sheet *sheet;
	enum tscope_status status;
	struct tscope_error *err;
};

/* ---- values -------------------------------------------------------------------------------- */

static bool count_values(struct filling *filling, size_t count)
{
	struct saved_facts_reader *reader = filling->reader;

	if (filling->status != TSCOPE_OK)
		return false;
	if (count > SAVED_MAX_VALUES - reader->value_count) {
		filling->status = tsi_fail(filling->err, TSCOPE_E_LIMIT,
					   "more than %d values in one report", SAVED_MAX_VALUES);
		return false;
	}
	reader->value_count += count;
	return true;
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

static void keep_text(struct filling *filling, const char **kept, struct plain_value saved)
{
	if (filling->status == TSCOPE_OK)
		filling->status = tsi_analysis_keep_text(
			filling->analysis, tsi_plain_text(filling->reader->plain, saved), kept,
			filling->err);
}

/* A text that stands elsewhere, where a number names it. */
static struct plain_value text_of(const struct filling *filling, struct plain_value saved)
{
	const struct saved_facts_reader *reader = filling->reader;
	uint64_t number;

	if (tsi_plain_kind(saved) != PLAIN_INT || !tsi_plain_is_list(reader->texts) ||
	    !tsi_plain_to_uint64(reader->plain, saved, &number) ||
	    number >= tsi_plain_length(reader->plain, reader->texts))
		return saved;
	return tsi_plain_item(reader->plain, reader->texts, (size_t)number);
}

static void put_value(struct filling *filling, struct tscope_value *to, enum tscope_unit unit,
		      struct plain_value saved)
{
	if (unit == TSCOPE_UNIT_TEXT)
		saved = text_of(filling, saved);
	bool is_text = tsi_plain_kind(saved) == PLAIN_TEXT;

	if (unit != TSCOPE_UNIT_TEXT && (unit != TSCOPE_UNIT_ANY || !is_text)) {
		*to = number_of(filling->reader->plain, unit, saved);
	} else if (is_text) {
		*to = tsi_text("");
		keep_text(filling, &to->text, saved);
	}
}

/* ---- facts --------------------------------------------------------------------------------- */

/* "phase.data_ns" stands in the object "phase". */
static struct plain_value find_member(const struct plain *plain, struct plain_value saved,
				      const char *name)
{
	const char *dot = strchr(name, '.');

	if (!dot)
		return tsi_plain_find(plain, saved, tsi_str_of(name));
	struct str group = { name, (size_t)(dot - name) };
	return tsi_plain_find(plain, tsi_plain_find(plain, saved, group), tsi_str_of(dot + 1));
}

/* Schema 1 had the totals of a budget under shorter names: "compute_ns". */
static struct plain_value find_fact(const struct plain *plain, struct plain_value saved,
				    const char *name)
{
	struct plain_value found = find_member(plain, saved, name);
	const char *ending = strstr(name, "_total_ns");
	char old_name[64];

	if (tsi_plain_kind(found) != PLAIN_ABSENT || !ending)
		return found;
	snprintf(old_name, sizeof(old_name), "%.*s_ns", (int)(ending - name), name);
	return find_member(plain, saved, old_name);
}

/* *kept stays as it is where nothing is said. */
static void keep_reason(struct filling *filling, const char **kept, struct plain_value saved)
{
	if (tsi_plain_kind(saved) == PLAIN_TEXT)
		keep_text(filling, kept, saved);
}

static void put_facts(struct filling *filling, struct plain_value saved)
{
	const struct plain *plain = filling->reader->plain;
	struct fact_sheet *sheet = filling->sheet;
	struct plain_value doubts = tsi_plain_find(plain, saved, TSI_STR("doubts"));

	keep_reason(filling, &sheet->unreliable,
		    tsi_plain_find(plain, saved, TSI_STR("reliability")));
	for (size_t i = 0; i < sheet->def->fact_count; i++) {
		const struct tscope_fact_def *def = &sheet->def->facts[i];
		keep_reason(filling, &sheet->doubts[i],
			    tsi_plain_find(plain, doubts, tsi_str_of(def->name)));
		put_value(filling, &sheet->facts[i], def->unit, find_fact(plain, saved, def->name));
	}
}

/* ---- tables -------------------------------------------------------------------------------- */

/* False: there are not as many. */
static bool add_rows(struct filling *filling, size_t table, size_t row_count)
{
	size_t column_count = filling->sheet->def->tables[table].column_count;

	/* A plain has fewer values than 2^32, and a table few columns: the product fits. */
	if (!count_values(filling, row_count * column_count))
		return false;
	for (size_t i = 0; i < row_count; i++)
		(void)tsi_table_row(filling->sheet, table);
	filling->status = tsi_fact_sheet_status(filling->sheet, filling->err);
	return filling->status == TSCOPE_OK;
}

static void put_cell(struct filling *filling, size_t table, size_t row, size_t column,
		     struct plain_value saved)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	struct tscope_value *cells = filling->sheet->tables[table].cells;

	put_value(filling, &cells[row * def->column_count + column], def->columns[column].unit,
		  saved);
}

/* As many columns at a time, from `first` on, as one look at a row can give. */
static void put_some_columns(struct filling *filling, size_t table, struct plain_value rows,
			     size_t first)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	size_t row_count = filling->sheet->tables[table].row_count;
	const struct plain *plain = filling->reader->plain;
	struct plain_value keys[PLAIN_PICK_MAX], saved[PLAIN_PICK_MAX];
	struct plain_pick pick = { .keys = keys };

	for (; pick.count < PLAIN_PICK_MAX && first + pick.count < def->column_count; pick.count++)
		keys[pick.count] =
			tsi_plain_name(plain, tsi_str_of(def->columns[first + pick.count].name));
	for (size_t row = 0; filling->status == TSCOPE_OK && row < row_count; row++) {
		(void)tsi_plain_pick(plain, &pick, tsi_plain_item(plain, rows, row), saved);
		for (size_t i = 0; i < pick.count; i++)
			put_cell(filling, table, row, first + i, saved[i]);
	}
}

static void put_rows(struct filling *filling, size_t table, struct plain_value rows)
{
	size_t column_count = filling->sheet->def->tables[table].column_count;

	if (!add_rows(filling, table, tsi_plain_length(filling->reader->plain, rows)))
		return;
	for (size_t first = 0; first < column_count; first += PLAIN_PICK_MAX)
		put_some_columns(filling, table, rows, first);
}

static void put_list(struct filling *filling, size_t table, size_t column, struct plain_value list)
{
	const struct plain *plain = filling->reader->plain;
	size_t length = tsi_plain_is_list(list) ? tsi_plain_length(plain, list) : 0;

	for (size_t row = 0; filling->status == TSCOPE_OK && row < length; row++)
		put_cell(filling, table, row, column, tsi_plain_item(plain, list, row));
}

/* Columns that are shorter than the longest have nothing to say of its last rows. */
static void put_columns(struct filling *filling, size_t table, struct plain_value saved)
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
	if (!add_rows(filling, table, row_count))
		return;
	for (size_t i = 0; i < def->column_count; i++)
		put_list(filling, table, i,
			 tsi_plain_find(plain, saved, tsi_str_of(def->columns[i].name)));
}

static void put_object(struct filling *filling, size_t table, struct plain_value saved)
{
	const struct tscope_table_def *def = &filling->sheet->def->tables[table];
	const struct plain *plain = filling->reader->plain;

	if (!add_rows(filling, table, 1))
		return;
	for (size_t i = 0; i < def->column_count; i++)
		put_cell(filling, table, 0, i,
			 tsi_plain_find(plain, saved, tsi_str_of(def->columns[i].name)));
}

static void put_table(struct filling *filling, size_t table, struct plain_value saved)
{
	bool is_list = tsi_plain_is_list(saved), is_dict = tsi_plain_kind(saved) == PLAIN_DICT;

	switch (filling->sheet->def->tables[table].shape) {
	case TSCOPE_TABLE_ROWS:
		if (is_list)
			put_rows(filling, table, saved);
		else if (is_dict) /* of a baseline */
			put_columns(filling, table, saved);
		break;
	case TSCOPE_TABLE_LIST:
		if (is_list &&
		    add_rows(filling, table, tsi_plain_length(filling->reader->plain, saved)))
			put_list(filling, table, 0, saved);
		break;
	case TSCOPE_TABLE_OBJECT:
		if (is_dict)
			put_object(filling, table, saved);
		break;
	case TSCOPE_TABLE_COLUMNS:
		if (is_dict)
			put_columns(filling, table, saved);
		break;
	}
}

/* ---- analyses ------------------------------------------------------------------------------ */

static void fill_sheet(struct filling *filling, size_t analyzer, struct plain_value saved)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	const struct plain *plain = filling->reader->plain;

	if (!count_values(filling, def->fact_count + def->table_count))
		return;
	filling->status =
		tsi_analysis_sheet(filling->analysis, analyzer, &filling->sheet, filling->err);
	if (filling->status != TSCOPE_OK)
		return;
	put_facts(filling, saved);
	for (size_t i = 0; i < def->table_count; i++)
		put_table(filling, i,
			  tsi_plain_find(plain, saved, tsi_str_of(def->tables[i].name)));
}

enum tscope_status tsi_saved_facts_read(struct tscope_analysis **ret,
					struct saved_facts_reader *reader, struct plain_value facts,
					struct tscope_error *err)
{
	struct filling filling = { .reader = reader, .err = err };

	if (count_values(&filling, ANALYSIS_VALUES))
		filling.status = tsi_analysis_new(&filling.analysis, err);
	for (size_t i = 0; filling.status == TSCOPE_OK && i < tscope_analyzer_count(); i++) {
		struct plain_value saved =
			tsi_plain_find(reader->plain, facts, tsi_str_of(tscope_analyzer(i)->id));
		if (tsi_plain_kind(saved) == PLAIN_DICT)
			fill_sheet(&filling, i, saved);
	}
	if (filling.status == TSCOPE_OK)
		*ret = filling.analysis;
	else
		tscope_analysis_free(filling.analysis);
	return filling.status;
}
