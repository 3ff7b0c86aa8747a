/* SPDX-License-Identifier: MIT */
/*
 * The parts of a section of the text report: title, meters, figures, tables.
 * They know units and widths, and no analyzer.
 */
#include "report/panel.h"

#include "report/lookup.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

enum {
	LABEL_WIDTH = 17,
	TIME_WIDTH = 10,
	SHARE_WIDTH = 9,
	MAX_BAR_CELLS = 40,
	MAX_COLUMNS = 12,
	MIN_NAME_WIDTH = 12,
};

void tsi_panel_number(const struct panel *panel, const char *id, char text[NUMBER_MAX])
{
	enum tscope_unit unit;
	struct tscope_value value = tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, id, &unit);

	tsi_number_people(text, value, unit);
}

void tsi_panel_title(const struct panel *panel, enum text_style light, const char *analyzer,
		     const char *title, const char *format, ...)
{
	const char *reason = tscope_analysis_reliability(
		panel->analysis, tsi_lookup_analyzer(analyzer), TSCOPE_WHOLE_TRACE);
	char rest[256];
	va_list values;

	va_start(values, format);
	vsnprintf(rest, sizeof(rest), format, values);
	va_end(values);
	tsi_text_put(panel->w, "\n");
	tsi_text_put_styled(panel->w, reason ? TEXT_RED : light, "●");
	tsi_text_put(panel->w, " ");
	tsi_text_put_styled(panel->w, TEXT_BOLD, title);
	if (*rest != '\0')
		tsi_text_printf(panel->w, "  %s", rest);
	tsi_text_put(panel->w, "\n");
	if (reason) {
		tsi_text_style(panel->w, TEXT_RED);
		tsi_text_put(panel->w, "  unreliable: ");
		tsi_text_paragraph(panel->w, reason, 14);
		tsi_text_style(panel->w, TEXT_PLAIN);
	}
}

void tsi_panel_meter(const struct panel *panel, const struct meter *meter)
{
	struct text_writer *w = panel->w;
	unsigned used = 2 + LABEL_WIDTH + TIME_WIDTH + SHARE_WIDTH + 2;
	unsigned cells = w->width - used < MAX_BAR_CELLS ? w->width - used : MAX_BAR_CELLS;
	struct tscope_value ratio = { .kind = TSCOPE_VALUE_ABSENT };
	char time[NUMBER_MAX], share[NUMBER_MAX];

	if (meter->whole_ns > 0) {
		ratio.kind = TSCOPE_VALUE_REAL;
		ratio.real = (double)meter->part_ns / (double)meter->whole_ns;
	}
	tsi_number_people(share, ratio, TSCOPE_UNIT_RATIO);
	tsi_number_people_int(time, meter->shown_ns, TSCOPE_UNIT_NS);
	tsi_text_put(w, "  ");
	tsi_text_left(w, meter->label, LABEL_WIDTH);
	tsi_text_right(w, time, TIME_WIDTH);
	tsi_text_right(w, share, SHARE_WIDTH);
	tsi_text_put(w, "  ");
	tsi_text_bar(w, meter->whole_ns > 0 ? ratio.real : 0, cells, meter->style);
	tsi_text_put(w, "\n");
}

void tsi_panel_figures(const struct panel *panel, const struct figure *figures, size_t count)
{
	struct text_writer *w = panel->w;
	unsigned column = 0;

	for (size_t i = 0; i < count; i++) {
		enum tscope_unit unit;
		struct tscope_value value =
			tsi_lookup_fact(panel->analysis, TSCOPE_WHOLE_TRACE, figures[i].id, &unit);
		char number[NUMBER_MAX];
		unsigned length;

		if (value.kind == TSCOPE_VALUE_ABSENT)
			continue;
		tsi_number_people(number, value, unit);
		length = tsi_text_columns(figures[i].label) + 1 + tsi_text_columns(number);
		if (column > 0 && column + 3 + length > w->width) {
			tsi_text_put(w, "\n");
			column = 0;
		}
		tsi_text_put(w, column > 0 ? " · " : "  ");
		tsi_text_printf(w, "%s %s", figures[i].label, number);
		column += (column > 0 ? 3 : 2) + length;
	}
	if (column > 0)
		tsi_text_put(w, "\n");
}

/* A table as it is printed: which of its columns are shown, and how wide. */
struct layout {
	struct table_view view;
	const struct column *columns;
	size_t count, row_count;
	size_t index[MAX_COLUMNS];   /* in the definition */
	unsigned width[MAX_COLUMNS]; /* 0: not shown */
};

static bool has_values(const struct layout *layout, size_t column)
{
	for (size_t row = 0; row < layout->row_count; row++) {
		struct tscope_value value =
			tsi_table_cell(&layout->view, row, layout->index[column]);

		if (value.kind != TSCOPE_VALUE_ABSENT)
			return true;
	}
	return false;
}

/* Columns that the line has left for names when the others have had theirs. */
static unsigned width_left(const struct layout *layout, unsigned width)
{
	unsigned used = 2;

	for (size_t i = 0; i < layout->count; i++)
		used += layout->width[i];
	return used < width ? width - used : 0;
}

/* Where the line is too short for all columns, those on the right go first. */
static void lay_out(struct layout *layout, unsigned width)
{
	unsigned left;

	for (size_t i = 0; i < layout->count; i++) {
		layout->index[i] = tsi_table_column(&layout->view, layout->columns[i].name);
		if (has_values(layout, i))
			layout->width[i] = layout->columns[i].width;
	}
	for (size_t i = layout->count; i-- > 0 && width_left(layout, width) < MIN_NAME_WIDTH;)
		layout->width[i] = 0;
	left = width_left(layout, width);
	for (size_t i = 0; i < layout->count; i++) {
		if (layout->columns[i].width == 0)
			layout->width[i] = left;
	}
}

static bool is_text(const struct layout *layout, size_t column)
{
	return layout->view.def->columns[layout->index[column]].unit == TSCOPE_UNIT_TEXT;
}

static void put_headings(struct text_writer *w, const struct layout *layout)
{
	tsi_text_style(w, TEXT_DIM);
	tsi_text_put(w, "  ");
	for (size_t i = 0; i < layout->count; i++) {
		if (layout->width[i] == 0)
			continue;
		if (i > 0 && is_text(layout, i)) {
			tsi_text_put(w, "  ");
			tsi_text_left(w, layout->columns[i].heading, layout->width[i] - 2);
		} else if (is_text(layout, i)) {
			tsi_text_left(w, layout->columns[i].heading, layout->width[i]);
		} else {
			tsi_text_right(w, layout->columns[i].heading, layout->width[i]);
		}
	}
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

static void put_cell(struct text_writer *w, const struct layout *layout, size_t row, size_t column)
{
	struct tscope_value value = tsi_table_cell(&layout->view, row, layout->index[column]);
	unsigned width = layout->width[column];
	char number[NUMBER_MAX];

	if (is_text(layout, column)) {
		unsigned gap = column > 0 ? 2 : 0;

		tsi_text_repeat(w, " ", gap);
		tsi_text_name_cell(w, value.kind == TSCOPE_VALUE_TEXT ? value.text : "-",
				   width - gap);
		return;
	}
	tsi_number_people(number, value, layout->view.def->columns[layout->index[column]].unit);
	tsi_text_right(w, number, width);
}

void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count)
{
	struct layout layout = {
		.view = tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, id),
		.columns = columns,
		.count = count,
	};
	struct text_writer *w = panel->w;

	assert(count <= MAX_COLUMNS);
	if (layout.view.row_count == 0)
		return;
	layout.row_count = layout.view.row_count < panel->top ? layout.view.row_count : panel->top;
	lay_out(&layout, w->width);
	tsi_text_put(w, "\n");
	put_headings(w, &layout);
	for (size_t row = 0; row < layout.row_count; row++) {
		tsi_text_put(w, "  ");
		for (size_t column = 0; column < count; column++) {
			if (layout.width[column] > 0)
				put_cell(w, &layout, row, column);
		}
		tsi_text_put(w, "\n");
	}
	if (layout.view.row_count > layout.row_count) {
		char rest[NUMBER_MAX];

		tsi_number_people_int(rest, (int64_t)(layout.view.row_count - layout.row_count),
				      TSCOPE_UNIT_COUNT);
		tsi_text_style(w, TEXT_DIM);
		tsi_text_printf(w, "  … and %s more\n", rest);
		tsi_text_style(w, TEXT_PLAIN);
	}
}
