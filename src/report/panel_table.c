/* SPDX-License-Identifier: MIT */
/*
 * Tables of the text report: which of their rows and columns are shown, in which widths and
 * units. Those of names take what the line has left.
 */
#include "report/panel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct table_view tsi_panel_rows(const struct panel *panel, const char *id)
{
	return tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, id);
}

enum {
	MAX_COLUMNS = 12,
	FEW_RANKED = 100,
	MIN_NAME_WIDTH = 12,
	NAME_MAX_BYTES = 1024,
};

/* A table as it is printed: which of its columns are shown, and how wide. */
struct layout {
	struct table_view view;
	const struct column *columns;
	size_t count;
	size_t row_count, all_count; /* rows shown, and rows there are to show */
	const size_t *rows;          /* those shown; NULL: the first */
	const char *folder;          /* left out of names, or NULL */
	size_t index[MAX_COLUMNS];   /* in the definition */
	unsigned width[MAX_COLUMNS]; /* 0: not shown */
	size_t last;                 /* column that is shown: no blanks follow it */
};

static double real_of(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_INT ? (double)value.integer : value.real;
}

/* The value in a row that is shown, of a column that is. */
static struct tscope_value value_of(const struct layout *layout, size_t row, size_t column)
{
	size_t of_table = layout->rows ? layout->rows[row] : row;
	const char *slash = strchr(layout->columns[column].name, '/');
	struct tscope_value value, divisor;

	value = tsi_table_cell(&layout->view, of_table, layout->index[column]);
	if (!slash || value.kind == TSCOPE_VALUE_ABSENT)
		return value;
	divisor =
		tsi_table_cell(&layout->view, of_table, tsi_table_column(&layout->view, slash + 1));
	if (divisor.kind == TSCOPE_VALUE_ABSENT || real_of(divisor) == 0)
		return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
	return (struct tscope_value){ .kind = TSCOPE_VALUE_REAL,
				      .real = real_of(value) / real_of(divisor) };
}

static size_t index_of(const struct layout *layout, size_t column)
{
	char name[NUMBER_MAX];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(layout->columns[column].name, "/"),
		 layout->columns[column].name);
	return tsi_table_column(&layout->view, name);
}

static bool has_values(const struct layout *layout, size_t column)
{
	for (size_t row = 0; row < layout->row_count; row++)
		if (value_of(layout, row, column).kind != TSCOPE_VALUE_ABSENT)
			return true;
	return false;
}

/* Columns that the line has left for names when the others have had theirs; negative: too few. */
static int width_left(const struct layout *layout, unsigned width)
{
	unsigned used = 2;

	for (size_t i = 0; i < layout->count; i++)
		used += layout->width[i];
	return (int)width - (int)used;
}

/* What a column of names needs at least: as much as its heading; 0 where there is none. */
static int least_of_names(const struct layout *layout)
{
	unsigned least = 0;

	for (size_t i = 0; i < layout->count; i++) {
		unsigned heading = tsi_text_columns(layout->columns[i].heading);

		if (layout->columns[i].width > 0)
			continue;
		least = least > MIN_NAME_WIDTH ? least : MIN_NAME_WIDTH;
		least = least > heading ? least : heading;
	}
	return (int)least;
}

/* Where the line is too short for all columns, those on the right go first. */
static void lay_out(struct layout *layout, unsigned width)
{
	int least = least_of_names(layout), left;

	for (size_t i = 0; i < layout->count; i++) {
		layout->index[i] = index_of(layout, i);
		if (has_values(layout, i))
			layout->width[i] = layout->columns[i].width;
	}
	for (size_t i = layout->count; i-- > 0;) {
		if (width_left(layout, width) >= least)
			break;
		layout->width[i] = 0;
	}
	left = width_left(layout, width);
	for (size_t i = 0; i < layout->count; i++) {
		if (layout->columns[i].width == 0)
			layout->width[i] = (unsigned)left;
		if (layout->width[i] > 0)
			layout->last = i;
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
		unsigned gap = i > 0 && is_text(layout, i) ? 2 : 0;

		if (layout->width[i] == 0)
			continue;
		tsi_text_repeat(w, " ", gap);
		if (!is_text(layout, i))
			tsi_text_right(w, layout->columns[i].heading, layout->width[i]);
		else
			tsi_text_left(w, layout->columns[i].heading,
				      i == layout->last ? 0 : layout->width[i] - gap);
	}
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
}

/* A name as it is shown; one that is too long for `room` stays as it is. */
static const char *without_folder(const struct layout *layout, const char *name,
				  char room[NAME_MAX_BYTES])
{
	size_t folder_length = layout->folder ? strlen(layout->folder) : 0, length = 0;

	if (folder_length == 0 || strlen(name) >= NAME_MAX_BYTES)
		return name;
	while (*name != '\0') {
		if (strncmp(name, layout->folder, folder_length) == 0)
			name += folder_length;
		else
			room[length++] = *name++;
	}
	room[length] = '\0';
	return room;
}

static void put_name(struct text_writer *w, const struct layout *layout, const char *text,
		     size_t column)
{
	unsigned gap = column > 0 ? 2 : 0, width = layout->width[column] - gap, used;
	char room[NAME_MAX_BYTES];
	const char *name = without_folder(layout, text, room);

	tsi_text_repeat(w, " ", gap);
	if (strcmp(layout->columns[column].name, "site") == 0)
		used = tsi_text_site_cut(w, name, width);
	else
		used = tsi_text_name_cut(w, name, width);
	if (column != layout->last)
		tsi_text_repeat(w, " ", width - used);
}

static void put_cell(struct text_writer *w, const struct layout *layout, size_t row, size_t column)
{
	struct tscope_value value = value_of(layout, row, column);
	char number[NUMBER_MAX];

	if (is_text(layout, column)) {
		bool is_named = value.kind == TSCOPE_VALUE_TEXT && *value.text != '\0';

		put_name(w, layout, is_named ? value.text : "-", column);
		return;
	}
	tsi_number_people(number, value, layout->view.def->columns[layout->index[column]].unit);
	tsi_text_right(w, number, layout->width[column]);
}

static void put_rest(struct text_writer *w, size_t count)
{
	char rest[NUMBER_MAX];

	tsi_number_people_int(rest, (int64_t)count, TSCOPE_UNIT_COUNT);
	tsi_text_style(w, TEXT_DIM);
	tsi_text_printf(w, "  … and %s more\n", rest);
	tsi_text_style(w, TEXT_PLAIN);
}

static void put_table(struct text_writer *w, struct layout *layout)
{
	assert(layout->count <= MAX_COLUMNS);
	if (layout->row_count == 0)
		return;
	lay_out(layout, w->width);
	tsi_text_put(w, "\n");
	put_headings(w, layout);
	for (size_t row = 0; row < layout->row_count; row++) {
		tsi_text_put(w, "  ");
		for (size_t column = 0; column < layout->count; column++) {
			if (layout->width[column] > 0)
				put_cell(w, layout, row, column);
		}
		tsi_text_put(w, "\n");
	}
	if (layout->all_count > layout->row_count)
		put_rest(w, layout->all_count - layout->row_count);
}

void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count)
{
	struct layout layout = {
		.view = tsi_panel_rows(panel, id),
		.columns = columns,
		.count = count,
	};

	layout.all_count = layout.view.row_count;
	layout.row_count = layout.all_count < panel->top ? layout.all_count : panel->top;
	put_table(panel->w, &layout);
}

static bool is_above_0(const struct table_view *view, size_t row, size_t column)
{
	struct tscope_value value = tsi_table_cell(view, row, column);

	return value.kind == TSCOPE_VALUE_INT && value.integer > 0;
}

/* Puts a row where it belongs among the first `limit`; of equal ones the earlier goes first. */
static void rank_row(struct layout *layout, size_t *rows, size_t limit, size_t row, size_t by)
{
	int64_t value = tsi_table_cell(&layout->view, row, by).integer;
	size_t place = layout->row_count;

	while (place > 0 && value > tsi_table_cell(&layout->view, rows[place - 1], by).integer)
		place--;
	if (place == limit)
		return;
	if (layout->row_count < limit)
		layout->row_count++;
	memmove(&rows[place + 1], &rows[place], (layout->row_count - place - 1) * sizeof(*rows));
	rows[place] = row;
}

void tsi_panel_ranking(const struct panel *panel, const struct ranking *ranking,
		       const struct column *columns, size_t count)
{
	struct layout layout = {
		.view = tsi_panel_rows(panel, ranking->table),
		.columns = columns,
		.count = count,
	};
	size_t by = tsi_table_column(&layout.view, ranking->by);
	size_t only = ranking->only ? tsi_table_column(&layout.view, ranking->only) : by;
	size_t limit = panel->top < layout.view.row_count ? panel->top : layout.view.row_count;
	size_t few[FEW_RANKED], *many = NULL, *rows = few;

	if (limit > FEW_RANKED)
		rows = many = calloc(limit, sizeof(*many));
	if (!rows) {
		/* The table says itself that there are more. */
		rows = few;
		limit = FEW_RANKED;
	}
	for (size_t row = 0; row < layout.view.row_count; row++) {
		if (!is_above_0(&layout.view, row, by) || !is_above_0(&layout.view, row, only))
			continue;
		layout.all_count++;
		rank_row(&layout, rows, limit, row, by);
	}
	layout.rows = rows;
	layout.folder = ranking->folder;
	put_table(panel->w, &layout);
	free(many);
}

/* ---- a column as a curve ---- */

struct curve {
	struct table_view view;
	size_t column;
};

static bool get_point(const void *source, size_t index, double *value)
{
	const struct curve *curve = source;
	struct tscope_value cell = tsi_table_cell(&curve->view, index, curve->column);

	*value = (double)cell.integer;
	return cell.kind == TSCOPE_VALUE_INT;
}

void tsi_panel_curve(const struct panel *panel, const char *table, const char *column)
{
	struct curve curve = { .view = tsi_panel_rows(panel, table) };

	curve.column = tsi_table_column(&curve.view, column);
	if (curve.view.row_count > 2)
		tsi_panel_sparkline(panel,
				    &(struct sketch){ &curve, get_point, curve.view.row_count });
}
