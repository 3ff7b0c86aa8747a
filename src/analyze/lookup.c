/* SPDX-License-Identifier: MIT */
/* From the names of facts to their values, so that readers need no indices. */
#include "analyze/lookup.h"

#include <assert.h>

#include "analyze/analyzer_table.h"

const struct tscope_fact_def *tsi_find_fact(const char *id, size_t *analyzer, size_t *fact)
{
	const char *name;

	*analyzer = tsi_analyzer_split(id, &name);
	if (!name)
		return NULL;
	const struct tscope_analyzer_def *def = tscope_analyzer(*analyzer);
	const struct tscope_fact_def *found = def->facts, *end = found + def->fact_count;
	while (found < end && !tsi_is_same_name(found->name, name))
		found++;
	*fact = (size_t)(found - def->facts);
	return found < end ? found : NULL;
}

bool tscope_analysis_find(const struct tscope_analysis *analysis, const char *id,
			  struct tscope_value *value, enum tscope_unit *unit)
{
	size_t analyzer, fact;
	const struct tscope_fact_def *def = tsi_find_fact(id, &analyzer, &fact);

	if (!def)
		return false;
	*value = tscope_analysis_fact(analysis, analyzer, fact, TSCOPE_WHOLE_TRACE);
	if (unit)
		*unit = def->unit;
	return true;
}

size_t tsi_lookup_analyzer(const char *id)
{
	size_t index = tscope_analyzer_find(id);

	assert(index < tscope_analyzer_count());
	return index;
}

struct tscope_value tsi_lookup_fact(const struct tscope_analysis *analysis, int scope,
				    const char *id, enum tscope_unit *unit)
{
	size_t analyzer, fact;
	const struct tscope_fact_def *def = tsi_find_fact(id, &analyzer, &fact);

	assert(def);
	*unit = def->unit;
	return tscope_analysis_fact(analysis, analyzer, fact, scope);
}

struct tscope_value tsi_lookup(const struct tscope_analysis *analysis, const char *id)
{
	enum tscope_unit unit;

	return tsi_lookup_fact(analysis, TSCOPE_WHOLE_TRACE, id, &unit);
}

const char *tsi_lookup_doubt(const struct tscope_analysis *analysis, const char *id)
{
	size_t analyzer, fact;
	const struct tscope_fact_def *def = tsi_find_fact(id, &analyzer, &fact);

	assert(def);
	return tscope_analysis_fact_doubt(analysis, analyzer, fact, TSCOPE_WHOLE_TRACE);
}

const char *tsi_lookup_own_doubt(const struct tscope_analysis *analysis, const char *id)
{
	size_t analyzer, fact;
	const struct tscope_fact_def *def = tsi_find_fact(id, &analyzer, &fact);

	assert(def);
	return tscope_analysis_fact_own_doubt(analysis, analyzer, fact, TSCOPE_WHOLE_TRACE);
}

int64_t tsi_lookup_int(const struct tscope_analysis *analysis, const char *id)
{
	struct tscope_value value = tsi_lookup(analysis, id);

	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

struct table_view tsi_lookup_table(const struct tscope_analysis *analysis, const char *id)
{
	struct table_view view = { .analysis = analysis };

	view.def = tscope_table_find(id, &view.analyzer, &view.table);
	assert(view.def);
	view.row_count =
		tscope_analysis_row_count(analysis, view.analyzer, view.table, TSCOPE_WHOLE_TRACE);
	return view;
}

size_t tsi_table_column(const struct table_view *view, const char *name)
{
	size_t column = 0;

	while (column < view->def->column_count &&
	       !tsi_is_same_name(view->def->columns[column].name, name))
		column++;
	assert(column < view->def->column_count);
	return column;
}

struct tscope_value tsi_table_cell(const struct table_view *view, size_t row, size_t column)
{
	return tscope_analysis_cell(view->analysis, view->analyzer, view->table, TSCOPE_WHOLE_TRACE,
				    row, column);
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
