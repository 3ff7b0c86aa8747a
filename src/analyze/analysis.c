/* SPDX-License-Identifier: MIT */
/*
 * Runs the analyzers over a trace and its timeline and keeps their sheets: one
 * for the whole trace and, where the analyzer speaks of devices, one for each
 * device. Everything else here hands out what the sheets hold.
 */
#include "analyze/analyzer_table.h"
#include "analyze/fact_sheet.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

struct tscope_analysis {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	size_t scope_count;
	struct fact_sheet *sheets; /* [analyzer * scope_count + slot]; slot 0: the whole trace */
};

/*
 * Device d has slot d + 1. Where there is only one device, its figures are
 * those of the trace: they are computed once.
 */
static size_t slot_of(const struct tscope_analysis *analysis, int scope)
{
	return analysis->scope_count == 1 ? 0 : (size_t)(scope + 1);
}

static const struct fact_sheet *find_sheet(const struct tscope_analysis *analysis, size_t analyzer,
					   int scope)
{
	uint32_t device_count = analysis->trace->device_count;

	if (analyzer >= tscope_analyzer_count() || scope < TSCOPE_WHOLE_TRACE)
		return NULL;
	if (scope >= 0 &&
	    ((uint32_t)scope >= device_count || !tscope_analyzer(analyzer)->per_device))
		return NULL;
	const struct fact_sheet *sheet =
		&analysis->sheets[analyzer * analysis->scope_count + slot_of(analysis, scope)];
	return sheet->def ? sheet : NULL;
}

static void limit_tables(struct fact_sheet *sheet, size_t limit)
{
	for (size_t i = 0; limit && i < sheet->def->table_count; i++)
		if (sheet->tables[i].row_count > limit)
			sheet->tables[i].row_count = limit;
}

static enum tscope_status run_analyzer(struct tscope_analysis *analysis, size_t index,
				       const struct tscope_analysis_options *options,
				       struct tscope_error *err)
{
	const struct analyzer *analyzer = tsi_analyzer(index);
	struct fact_sheet *sheets = &analysis->sheets[index * analysis->scope_count];
	size_t slot_count = analyzer->def.per_device ? analysis->scope_count : 1;

	if (analyzer->on_request && !options->python)
		return TSCOPE_OK;
	for (size_t slot = 0; slot < slot_count; slot++) {
		struct analysis_scope scope = {
			.trace = analysis->trace,
			.timeline = analysis->timeline,
			.first_device = slot ? (uint32_t)slot - 1 : 0,
			.end_device = slot ? (uint32_t)slot : analysis->trace->device_count,
		};
		enum tscope_status status = tsi_fact_sheet_init(&sheets[slot], &analyzer->def, err);
		if (status == TSCOPE_OK)
			status = analyzer->run(&scope, &sheets[slot], err);
		if (status != TSCOPE_OK)
			return status;
		limit_tables(&sheets[slot], options->table_limit);
	}
	return TSCOPE_OK;
}

enum tscope_status tscope_analyze(struct tscope_analysis **ret, const struct tscope_trace *trace,
				  const struct tscope_timeline *timeline,
				  const struct tscope_analysis_options *options,
				  struct tscope_error *err)
{
	static const struct tscope_analysis_options defaults = { 0 };
	size_t analyzer_count = tscope_analyzer_count();
	struct tscope_analysis *analysis;

	if (tsi_array_new(&analysis, 1, sizeof(*analysis), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	analysis->trace = trace;
	analysis->timeline = timeline;
	analysis->scope_count = trace->device_count > 1 ? (size_t)trace->device_count + 1 : 1;

	enum tscope_status status =
		tsi_array_new(&analysis->sheets, analyzer_count * analysis->scope_count,
			      sizeof(*analysis->sheets), err);
	for (size_t i = 0; status == TSCOPE_OK && i < analyzer_count; i++)
		status = run_analyzer(analysis, i, options ? options : &defaults, err);
	if (status != TSCOPE_OK) {
		tscope_analysis_free(analysis);
		return status;
	}
	*ret = analysis;
	return TSCOPE_OK;
}

void tscope_analysis_free(struct tscope_analysis *analysis)
{
	if (!analysis)
		return;
	size_t sheet_count = tscope_analyzer_count() * analysis->scope_count;
	for (size_t i = 0; analysis->sheets && i < sheet_count; i++)
		tsi_fact_sheet_deinit(&analysis->sheets[i]);
	free(analysis->sheets);
	free(analysis);
}

const struct tscope_trace *tscope_analysis_trace(const struct tscope_analysis *analysis)
{
	return analysis->trace;
}

const struct tscope_timeline *tscope_analysis_timeline(const struct tscope_analysis *analysis)
{
	return analysis->timeline;
}

uint32_t tscope_analysis_device_count(const struct tscope_analysis *analysis)
{
	return analysis->trace->device_count;
}

int32_t tscope_analysis_device_ordinal(const struct tscope_analysis *analysis, uint32_t device)
{
	return device < analysis->trace->device_count ? analysis->trace->devices[device].ordinal
						      : -1;
}

const char *tscope_analysis_device_name(const struct tscope_analysis *analysis, uint32_t device)
{
	const struct tscope_trace *trace = analysis->trace;

	if (device >= trace->device_count || trace->devices[device].properties == NO_ROW)
		return "";
	uint32_t name = trace->device_properties[trace->devices[device].properties].name;
	return name ? tsi_intern_text(&trace->names, name).data : "";
}

bool tscope_analysis_has(const struct tscope_analysis *analysis, size_t analyzer, int scope)
{
	return find_sheet(analysis, analyzer, scope) != NULL;
}

const char *tscope_analysis_reliability(const struct tscope_analysis *analysis, size_t analyzer,
					int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	return sheet ? sheet->unreliable : NULL;
}

struct tscope_value tscope_analysis_fact(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t fact, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	if (!sheet || fact >= sheet->def->fact_count)
		return (struct tscope_value){ 0 };
	return sheet->facts[fact];
}

/* The index of the analyzer whose id stands before the first dot of a fact's id, or the count. */
static size_t find_analyzer(const char *id)
{
	size_t length = strcspn(id, "."), count = tscope_analyzer_count();

	for (size_t i = 0; i < count; i++) {
		const char *candidate = tscope_analyzer(i)->id;
		if (strlen(candidate) == length && memcmp(candidate, id, length) == 0)
			return i;
	}
	return count;
}

bool tscope_analysis_find(const struct tscope_analysis *analysis, const char *id,
			  struct tscope_value *value, enum tscope_unit *unit)
{
	const char *dot = strchr(id, '.');
	size_t analyzer = find_analyzer(id);

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

size_t tscope_analysis_row_count(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t table, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	return sheet && table < sheet->def->table_count ? sheet->tables[table].row_count : 0;
}

struct tscope_value tscope_analysis_cell(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t table, int scope, size_t row, size_t column)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	if (!sheet || table >= sheet->def->table_count || row >= sheet->tables[table].row_count ||
	    column >= sheet->def->tables[table].column_count)
		return (struct tscope_value){ 0 };
	return sheet->tables[table].cells[row * sheet->def->tables[table].column_count + column];
}
