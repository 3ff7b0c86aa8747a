/* SPDX-License-Identifier: MIT */
/*
 * From the names of facts to their values: what keeps the sections of the text
 * report free of indices and of the analyzers' headers.
 */
#include "analyze/lookup.h"

#include <assert.h>
#include <string.h>

bool tscope_analysis_find(const struct tscope_analysis *analysis, const char *id,
			  struct tscope_value *value, enum tscope_unit *unit)
{
	const char *dot = strchr(id, '.');
	size_t analyzer = tscope_analyzer_find(id);

	if (!dot || analyzer == tscope_analyzer_count())
		return false;
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	for (size_t i = 0; i < def->fact_count; i++) {
		if (strcmp(def->facts[i].name, dot + 1) != 0)
			continue;
		*value = tscope_analysis_fact(analysis, analyzer, i, TSCOPE_WHOLE_TRACE);
		*unit = def->facts[i].unit;
		return true;
	}
	return false;
}

size_t tsi_lookup_analyzer(const char *id)
{
	size_t index = tscope_analyzer_find(id);

	assert(index < tscope_analyzer_count());
	return index;
}

/* The index of a fact in the definition of its analyzer. */
static size_t find_fact(const struct tscope_analyzer_def *def, const char *id)
{
	const char *name = id + strcspn(id, ".") + 1;
	size_t fact = 0;

	while (fact < def->fact_count && strcmp(def->facts[fact].name, name) != 0)
		fact++;
	assert(fact < def->fact_count);
	return fact;
}

struct tscope_value tsi_lookup_fact(const struct tscope_analysis *analysis, int scope,
				    const char *id, enum tscope_unit *unit)
{
	size_t analyzer = tsi_lookup_analyzer(id);
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	size_t fact = find_fact(def, id);

	*unit = def->facts[fact].unit;
	return tscope_analysis_fact(analysis, analyzer, fact, scope);
}

const char *tsi_lookup_doubt(const struct tscope_analysis *analysis, const char *id)
{
	size_t analyzer = tsi_lookup_analyzer(id);

	return tscope_analysis_fact_doubt(
		analysis, analyzer, find_fact(tscope_analyzer(analyzer), id), TSCOPE_WHOLE_TRACE);
}

int64_t tsi_lookup_int(const struct tscope_analysis *analysis, int scope, const char *id)
{
	enum tscope_unit unit;
	struct tscope_value value = tsi_lookup_fact(analysis, scope, id, &unit);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

struct table_view tsi_lookup_table(const struct tscope_analysis *analysis, int scope,
				   const char *id)
{
	struct table_view view = { .analysis = analysis, .scope = scope };

	view.def = tscope_table_find(id, &view.analyzer, &view.table);
	assert(view.def);
	view.row_count = tscope_analysis_row_count(analysis, view.analyzer, view.table, scope);
	return view;
}

size_t tsi_table_column(const struct table_view *view, const char *name)
{
	size_t column = 0;

	while (column < view->def->column_count &&
	       strcmp(view->def->columns[column].name, name) != 0)
		column++;
	assert(column < view->def->column_count);
	return column;
}

struct tscope_value tsi_table_cell(const struct table_view *view, size_t row, size_t column)
{
	return tscope_analysis_cell(view->analysis, view->analyzer, view->table, view->scope, row,
				    column);
}

struct tscope_value tsi_table_find(const struct table_view *view, size_t row, const char *column)
{
	return tsi_table_cell(view, row, tsi_table_column(view, column));
}

const char *tsi_table_text(const struct table_view *view, size_t row, const char *column)
{
	struct tscope_value value = tsi_table_find(view, row, column);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}
