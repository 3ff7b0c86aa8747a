/* SPDX-License-Identifier: MIT */
/*
 * Tables of the text report: which columns are shown, in which widths. Names take what the line has
 * left; where it is too short for all columns, those on the right go first.
 */
#include "report/text_nodes.h"

#include <math.h>
#include <string.h>

#include "report/utf8.h"

enum {
	INDENT = 2,
	MIN_NAME_WIDTH = 12,
	MARK_WIDTH = 2,
	MIN_BAR_ROOM = 5, /* with two blanks before it */
	MAX_BAR_CELLS = 20,
	MAX_NEAR = 64, /* rows before and behind one that it must not look like */
	MAX_WORD = 12,
};

/* A table as it is printed: how wide its columns are. */
struct layout {
	const struct doc_table *table;
	unsigned indent;
	unsigned width[DOC_MAX_COLUMNS]; /* 0: not shown */
	size_t last;                     /* column that is shown: no blanks follow it */
	unsigned bar_cells;
};

static bool has_values(const struct doc_table *table, size_t column)
{
	for (size_t row = 0; row < table->row_count; row++)
		if (table->rows[row].cells[column].text ||
		    table->rows[row].cells[column].value.kind != TSCOPE_VALUE_ABSENT)
			return true;
	return table->keeps_empty;
}

/* Columns that the line has left for names when the others have had theirs; negative: too few. */
static int width_left(const struct layout *layout, unsigned width)
{
	unsigned used = layout->indent + (layout->table->has_marks ? MARK_WIDTH : 0);

	for (size_t i = 0; i < layout->table->column_count; i++)
		used += layout->width[i];
	return (int)width - (int)used;
}

/*
 * Least width of columns of names: the largest of their own minima or, without, of MIN_NAME_WIDTH
 * and their headings; 0 where there is no such column.
 */
static int least_of_names(const struct doc_table *table)
{
	unsigned least = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct doc_column *column = &table->columns[i];
		unsigned own = tsi_text_columns(column->heading);

		if (column->width > 0)
			continue;
		own = own > MIN_NAME_WIDTH ? own : MIN_NAME_WIDTH;
		own = column->least > 0 ? column->least : own;
		least = least > own ? least : own;
	}
	return (int)least;
}

static void drop_columns(struct layout *layout, unsigned width)
{
	const struct doc_table *table = layout->table;
	int least = least_of_names(table);

	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i].is_minor && width_left(layout, width) < least)
			layout->width[i] = 0;
	for (size_t i = table->column_count; i-- > 0 && width_left(layout, width) < least;)
		layout->width[i] = 0;
}

static struct layout lay_out(const struct doc_table *table, unsigned width)
{
	/* Marks stand behind the last column, and what has them begins at the margin. */
	struct layout layout = { .table = table, .indent = table->has_marks ? 0 : INDENT };
	int left;

	for (size_t i = 0; i < table->column_count; i++)
		if (has_values(table, i))
			layout.width[i] = table->columns[i].width;
	if (!table->keeps_all)
		drop_columns(&layout, width);
	left = width_left(&layout, width);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct doc_column *column = &table->columns[i];

		if (column->width == 0)
			layout.width[i] = column->most > 0 ? column->most : (unsigned)left;
		if (layout.width[i] > 0)
			layout.last = i;
	}
	if (table->has_bars && left >= MIN_BAR_ROOM)
		layout.bar_cells = left - 2 < MAX_BAR_CELLS ? (unsigned)left - 2 : MAX_BAR_CELLS;
	return layout;
}

static bool is_text(const struct layout *layout, size_t column)
{
	return layout->table->columns[column].unit == TSCOPE_UNIT_TEXT;
}

static void put_headings(struct text_writer *w, const struct layout *layout)
{
	enum doc_tone tone = layout->table->has_plain_head ? DOC_PLAIN : DOC_FAINT;

	tsi_text_begin_tone(w, tone);
	tsi_text_repeat(w, " ", layout->indent);
	for (size_t i = 0; i < layout->table->column_count; i++) {
		unsigned gap = i > 0 && is_text(layout, i) ? 2 : 0;
		const char *heading = layout->table->columns[i].heading;

		if (layout->width[i] == 0)
			continue;
		tsi_text_repeat(w, " ", gap);
		if (!is_text(layout, i))
			tsi_text_right(w, heading, layout->width[i]);
		else
			tsi_text_left(w, heading, i == layout->last ? 0 : layout->width[i] - gap);
	}
	tsi_text_end_tone(w, tone);
	tsi_text_put(w, "\n");
}

/* Looks no further than that: names of kernels may be kilobytes long. */
static bool is_wider(const char *text, unsigned width)
{
	struct str rest = { text, strlen(text) };
	unsigned columns = 0;

	for (; rest.length > 0 && columns <= width; rest.data++, rest.length--)
		if (tsi_utf8_is_plain(*rest.data))
			columns++;
		else
			return tsi_text_columns(text) > width;
	return columns > width;
}

static const char *name_of(const struct doc_cell *cell, unsigned width)
{
	const char *name = cell->text;

	if (!name)
		name = cell->value.kind == TSCOPE_VALUE_TEXT ? cell->value.text : "";
	if (cell->brief && is_wider(name, width))
		name = cell->brief;
	return *name == '\0' ? "-" : name;
}

/* Where names first differ that would look alike with their middle cut out; 0: they would not. */
static size_t place_of_difference(const char *a, const char *b, unsigned width)
{
	size_t a_length = strlen(a), b_length = strlen(b), place = 0;

	while (a[place] != '\0' && a[place] == b[place])
		place++;
	if (a_length <= width || b_length <= width || place < width / 2 || a[place] == b[place] ||
	    memcmp(a + a_length - width / 3, b + b_length - width / 3, width / 3) != 0)
		return 0;
	return place;
}

/* The last place where the name differs from one near it that would look alike; 0: none would. */
static size_t find_distinct(const struct doc_table *table, const struct doc_row *row, size_t column,
			    unsigned width)
{
	size_t index = (size_t)(row - table->rows), place = 0;
	size_t first = index > MAX_NEAR ? index - MAX_NEAR : 0;

	for (size_t i = first; i < table->row_count && i < index + MAX_NEAR; i++) {
		size_t own =
			place_of_difference(name_of(&row->cells[column], width),
					    name_of(&table->rows[i].cells[column], width), width);
		place = own > place ? own : place;
	}
	/* From the beginning of the word, if that is near. */
	for (size_t back = place; back > 0 && place - back < MAX_WORD; back--)
		if (strchr("_, <:", name_of(&row->cells[column], width)[back - 1]))
			return back;
	return place;
}

static void put_name(struct text_writer *w, const struct layout *layout, const struct doc_row *row,
		     size_t column)
{
	unsigned gap = column > 0 ? 2 : 0, width = layout->width[column] - gap, used;
	const char *name = name_of(&row->cells[column], width);
	size_t place = column > 0 ? 0 : find_distinct(layout->table, row, column, width);

	tsi_text_repeat(w, " ", gap);
	if (layout->table->columns[column].is_site)
		used = tsi_text_site_cut(w, name, width);
	else if (place > 0)
		used = tsi_text_name_cut_at(w, name, width, place);
	else
		used = tsi_text_name_cut(w, name, width);
	if (column != layout->last)
		tsi_text_repeat(w, " ", width - used);
}

static void put_cell(struct text_writer *w, const struct layout *layout, const struct doc_row *row,
		     size_t column)
{
	const struct doc_cell *cell = &row->cells[column];
	char number[NUMBER_MAX];

	if (is_text(layout, column)) {
		put_name(w, layout, row, column);
		return;
	}
	tsi_number_people(number, cell->value, layout->table->columns[column].unit);
	tsi_text_right(w, cell->text ? cell->text : number, layout->width[column]);
}

static void put_row(struct text_writer *w, const struct layout *layout, const struct doc_row *row)
{
	if (row->caption) {
		tsi_text_begin_tone(w, DOC_FAINT);
		tsi_text_repeat(w, " ", INDENT);
		tsi_text_paragraph(w, row->caption, INDENT);
		tsi_text_end_tone(w, DOC_FAINT);
	}
	tsi_text_repeat(w, " ", layout->indent);
	for (size_t column = 0; column < layout->table->column_count; column++)
		if (layout->width[column] > 0)
			put_cell(w, layout, row, column);
	if (layout->bar_cells > 0) {
		tsi_text_put(w, "  ");
		tsi_text_bar(w, row->bar_ratio, layout->bar_cells,
			     row->is_marked ? TEXT_RED : TEXT_GREEN);
	}
	if (row->is_marked)
		tsi_text_put_toned(w, DOC_BAD, " ←");
	tsi_text_put(w, "\n");
}

void tsi_text_more(struct text_writer *w, size_t count)
{
	char number[NUMBER_MAX];

	if (count == 0)
		return;
	tsi_number_people_int(number, (int64_t)count, TSCOPE_UNIT_COUNT);
	tsi_text_begin_tone(w, DOC_FAINT);
	tsi_text_put(w, "  … and ");
	tsi_text_put(w, number);
	tsi_text_put(w, " more\n");
	tsi_text_end_tone(w, DOC_FAINT);
}

void tsi_text_table(struct text_writer *w, const struct doc_table *table)
{
	struct layout layout;

	if (table->row_count == 0)
		return;
	layout = lay_out(table, w->width);
	if (!table->is_tight)
		tsi_text_put(w, "\n");
	put_headings(w, &layout);
	for (size_t row = 0; row < table->row_count; row++)
		put_row(w, &layout, &table->rows[row]);
	tsi_text_more(w, table->more_count);
}

/* ---- heat ---- */

enum { HEAT_ROWS = 16, HEAT_COLUMNS = 64, HEAT_LABEL = 14 };

/* The blocks, several as one where the lines do not suffice. */
struct blocks {
	double ratios[HEAT_ROWS][HEAT_COLUMNS]; /* the most of any block */
	int64_t first_ranks[HEAT_ROWS], last_ranks[HEAT_ROWS];
	size_t row_count, column_count;
	double most;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void unite_blocks(struct blocks *blocks, const struct doc_heat *heat, unsigned width)
{
	size_t room = width > HEAT_LABEL + 2 ? width - HEAT_LABEL - 2 : 1;

	*blocks = (struct blocks){ .row_count = smaller(heat->row_count, HEAT_ROWS) };
	blocks->column_count = smaller(smaller(heat->column_count, HEAT_COLUMNS), room);
	for (size_t i = 0; i < heat->row_count * heat->column_count; i++) {
		size_t rank = i / heat->column_count;
		size_t row = rank * blocks->row_count / heat->row_count;
		size_t column = i % heat->column_count * blocks->column_count / heat->column_count;
		double *most = &blocks->ratios[row][column];

		if (rank == (row * heat->row_count + blocks->row_count - 1) / blocks->row_count)
			blocks->first_ranks[row] = heat->first_ranks[rank];
		blocks->last_ranks[row] = heat->last_ranks[rank];
		*most = fmax(*most, heat->ratios[i]);
		blocks->most = fmax(blocks->most, heat->ratios[i]);
	}
}

static void put_heat_row(struct text_writer *w, const struct blocks *blocks, size_t row,
			 double scale)
{
	char label[2 * NUMBER_MAX];

	if (blocks->first_ranks[row] == blocks->last_ranks[row])
		snprintf(label, sizeof(label), "rank %lld", (long long)blocks->first_ranks[row]);
	else
		snprintf(label, sizeof(label), "%lld-%lld", (long long)blocks->first_ranks[row],
			 (long long)blocks->last_ranks[row]);
	tsi_text_right(w, label, HEAT_LABEL - 2);
	tsi_text_put(w, "  ");
	for (size_t i = 0; i < blocks->column_count; i++) {
		double part = blocks->ratios[row][i] / scale;

		tsi_text_style(w, part > 0.5 ? TEXT_RED : part > 0.2 ? TEXT_YELLOW : TEXT_GREEN);
		tsi_text_tick(w, part);
	}
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

static void put_heat_heading(struct text_writer *w, const struct doc_heat *heat, double scale)
{
	struct text_flow flow = { .w = w, .separator = " · ", .indent = INDENT };
	char text[3 * NUMBER_MAX];

	tsi_text_put(w, "\n");
	tsi_text_style(w, TEXT_DIM);
	snprintf(text, sizeof(text), "steps %lld to %lld", (long long)heat->first_step,
		 (long long)heat->last_step);
	tsi_text_flow(&flow, text);
	snprintf(text, sizeof(text), "legend: full block = %.1f %% above the median", 100 * scale);
	tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
	tsi_text_style(w, TEXT_PLAIN);
}

/* Full cells are what is as late as the latest, but noise is not blown up to that. */
void tsi_text_heat(struct text_writer *w, const struct doc_heat *heat)
{
	static const double least_scale = 0.05;
	struct blocks blocks;

	unite_blocks(&blocks, heat, w->width);
	double scale = fmax(blocks.most, least_scale);
	put_heat_heading(w, heat, scale);
	for (size_t row = 0; row < blocks.row_count; row++)
		put_heat_row(w, &blocks, row, scale);
}
