/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_TEXT_ROWS_H
#define TSCOPE_DECODE_RECORDS_TEXT_ROWS_H

#include "base/attributes.h"
#include "base/str.h"
#include "input/input.h"

/*
 * Tables as text: rows, and the cells of a row of CSV (RFC 4180). A row ends with a line feed
 * that is not within quotes; memory is bounded by one row.
 */
enum { ROW_MAX_BYTES = 4 << 20 }; /* a longer one is passed over, however long */

struct text_rows {
	struct input *in;
	bool has_quotes;    /* set before: cells in quotes may hold line ends */
	size_t shown_bytes; /* of the row that was handed out, to be consumed */
};

struct text_row {
	struct str text;  /* without its line end; valid until the next one */
	bool is_too_long; /* text is only its end */
	bool has_end;     /* a line feed follows: only the last row of a file may lack it */
};

/* TSCOPE_END: there are no more. Else as the input fails. */
TSI_MUST_CHECK
enum tscope_status tsi_text_rows_next(struct text_rows *rows, struct text_row *row,
				      struct tscope_error *err);

/*
 * The cells of a row, one after another, without the quotes and blanks around them ("" within
 * quotes stays as it is written). An empty row is one empty cell.
 */
struct csv_cells {
	const char *at, *end;
	bool is_over;
};
struct csv_cells tsi_csv_cells(struct str row);
bool tsi_csv_next(struct csv_cells *cells, struct str *cell);

#endif
