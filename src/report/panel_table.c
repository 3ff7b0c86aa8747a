/* SPDX-License-Identifier: MIT */
/* Tables of facts as tables of a document: which of their rows and columns are shown. */
#include "report/panel.h"

#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"

enum { NAME_MAX_BYTES = 1024 };

#define NO_DIVISOR SIZE_MAX

static double real_of(struct tscope_value value)
{
	return value.kind == TSCOPE_VALUE_INT ? (double)value.integer : value.real;
}

/* A name without a folder; NULL: as it is. One that is very long stays so. */
static const char *without_folder(const struct panel *panel, const char *name, const char *folder)
{
	size_t folder_length = folder ? strlen(folder) : 0, length = 0;
	char room[NAME_MAX_BYTES];

	if (folder_length == 0 || strlen(name) >= NAME_MAX_BYTES)
		return NULL;
	while (*name != '\0') {
		if (strncmp(name, folder, folder_length) == 0)
			name += folder_length;
		else
			room[length++] = *name++;
	}
	room[length] = '\0';
	return tsi_panel_print(panel, "%s", room);
}

/* A table of facts on its way into the document. */
struct shown_table {
	struct table_view view;
	struct doc_table *table;
	size_t count;
	size_t index[DOC_MAX_COLUMNS];
	size_t divisor[DOC_MAX_COLUMNS]; /* NO_DIVISOR: none */
	const char *folder;              /* left out of names, or NULL */
};

static struct shown_table begin_table(const struct panel *panel, const char *id,
				      const struct column *columns, size_t count)
{
	struct doc_column shown[DOC_MAX_COLUMNS];
	struct shown_table table = { .view = tsi_panel_rows(panel, id), .count = count };

	for (size_t i = 0; i < count; i++) {
		const char *slash = strchr(columns[i].name, '/');
		char name[NUMBER_MAX];

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(columns[i].name, "/"),
			 columns[i].name);
		table.index[i] = tsi_table_column(&table.view, name);
		table.divisor[i] = slash ? tsi_table_column(&table.view, slash + 1) : NO_DIVISOR;
		shown[i] = (struct doc_column){
			.heading = columns[i].heading,
			.unit = table.view.def->columns[table.index[i]].unit,
			.width = columns[i].width,
			.is_site = strcmp(name, "site") == 0,
		};
	}
	table.table = tsi_doc_table(panel->doc, shown, count);
	return table;
}

/* The value of a column, or of one by another. */
static struct tscope_value value_of(const struct shown_table *table, size_t row, size_t column)
{
	struct tscope_value value = tsi_table_cell(&table->view, row, table->index[column]);
	struct tscope_value divisor;

	if (table->divisor[column] == NO_DIVISOR || value.kind == TSCOPE_VALUE_ABSENT)
		return value;
	divisor = tsi_table_cell(&table->view, row, table->divisor[column]);
	if (divisor.kind == TSCOPE_VALUE_ABSENT || real_of(divisor) == 0)
		return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
	return (struct tscope_value){ .kind = TSCOPE_VALUE_REAL,
				      .real = real_of(value) / real_of(divisor) };
}

static void add_row(const struct panel *panel, const struct shown_table *table, size_t row)
{
	struct doc_row *shown = tsi_doc_row(panel->doc, table->table);

	for (size_t i = 0; shown && i < table->count; i++) {
		struct tscope_value value = value_of(table, row, i);

		shown->cells[i].value = value;
		if (value.kind == TSCOPE_VALUE_TEXT)
			shown->cells[i].text = without_folder(panel, value.text, table->folder);
	}
}

/* One of the texts of a cell, among those of its column. */
struct wording {
	const char **text;
	const char *unlike; /* what stands there instead where others read the same */
};

static int compare_wordings(const void *left, const void *right)
{
	const struct wording *a = left, *b = right;

	return strcmp(*a->text, *b->text);
}

static void keep_apart(struct wording *wordings, size_t count)
{
	size_t end;

	qsort(wordings, count, sizeof(*wordings), compare_wordings);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (compare_wordings(&wordings[i], &wordings[end]) != 0)
				break;
		for (size_t k = i; end > i + 1 && k < end; k++)
			*wordings[k].text = wordings[k].unlike;
	}
}

/* Names the kernels of the first column as people do; those that would read alike stay. */
static void name_kernels(const struct panel *panel, struct doc_table *table)
{
	struct arena *arena = &panel->doc->arena;
	size_t count = table->row_count;
	struct wording *texts = tsi_arena_new(arena, count, sizeof(*texts));
	struct wording *briefs = tsi_arena_new(arena, count, sizeof(*briefs));

	if (!texts || !briefs || count == 0)
		return;
	for (size_t row = 0; row < count; row++) {
		struct doc_cell *cell = &table->rows[row].cells[0];
		cell->text = tsi_cxx_name(arena, cell->value.text, CXX_ARGUMENTS);
		cell->brief = tsi_cxx_name(arena, cell->value.text, CXX_TYPES);
		texts[row] = (struct wording){ &cell->text, cell->value.text };
		briefs[row] = (struct wording){ &cell->brief, NULL };
	}
	keep_apart(texts, count);
	keep_apart(briefs, count);
}

static void end_table(const struct shown_table *table, size_t left_out_count)
{
	if (table->table)
		table->table->more_count = left_out_count;
}

static struct doc_table *put_table(const struct panel *panel, const char *id,
				   const struct column *columns, size_t count)
{
	struct shown_table table = begin_table(panel, id, columns, count);
	size_t row = 0;

	for (; row < table.view.row_count && row < panel->top; row++)
		add_row(panel, &table, row);
	end_table(&table, table.view.row_count - row);
	return table.table;
}

void tsi_panel_table(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count)
{
	(void)put_table(panel, id, columns, count);
}

void tsi_panel_kernels(const struct panel *panel, const char *id, const struct column *columns,
		       size_t count)
{
	struct doc_table *table = put_table(panel, id, columns, count);

	if (table)
		name_kernels(panel, table);
}

const char *tsi_path_tail(const char *path)
{
	enum { SHORT_CHARS = 36 };
	size_t length = strlen(path), start = length;

	for (size_t at = length; at-- > 1;) {
		bool is_border = (path[at - 1] == '.' || path[at - 1] == '/') && path[at] != '*';
		if (length - at > SHORT_CHARS && start < length)
			break;
		if (is_border && strncmp(path + at, "py(", 3) != 0)
			start = at;
	}
	return start < length ? path + start : path;
}

void tsi_panel_paths(const struct panel *panel, const char *id, const struct column *columns,
		     size_t count)
{
	struct doc_table *table = put_table(panel, id, columns, count);

	for (size_t row = 0; table && row < table->row_count; row++) {
		struct doc_cell *cell = &table->rows[row].cells[0];
		if (cell->value.kind == TSCOPE_VALUE_TEXT)
			cell->brief = tsi_path_tail(cell->value.text);
	}
}

/* ---- rankings ---- */

static bool is_above_0(const struct table_view *view, size_t row, size_t column)
{
	struct tscope_value value = tsi_table_cell(view, row, column);

	return value.kind == TSCOPE_VALUE_INT && value.integer > 0;
}

/* The rows that have most, the first `limit` of them. */
struct ranked {
	const struct table_view *view;
	size_t *rows;
	size_t count, limit, all_count;
};

/* Puts a row where it belongs among the first; of equal ones the earlier goes first. */
static void rank_row(struct ranked *ranked, size_t row, size_t by)
{
	int64_t value = tsi_table_cell(ranked->view, row, by).integer;
	size_t place = ranked->count;

	ranked->all_count++;
	while (place > 0 &&
	       value > tsi_table_cell(ranked->view, ranked->rows[place - 1], by).integer)
		place--;
	if (place == ranked->limit)
		return;
	if (ranked->count < ranked->limit)
		ranked->count++;
	memmove(&ranked->rows[place + 1], &ranked->rows[place],
		(ranked->count - place - 1) * sizeof(*ranked->rows));
	ranked->rows[place] = row;
}

void tsi_panel_ranking(const struct panel *panel, const struct ranking *ranking,
		       const struct column *columns, size_t count)
{
	struct shown_table table = begin_table(panel, ranking->table, columns, count);
	size_t by = tsi_table_column(&table.view, ranking->by);
	size_t only = ranking->only ? tsi_table_column(&table.view, ranking->only) : by;
	size_t limit = panel->top < table.view.row_count ? panel->top : table.view.row_count;
	struct ranked ranked = {
		.view = &table.view,
		.rows = tsi_arena_new(&panel->doc->arena, limit, sizeof(*ranked.rows)),
		.limit = limit,
	};

	table.folder = ranking->folder;
	if (!ranked.rows)
		return;
	for (size_t row = 0; row < table.view.row_count; row++)
		if (is_above_0(&table.view, row, by) && is_above_0(&table.view, row, only))
			rank_row(&ranked, row, by);
	for (size_t i = 0; i < ranked.count; i++)
		add_row(panel, &table, ranked.rows[i]);
	end_table(&table, ranked.all_count - ranked.count);
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

void tsi_panel_curve(const struct panel *panel, const char *table, const char *column, size_t least)
{
	struct curve curve = { .view = tsi_panel_rows(panel, table) };
	struct doc_series series = { .get = get_point, .count = curve.view.row_count };

	curve.column = tsi_table_column(&curve.view, column);
	series.source = tsi_doc_copy(panel->doc, &curve, sizeof(curve));
	if (series.count >= least)
		tsi_doc_series(panel->doc, &series);
}
