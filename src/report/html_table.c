/* SPDX-License-Identifier: MIT */
/* Tables of a document as HTML. Cells keep their numbers, so that the page can sort by them. */
#include "report/html_writer.h"
#include "report/number.h"

#include <inttypes.h>
#include <math.h>

enum {
	FILTER_ROWS = 8, /* a table with more rows has a field to filter by */
	SHORT_NAME = 24, /* characters that stand on one line */
	MAX_POINTS = 400,
	POINT_STEP = 2, /* of a curve, in pixels */
	CURVE_HEIGHT = 36,
	CELL = 14, /* of a heat map */
};

/* ---- tables ---- */

/* The number that a column is sorted by. */
static void put_sort_key(FILE *out, struct tscope_value value)
{
	if (value.kind == TSCOPE_VALUE_INT)
		fprintf(out, " data-v=\"%" PRId64 "\"", value.integer);
	else if (value.kind == TSCOPE_VALUE_REAL) {
		char text[NUMBER_MAX];

		tsi_number_significant(text, value.real, 9);
		fprintf(out, " data-v=\"%s\"", text);
	}
}

static void put_value(FILE *out, struct tscope_value value, enum tscope_unit unit)
{
	char text[NUMBER_MAX];

	if (value.kind == TSCOPE_VALUE_TEXT) {
		tsi_html_text(out, value.text);
		return;
	}
	tsi_number_people(text, value, unit);
	tsi_html_text(out, text);
}

static void put_cell(FILE *out, const struct doc_column *column, const struct doc_cell *cell)
{
	const char *name = cell->text                              ? cell->text
			   : cell->value.kind == TSCOPE_VALUE_TEXT ? cell->value.text
								   : "";
	bool is_short = strlen(name) <= SHORT_NAME;

	if (column->unit == TSCOPE_UNIT_TEXT)
		fprintf(out, "<td class=\"name%s\"", is_short ? " short" : "");
	else
		fputs("<td", out);
	put_sort_key(out, cell->value);
	if (cell->text && cell->value.kind == TSCOPE_VALUE_TEXT) {
		fputs(" title=\"", out);
		tsi_html_text(out, cell->value.text);
		fputc('"', out);
	}
	fputc('>', out);
	if (cell->text)
		tsi_html_text(out, cell->text);
	else
		put_value(out, cell->value, column->unit);
	fputs("</td>", out);
}

static void put_head(FILE *out, const struct doc_table *table)
{
	fputs("<thead><tr>", out);
	for (size_t i = 0; i < table->column_count; i++) {
		fprintf(out, "<th scope=\"col\"%s>",
			table->columns[i].unit == TSCOPE_UNIT_TEXT ? " class=\"name\"" : "");
		tsi_html_text(out, table->columns[i].heading);
		fputs("</th>", out);
	}
	fputs(table->has_bars ? "<th scope=\"col\"><span class=\"sr\">share</span></th>" : "", out);
	fputs("</tr></thead>\n", out);
}

static void put_row(FILE *out, const struct doc_table *table, const struct doc_row *row)
{
	if (row->caption) {
		fprintf(out, "<tr class=\"caption\"><th scope=\"colgroup\" colspan=\"%zu\">",
			table->column_count + table->has_bars);
		tsi_html_text(out, row->caption);
		fputs("</th></tr>\n", out);
	}
	fprintf(out, "<tr%s>", row->is_marked ? " class=\"marked\"" : "");
	for (size_t i = 0; i < table->column_count; i++)
		put_cell(out, &table->columns[i], &row->cells[i]);
	if (table->has_bars) {
		fputs("<td class=\"bars\">", out);
		tsi_html_bar(out, row->bar_ratio, "");
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

void tsi_html_table(FILE *out, const struct doc_table *table, size_t number, const char *label)
{
	if (table->row_count == 0)
		return;
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table %zu: ",
		number);
	tsi_html_text(out, label);
	fputs(", ", out);
	tsi_html_text(out, table->columns[0].heading);
	fprintf(out, "\"><table class=\"data%s\">",
		table->row_count > FILTER_ROWS ? " filter" : "");
	put_head(out, table);
	fputs("<tbody>\n", out);
	for (size_t i = 0; i < table->row_count; i++)
		put_row(out, table, &table->rows[i]);
	fputs("</tbody></table></div>\n", out);
	if (table->more_count > 0)
		fprintf(out,
			"<p class=\"faint\">%zu more rows are left out; --top N shows more</p>\n",
			table->more_count);
}

/* ---- comparisons ---- */

static void put_change_name(FILE *out, const struct doc_change *row)
{
	char one[ONE_NAME_MAX];
	size_t count = tsi_count_names(row->name);

	fprintf(out, "<th scope=\"row\" class=\"name indent%u\">",
		row->indent < 3 ? row->indent : 3);
	if (count > 1) {
		fprintf(out, "%zu together", count);
		for (const char *rest = row->name; rest;) {
			rest = tsi_next_name(one, rest);
			fputs("<br><small>", out);
			tsi_html_text(out, one);
			fputs("</small>", out);
		}
	} else {
		tsi_html_text(out, row->name);
	}
	for (size_t i = 0; i < row->note_count; i++) {
		for (const char *rest = row->notes[i].names; rest && *rest != '\0';) {
			rest = tsi_next_name(one, rest);
			fputs("<br><small>", out);
			tsi_html_text(out, row->notes[i].words);
			fputc(' ', out);
			tsi_html_text(out, one);
			fputs("</small>", out);
		}
		if (*row->notes[i].names == '\0') {
			fputs("<br><small>", out);
			tsi_html_text(out, row->notes[i].words);
			fputs("</small>", out);
		}
	}
	fputs("</th>", out);
}

static void put_change(FILE *out, const struct doc_change *row)
{
	const struct tscope_value *sides[] = { &row->a, &row->b };
	double change = row->change.kind == TSCOPE_VALUE_INT    ? (double)row->change.integer
			: row->change.kind == TSCOPE_VALUE_REAL ? row->change.real
								: 0;
	char text[NUMBER_MAX];

	fprintf(out, "<tr%s>", row->is_strong ? " class=\"marked\"" : "");
	put_change_name(out, row);
	fputs("<td class=\"name\">", out);
	tsi_html_text(out, row->word ? row->word : "");
	fputs("</td>", out);
	for (size_t i = 0; i < 2; i++) {
		fputs("<td", out);
		put_sort_key(out, *sides[i]);
		fputc('>', out);
		if (!row->is_sum)
			put_value(out, *sides[i], row->unit);
		fputs("</td>", out);
	}
	tsi_number_difference(text, row->change, row->unit);
	fprintf(out, "<td class=\"t-%s\"",
		change == 0 || !row->is_cost ? "plain"
		: change > 0                 ? "bad"
					     : "good");
	put_sort_key(out, row->change);
	fprintf(out, ">%s</td></tr>\n", row->change.kind == TSCOPE_VALUE_TEXT ? "" : text);
}

void tsi_html_changes(FILE *out, const struct doc_changes *changes, size_t number)
{
	fprintf(out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table %zu: ",
		number);
	tsi_html_text(out, changes->heading);
	fputs("\"><table class=\"data\"><thead><tr><th scope=\"col\" class=\"name\">", out);
	tsi_html_text(out, changes->heading);
	fputs("</th><th scope=\"col\" class=\"name\"><span class=\"sr\">what</span></th>"
	      "<th scope=\"col\">A</th><th scope=\"col\">B</th><th scope=\"col\">change</th></tr>"
	      "</thead><tbody>\n",
	      out);
	for (size_t i = 0; i < changes->row_count; i++)
		put_change(out, &changes->rows[i]);
	fputs("</tbody></table></div>\n", out);
	if (changes->more_count > 0)
		fprintf(out, "<p class=\"faint\">and %zu more</p>\n", changes->more_count);
}

/* ---- sketches ---- */

void tsi_html_heat(FILE *out, const struct doc_heat *heat)
{
	fprintf(out,
		"<svg class=\"heat\" role=\"img\" aria-label=\"%zu rows of ranks, steps %" PRId64
		" to %" PRId64 "\" width=\"%zu\" viewBox=\"0 0 %zu %zu\">",
		heat->row_count, heat->first_step, heat->last_step, heat->column_count * CELL,
		heat->column_count * CELL, heat->row_count * CELL);
	for (size_t y = 0; y < heat->row_count; y++) {
		for (size_t x = 0; x < heat->column_count; x++) {
			double ratio = heat->ratios[y * heat->column_count + x];
			int tenths = ratio > 0 ? (int)((ratio < 1 ? ratio : 1) * 10) : 0;

			fprintf(out,
				"<rect class=\"h%d\" x=\"%zu\" y=\"%zu\" width=\"%d\" "
				"height=\"%d\"/>",
				tenths, x * CELL, y * CELL, CELL - 1, CELL - 1);
		}
	}
	fputs("</svg>\n", out);
}

/* The highest of a stretch, so that no spike is lost; false: there is none. */
static bool highest_of(const struct doc_series *series, size_t first, size_t end, double *highest)
{
	bool is_found = false;
	double value;

	for (size_t i = first; i < end; i++) {
		if (!series->get(series->source, i, &value) || !isfinite(value))
			continue;
		if (!is_found || value > *highest)
			*highest = value;
		is_found = true;
	}
	return is_found;
}

void tsi_html_series(FILE *out, const struct doc_series *series)
{
	size_t count = series->count < MAX_POINTS ? series->count : MAX_POINTS, shown = 0;
	double points[MAX_POINTS], low = INFINITY, high = -INFINITY;

	for (size_t i = 0; i < count; i++) {
		if (!highest_of(series, i * series->count / count, (i + 1) * series->count / count,
				&points[shown]))
			continue;
		low = fmin(low, points[shown]);
		high = fmax(high, points[shown]);
		shown++;
	}
	if (shown < 2)
		return;
	fprintf(out,
		"<svg class=\"spark\" aria-hidden=\"true\" preserveAspectRatio=\"none\" "
		"viewBox=\"0 0 %zu %d\"><polyline points=\"",
		(shown - 1) * POINT_STEP, CURVE_HEIGHT);
	for (size_t i = 0; i < shown; i++) {
		/* Halves, so that huge values stay finite. */
		double share = high > low ? (points[i] / 2 - low / 2) / (high / 2 - low / 2) : 0.5;

		fprintf(out, "%zu,%d ", i * POINT_STEP,
			CURVE_HEIGHT - 2 - (int)(share * (CURVE_HEIGHT - 4)));
	}
	fputs("\"/></svg>\n", out);
}
