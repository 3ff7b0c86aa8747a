/* SPDX-License-Identifier: MIT */
/* Rows of text, also of such as is not wholly at hand, and their cells. */
#include "decode/records/text_rows.h"

/* Where one stands in a row, after the characters so far. */
enum quoting {
	AT_CELL_START,
	IN_CELL,     /* in one without quotes, where a quote stands for itself */
	IN_QUOTES,   /* in one that began with a quote */
	BEHIND_QUOTE /* which ends the quotes, or is the first of two that stand for one */
};

static enum quoting quoting_after(enum quoting at, char c)
{
	if (at == IN_QUOTES)
		return c == '"' ? BEHIND_QUOTE : IN_QUOTES;
	if (c == ',' || c == '\n')
		return AT_CELL_START;
	return c == '"' && at != IN_CELL ? IN_QUOTES : IN_CELL;
}

/* Index of the line feed that ends a row, or length; *at is carried on. */
static size_t find_row_end(const char *data, size_t length, enum quoting *at)
{
	for (size_t i = 0; i < length; i++) {
		if (data[i] == '\n' && *at != IN_QUOTES)
			return i;
		*at = quoting_after(*at, data[i]);
	}
	return length;
}

static size_t find_line_end(const char *data, size_t length)
{
	const char *end = length ? memchr(data, '\n', length) : NULL;

	return end ? (size_t)(end - data) : length;
}

static void hand_out(struct text_rows *rows, struct text_row *row, const char *data, size_t length)
{
	row->text = (struct str){ data, length };
	rows->shown_bytes = length + row->has_end;
	row->is_too_long |= length > ROW_MAX_BYTES;
	if (length && data[length - 1] == '\r')
		row->text.length--;
}

enum tscope_status tsi_text_rows_next(struct text_rows *rows, struct text_row *row,
				      struct tscope_error *err)
{
	enum quoting at = AT_CELL_START;
	size_t length, searched = 0;
	const char *data;
	enum tscope_status status;

	tsi_input_consume(rows->in, rows->shown_bytes);
	rows->shown_bytes = 0;
	*row = (struct text_row){ 0 };
	while ((status = tsi_input_peek(rows->in, searched + 1, &data, &length, err)) ==
	       TSCOPE_OK) {
		searched += rows->has_quotes ? find_row_end(data + searched, length - searched, &at)
					     : find_line_end(data + searched, length - searched);
		row->has_end = searched < length;
		if (row->has_end)
			break;
		if (length > ROW_MAX_BYTES) {
			tsi_input_consume(rows->in, length);
			row->is_too_long = true;
			searched = 0;
		}
	}
	if (status != TSCOPE_OK && status != TSCOPE_END)
		return status;
	if (status == TSCOPE_END && searched == 0 && !row->is_too_long)
		return TSCOPE_END;
	hand_out(rows, row, data, searched);
	return TSCOPE_OK;
}

struct csv_cells tsi_csv_cells(struct str row)
{
	const char *start = row.length ? row.data : ""; /* a text without bytes may be NULL */

	return (struct csv_cells){ .at = start, .end = start + row.length };
}

bool tsi_csv_next(struct csv_cells *cells, struct str *cell)
{
	enum quoting at = AT_CELL_START;
	const char *p = cells->at;

	if (cells->is_over)
		return false;
	while (p < cells->end && (*p != ',' || at == IN_QUOTES))
		at = quoting_after(at, *p++);
	*cell = tsi_str_trim((struct str){ cells->at, (size_t)(p - cells->at) });
	if (cell->length >= 2 && cell->data[0] == '"' && cell->data[cell->length - 1] == '"')
		*cell = (struct str){ cell->data + 1, cell->length - 2 };
	cells->is_over = p == cells->end;
	cells->at = p + !cells->is_over;
	return true;
}
