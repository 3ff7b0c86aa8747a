/* SPDX-License-Identifier: MIT */
/*
 * From the names of facts to their values: what keeps the sections of the text
 * report free of indices and of the analyzers' headers.
 */
#include "report/lookup.h"

#include <assert.h>
#include <string.h>

size_t tsi_lookup_analyzer(const char *id)
{
	size_t length = strcspn(id, ".");
	size_t count = tscope_analyzer_count();
	size_t i = 0;

	while (i < count && (strlen(tscope_analyzer(i)->id) != length ||
			     memcmp(tscope_analyzer(i)->id, id, length) != 0))
		i++;
	assert(i < count);
	return i;
}

/* What follows the analyzer in an id. */
static const char *local_name(const char *id)
{
	return id + strcspn(id, ".") + 1;
}

struct tscope_value tsi_lookup_fact(const struct tscope_analysis *analysis, int scope,
				    const char *id, enum tscope_unit *unit)
{
	size_t analyzer = tsi_lookup_analyzer(id);
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	size_t fact = 0;

	while (fact < def->fact_count && strcmp(def->facts[fact].name, local_name(id)) != 0)
		fact++;
	assert(fact < def->fact_count);
	*unit = def->facts[fact].unit;
	return tscope_analysis_fact(analysis, analyzer, fact, scope);
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
	const struct tscope_analyzer_def *def;

	view.analyzer = tsi_lookup_analyzer(id);
	def = tscope_analyzer(view.analyzer);
	while (view.table < def->table_count &&
	       strcmp(def->tables[view.table].name, local_name(id)) != 0)
		view.table++;
	assert(view.table < def->table_count);
	view.def = &def->tables[view.table];
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
