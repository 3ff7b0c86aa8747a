/* SPDX-License-Identifier: MIT */
/*
 * Tables of metrics, one column a metric and one row a call of the logger: Lightning's
 * metrics.csv, what TensorBoard and Weights & Biases export, and others with a column "step".
 * A step may stand in several rows, each with some of its values; the other cells are empty.
 */
#include "run/metrics.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "decode/records/text_rows.h"
#include "run/file_name.h"

/* ---- names of columns ---- */

/* Beside a column "value": one row a value, and such a column says of which metric. */
static const char *const key_names[] = { "tag", "metric", "name", "key", "variable" };

static bool is_key(struct str name)
{
	for (size_t i = 0; i < TSI_COUNT_OF(key_names); i++)
		if (tsi_str_equal_nocase(name, tsi_str_of(key_names[i])))
			return true;
	return false;
}

enum { NO_COLUMN = -1 };

/* The columns of a table, by its first row. */
struct header {
	int64_t step, time; /* columns, or NO_COLUMN */
	size_t count;
	bool has_value, has_key;
};

static struct header read_header(struct str row)
{
	struct header header = { .step = NO_COLUMN, .time = NO_COLUMN };
	struct csv_cells cells = tsi_csv_cells(row);
	unsigned best = METRIC_NO_STEP;
	struct str name;

	for (; tsi_csv_next(&cells, &name); header.count++) {
		unsigned rank = tsi_metric_step_rank(name);

		if (rank < best) {
			best = rank;
			header.step = (int64_t)header.count;
		}
		if (tsi_metric_is_time(name))
			header.time = (int64_t)header.count;
		header.has_key |= is_key(name);
		header.has_value |= tsi_str_equal_nocase(name, TSI_STR("value"));
	}
	return header;
}

static struct str without_mark(struct str text)
{
	if (!tsi_str_starts(text, "\xef\xbb\xbf"))
		return text;
	return tsi_str_tail(text, 3);
}

/* ---- tasting ---- */

enum {
	TASTE_BITS_ENDING = 1,  /* some table: reading it will show what it lacks */
	TASTE_BITS_STEP = 16,   /* one with steps */
	TASTE_BITS_VALUES = 48, /* and with numbers, as far as one looks */
	TASTE_BITS_NAME = 64,
};

/* Are these cells, as many as the header has, numbers or empty? */
static bool has_numbers(struct str row, size_t count)
{
	struct csv_cells cells = tsi_csv_cells(row);
	struct str cell;
	double value;

	for (; tsi_csv_next(&cells, &cell); count--)
		if (count == 0 || (cell.length && !tsi_metric_to_double(cell, &value)))
			return false;
	return count == 0;
}

static bool is_json(struct str text)
{
	text = tsi_str_trim(text);
	return text.length && (text.data[0] == '{' || text.data[0] == '[');
}

static unsigned taste(const char *path, struct str head)
{
	struct str text = without_mark(head);
	struct header header;

	if (!tsi_name_ends(tsi_unpacked_name(path), TSI_STR(".csv")) || is_json(text))
		return 0;
	if (tsi_str_starts(tsi_str_of(tsi_base_name(path)), "metrics"))
		return TASTE_BITS_NAME;
	header = read_header(tsi_str_trim(tsi_str_take(&text, '\n')));
	if (header.step == NO_COLUMN)
		return TASTE_BITS_ENDING;
	return has_numbers(tsi_str_trim(tsi_str_take(&text, '\n')), header.count)
		       ? TASTE_BITS_VALUES
		       : TASTE_BITS_STEP;
}

/* TensorBoard names the table of one metric run-RUN-tag-METRIC.csv, its column "Value". */
static struct str name_of_path(const char *path)
{
	struct str name = tsi_unpacked_name(tsi_base_name(path));
	const struct str mark = TSI_STR("-tag-"), ending = TSI_STR(".csv");
	ptrdiff_t at = tsi_str_find(name, mark);

	if (at < 0 || !tsi_name_ends(name, ending))
		return (struct str){ 0 };
	name.length -= ending.length;
	if (name.length <= (size_t)at + mark.length)
		return (struct str){ 0 };
	return tsi_str_tail(name, (size_t)at + mark.length);
}

/* ---- the table ---- */

struct table {
	struct header header;
	uint32_t *names; /* by column, in the log; 0: the column is no metric */
	struct metric_log *log;
	struct tscope_error *err;
};

/* Writes a name from within quotes, where "" stands for one, without the other. */
static enum tscope_status add_name(struct table *table, size_t column, struct str name)
{
	char text[METRIC_MAX_NAME_BYTES];
	size_t length = 0;

	if (name.length > sizeof(text)) {
		table->names[column] = 0;
		return TSCOPE_OK;
	}
	for (size_t i = 0; i < name.length; i++) {
		text[length++] = name.data[i];
		i += name.data[i] == '"' && i + 1 < name.length && name.data[i + 1] == '"';
	}
	return tsi_intern_add(&table->log->names, (struct str){ text, length },
			      &table->names[column], table->err);
}

/* Is the only metric of this table called "Value", and named by its file? */
static bool is_named_by_file(const struct table *table, struct str cell, struct str file_name)
{
	const struct header *header = &table->header;

	return file_name.length > 0 && header->time != NO_COLUMN && header->count == 3 &&
	       tsi_str_equal_nocase(cell, TSI_STR("value"));
}

static enum tscope_status add_names(struct table *table, struct str row, struct str file_name)
{
	struct csv_cells cells = tsi_csv_cells(row);
	enum tscope_status status = TSCOPE_OK;
	struct str name;

	for (int64_t i = 0; status == TSCOPE_OK && tsi_csv_next(&cells, &name); i++) {
		if (i == table->header.step || i == table->header.time)
			continue;
		if (is_named_by_file(table, name, file_name))
			name = file_name;
		status = add_name(table, (size_t)i, name);
	}
	return status;
}

static enum tscope_status begin_table(struct table *table, struct str row, struct str file_name)
{
	table->header = read_header(row);
	if (table->header.step == NO_COLUMN)
		return tsi_fail(table->err, TSCOPE_E_FORMAT,
				"a CSV table without a column \"step\": not metrics by step");
	if (table->header.has_key && table->header.has_value)
		return tsi_fail(table->err, TSCOPE_E_UNSUPPORTED,
				"a CSV table with one value a row and its metric's name beside it: "
				"give each metric a column of its own (pandas: pivot)");
	if (tsi_array_new(&table->names, table->header.count, sizeof(*table->names), table->err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return add_names(table, row, file_name);
}

/* ---- rows ---- */

/* The last cell of a row without an end may be cut: "0.1" of "0.125". */
static bool next_cell(struct csv_cells *cells, const struct text_row *row, struct str *cell)
{
	return tsi_csv_next(cells, cell) && (row->has_end || !cells->is_over);
}

/* Step and time of a row. False: the row is none of this table. */
static bool read_point(const struct table *table, const struct text_row *row,
		       struct metric_point *point, bool *has_step)
{
	struct csv_cells cells = tsi_csv_cells(row->text);
	size_t count = 0;
	struct str cell;
	double seconds;

	*has_step = false;
	*point = (struct metric_point){ .time_ns = NO_METRIC_TIME };
	for (; next_cell(&cells, row, &cell); count++) {
		if ((int64_t)count == table->header.step) {
			*has_step = tsi_metric_to_step(cell, &point->step);
			if (!*has_step && cell.length > 0)
				return false;
		}
		if ((int64_t)count == table->header.time && tsi_metric_to_double(cell, &seconds))
			point->time_ns = tsi_metric_time(seconds);
	}
	return count <= table->header.count;
}

static enum tscope_status add_cell(struct table *table, struct str cell, bool has_step,
				   struct metric_point *point)
{
	struct metric_log *log = table->log;

	if (!tsi_metric_to_double(cell, &point->value)) {
		log->bad_value_count++;
		return TSCOPE_OK;
	}
	if (has_step)
		return tsi_metric_log_put(log, point, table->err);
	log->without_step_count++;
	return TSCOPE_OK;
}

static enum tscope_status add_row(struct table *table, const struct text_row *row)
{
	struct csv_cells cells = tsi_csv_cells(row->text);
	enum tscope_status status = TSCOPE_OK;
	struct metric_point point;
	struct str cell;
	bool has_step;

	table->log->record_count++;
	table->log->is_cut |= !row->has_end;
	if (row->is_too_long || !read_point(table, row, &point, &has_step)) {
		table->log->bad_record_count++;
		return TSCOPE_OK;
	}
	if (!row->has_end && !has_step)
		return TSCOPE_OK; /* what is cut may have been the step */
	for (size_t i = 0; status == TSCOPE_OK && next_cell(&cells, row, &cell); i++) {
		point.name = table->names[i];
		if (point.name != 0 && cell.length > 0)
			status = add_cell(table, cell, has_step, &point);
	}
	return status;
}

static bool is_blank(const struct text_row *row)
{
	return !row->is_too_long && tsi_str_trim(row->text).length == 0;
}

/* One that is cut has no rows, and names that may be cut, too. */
static enum tscope_status read_head(struct table *table, const struct text_row *row,
				    struct str file_name)
{
	table->log->is_cut = !row->has_end;
	return row->has_end ? begin_table(table, without_mark(row->text), file_name) : TSCOPE_OK;
}

static enum tscope_status read_rows(struct table *table, struct input *in, struct str file_name)
{
	struct text_rows rows = { .in = in, .has_quotes = true };
	struct text_row row;
	enum tscope_status status;

	while ((status = tsi_text_rows_next(&rows, &row, table->err)) == TSCOPE_OK) {
		if (!is_blank(&row))
			status = table->names ? add_row(table, &row)
					      : read_head(table, &row, file_name);
		if (status != TSCOPE_OK)
			return status;
	}
	return status == TSCOPE_END ? TSCOPE_OK : status;
}

static enum tscope_status read_metrics(struct input *in, struct str name, struct metric_log *log,
				       struct tscope_error *err)
{
	struct table table = { .log = log, .err = err };
	enum tscope_status status = read_rows(&table, in, name);

	free(table.names);
	return status;
}

const struct metric_source tsi_metrics_csv = {
	.id = "csv",
	.taste = taste,
	.name = name_of_path,
	.read = read_metrics,
};
