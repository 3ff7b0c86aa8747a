/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_REPORT_TEXT_WRITER_H
#define TSCOPE_REPORT_TEXT_WRITER_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes text for a terminal, or the same text without escapes for anything
 * else. Two kinds of text never mix:
 *
 *	own	literals of ours and formatted numbers, in UTF-8; with `ascii` each of
 *		the few characters beyond ASCII that we use has a substitute
 *	names	texts out of an input, which may hold anything: what could move the
 *		cursor, hide itself or is no UTF-8 is shown as an escape (\x1b, \u202e),
 *		with `ascii` all that is not ASCII and none of our few characters
 *
 * Widths are columns of the terminal, not bytes. Errors of the stream are left
 * to ferror().
 */
struct text_writer {
	FILE *out; /* NULL: lines are only counted */
	bool color, ascii;
	unsigned width; /* columns that a line may take, TEXT_MIN_WIDTH to TEXT_MAX_WIDTH */
	unsigned line_count;
	unsigned label_width; /* of the meters that are written; 0: none are */
};

enum { TEXT_MIN_WIDTH = 40, TEXT_MAX_WIDTH = 120 };

enum text_style {
	TEXT_PLAIN,
	TEXT_BOLD,
	TEXT_DIM,
	TEXT_RED,
	TEXT_GREEN,
	TEXT_YELLOW,
	TEXT_CYAN,
};

/* Sets the style of the text that follows; TEXT_PLAIN ends any other. */
void tsi_text_style(struct text_writer *w, enum text_style style);

/* Own text. */
void tsi_text_put(struct text_writer *w, const char *text);
/* text: a character. */
void tsi_text_repeat(struct text_writer *w, const char *text, unsigned count);

/* Own text in a cell of so many columns, flush right or left; longer text is not cut. */
void tsi_text_left(struct text_writer *w, const char *text, unsigned columns);
void tsi_text_right(struct text_writer *w, const char *text, unsigned columns);

/* Columns of own text. */
unsigned tsi_text_columns(const char *text);

/* A name as it is, made harmless. */
void tsi_text_name(struct text_writer *w, const char *name);

/*
 * A name in a cell of so many columns. One that is too long first loses what
 * says least (a C++ kernel's "void " and its parameters), then its middle.
 * The others return the columns used, and leave the rest of the cell to the caller.
 */
void tsi_text_name_cell(struct text_writer *w, const char *name, unsigned columns);
unsigned tsi_text_name_cut(struct text_writer *w, const char *name, unsigned columns);

/* Does it stay whole but for what says least? */
bool tsi_text_name_fits(struct text_writer *w, const char *name, unsigned columns);

/* Likewise, but what begins at a place (a column of the name) is seen. */
unsigned tsi_text_name_cut_at(struct text_writer *w, const char *name, unsigned columns,
			      size_t place);

/*
 * An allocation site, "folder/file.py:83:function", or several frames with " < " between them. One
 * that is too long first loses folders, from the left, then the ends of functions, then its outer
 * frames: which line of which file it is stays.
 */
unsigned tsi_text_site_cut(struct text_writer *w, const char *site, unsigned columns);

/*
 * A name or message of several words, made harmless and broken into lines. The
 * cursor stands at column `indent`, where the next lines begin, too. A number
 * is not parted from its unit.
 */
void tsi_text_paragraph(struct text_writer *w, const char *words, unsigned indent);

/*
 * Items with a separator between them, made harmless, on as few lines as they
 * need; each line begins at column `indent`.
 *
 *	struct text_flow flow = { .w = w, .separator = ", ", .indent = 4 };
 *
 *	tsi_text_flow(&flow, "one");
 *	tsi_text_flow(&flow, "two");
 *	tsi_text_flow_end(&flow);
 */
struct text_flow {
	struct text_writer *w;
	const char *separator; /* own text */
	unsigned indent;
	unsigned column; /* of the cursor; 0: at the start of a line, before the indent */
	bool has_items;
};

void tsi_text_flow(struct text_flow *flow, const char *item);
void tsi_text_flow_end(struct text_flow *flow); /* ends the line, if any item stands on it */

/* A meter: ratio (0 to 1) of so many cells lit in this style. */
void tsi_text_bar(struct text_writer *w, double ratio, unsigned cells, enum text_style style);

/* A tick whose height is this part (0 to 1) of the line; a cross for NaN and infinity. */
void tsi_text_tick(struct text_writer *w, double part);

/* One tick for each value, from the lowest to the highest of them; a cross for NaN and infinity. */
void tsi_text_sparkline(struct text_writer *w, const double *values, size_t count);

#endif
