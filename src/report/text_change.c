/* SPDX-License-Identifier: MIT */
/*
 * Rows of a comparison as people read them: a name, what became of it, and its figures in A, in B
 * and between them. Where the line is short, the difference stays.
 */
#include "report/text_nodes.h"

#include <string.h>

enum {
	WORD_WIDTH = 12,
	FIGURE_WIDTH = 12,
	CHANGE_WIDTH = 13,
	NAME_LEAST = 16,
	NAMES_SHOWN = 4,
	NOTE_INDENT = 6,
};

/* Layout for the width of the line. */
struct layout {
	bool has_sides, has_word;
	unsigned name_width;
};

static struct layout lay_out(unsigned width)
{
	unsigned left = width - 2 - CHANGE_WIDTH;
	struct layout layout = { 0 };

	layout.has_word = left >= NAME_LEAST + WORD_WIDTH;
	if (layout.has_word)
		left -= WORD_WIDTH;
	layout.has_sides = left >= NAME_LEAST + 2 * FIGURE_WIDTH;
	if (layout.has_sides)
		left -= 2 * FIGURE_WIDTH;
	layout.name_width = left;
	return layout;
}

static void put_headings(struct text_writer *w, const char *name)
{
	struct layout layout = lay_out(w->width);

	tsi_text_put(w, "\n");
	tsi_text_style(w, TEXT_DIM);
	tsi_text_put(w, "  ");
	tsi_text_left(w, name, layout.name_width + (layout.has_word ? WORD_WIDTH : 0));
	if (layout.has_sides) {
		tsi_text_right(w, "A", FIGURE_WIDTH);
		tsi_text_right(w, "B", FIGURE_WIDTH);
	}
	tsi_text_right(w, "change", CHANGE_WIDTH);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

/*
 * A number flush right with a blank before it. One that is too long loses its decimals, then its
 * middle.
 */
static void put_number(struct text_writer *w, char number[NUMBER_MAX], unsigned width)
{
	char *point = strchr(number, '.');

	if (tsi_text_columns(number) >= width && point)
		memmove(point, point + strcspn(point, " "),
			strlen(point + strcspn(point, " ")) + 1);
	if (tsi_text_columns(number) < width) {
		tsi_text_right(w, number, width);
		return;
	}
	tsi_text_put(w, " ");
	tsi_text_name_cell(w, number, width - 1);
}

/* A figure; a text of an input is cut to the cell. */
static void put_figure(struct text_writer *w, struct tscope_value value, enum tscope_unit unit)
{
	char number[NUMBER_MAX];

	if (value.kind == TSCOPE_VALUE_TEXT) {
		tsi_text_put(w, " ");
		tsi_text_name_cell(w, value.text, FIGURE_WIDTH - 1);
		return;
	}
	tsi_number_people(number, value, unit);
	put_number(w, number, FIGURE_WIDTH);
}

static void put_difference(struct text_writer *w, const struct doc_change *row)
{
	double difference = row->change.kind == TSCOPE_VALUE_INT    ? (double)row->change.integer
			    : row->change.kind == TSCOPE_VALUE_REAL ? row->change.real
								    : 0;
	enum doc_tone tone = DOC_PLAIN;
	char number[NUMBER_MAX];

	if (row->is_cost && difference != 0)
		tone = difference > 0 ? DOC_BAD : DOC_GOOD;
	tsi_number_difference(number, row->change, row->unit);
	/* A plain one is set off from what is before it. */
	tsi_text_style(w, tone == DOC_BAD ? TEXT_RED : tone == DOC_GOOD ? TEXT_GREEN : TEXT_PLAIN);
	put_number(w, number, CHANGE_WIDTH);
	tsi_text_end_tone(w, tone);
}

/* Several names stand below the line. */
static void put_name(struct text_writer *w, const struct doc_change *row, unsigned width)
{
	unsigned indent = row->indent < width ? row->indent : 0, room = width - indent - 1, used;
	size_t count = tsi_count_names(row->name);
	char several[NUMBER_MAX];

	snprintf(several, sizeof(several), "%zu together", count);
	tsi_text_repeat(w, " ", indent);
	tsi_text_begin_tone(w, row->is_strong ? DOC_STRONG : DOC_PLAIN);
	if (row->is_site)
		used = tsi_text_site_cut(w, row->name, room);
	else
		used = tsi_text_name_cut(w, count > 1 ? several : row->name, room);
	tsi_text_end_tone(w, row->is_strong ? DOC_STRONG : DOC_PLAIN);
	tsi_text_repeat(w, " ", width - indent - used);
}

static void put_figures(struct text_writer *w, const struct doc_change *row)
{
	if (row->is_sum) {
		tsi_text_repeat(w, " ", 2 * FIGURE_WIDTH);
		return;
	}
	put_figure(w, row->a, row->unit);
	put_figure(w, row->b, row->unit);
}

/* Dim lines below one, one for each name: "    in place of sgemm_128x64"; names are cut. */
static void put_note(struct text_writer *w, const char *words, const char *names)
{
	unsigned used = NOTE_INDENT + tsi_text_columns(words);
	char one[ONE_NAME_MAX];

	tsi_text_style(w, TEXT_DIM);
	for (size_t i = 0; names && i < NAMES_SHOWN; i++) {
		names = tsi_next_name(one, names);
		tsi_text_repeat(w, " ", NOTE_INDENT);
		tsi_text_put(w, words);
		if (used + NAME_LEAST <= w->width)
			(void)tsi_text_name_cut(w, one, w->width - used);
		tsi_text_put(w, "\n");
	}
	if (names) {
		snprintf(one, sizeof(one), "      and %zu more\n", tsi_count_names(names));
		tsi_text_put(w, one);
	}
	tsi_text_style(w, TEXT_PLAIN);
}

static void put_change(struct text_writer *w, const struct doc_change *row)
{
	struct layout layout = lay_out(w->width);

	/* A name takes the room of a word that there is not. */
	if (layout.has_word && *row->word == '\0') {
		layout.name_width += WORD_WIDTH;
		layout.has_word = false;
	}
	tsi_text_put(w, "  ");
	put_name(w, row, layout.name_width);
	if (layout.has_word)
		tsi_text_left(w, row->word, WORD_WIDTH);
	if (layout.has_sides)
		put_figures(w, row);
	put_difference(w, row);
	tsi_text_put(w, "\n");
	if (!row->is_site && tsi_count_names(row->name) > 1)
		put_note(w, "", row->name);
	for (size_t i = 0; i < row->note_count; i++)
		put_note(w, row->notes[i].words, row->notes[i].names);
}

void tsi_text_changes(struct text_writer *w, const struct doc_changes *changes)
{
	put_headings(w, changes->heading);
	for (size_t i = 0; i < changes->row_count; i++)
		put_change(w, &changes->rows[i]);
	tsi_text_more(w, changes->more_count);
}

/* ---- explanations ---- */

enum { LINE_INDENT = 11, AMOUNT_WIDTH = 11 };

/* Does the part stay whole from this column on, the rest behind it? */
static bool has_room(struct text_writer *w, const struct doc_explanation *of, unsigned column)
{
	unsigned used = column + tsi_text_columns(of->rest);

	return used <= w->width && tsi_text_name_fits(w, of->part, w->width - used);
}

/* ": <name><rest>", below where the name would be cut here. */
static void put_part(struct text_writer *w, const struct doc_explanation *of, unsigned column)
{
	unsigned used = tsi_text_columns(of->rest);

	tsi_text_put(w, ":");
	column += 2; /* with a blank */
	if (has_room(w, of, column)) {
		tsi_text_put(w, " ");
	} else {
		column = LINE_INDENT + AMOUNT_WIDTH;
		if (!has_room(w, of, column))
			column = LINE_INDENT + used + NAME_LEAST <= w->width ? LINE_INDENT : 2;
		tsi_text_put(w, "\n");
		tsi_text_repeat(w, " ", column);
	}
	(void)tsi_text_name_cut(w, of->part, w->width - column - used);
	tsi_text_put(w, of->rest);
}

void tsi_text_explanation(struct text_writer *w, const struct doc_explanation *explanation)
{
	unsigned column = LINE_INDENT + AMOUNT_WIDTH;
	char amount[NUMBER_MAX];

	tsi_number_signed(amount, explanation->change_ns, TSCOPE_UNIT_NS);
	tsi_text_repeat(w, " ", LINE_INDENT);
	tsi_text_left(w, amount, AMOUNT_WIDTH);
	column += tsi_text_name_cut(w, explanation->line, w->width - column - 1);
	if (explanation->part)
		put_part(w, explanation, column);
	tsi_text_put(w, "\n");
}
