/* SPDX-License-Identifier: MIT */
/*
 * The report for machines: every fact under its own name, as tscope-json(5)
 * says. It walks the analyzers' definitions, so a new fact is here without
 * another line. Nothing of it depends on locale, time or place: same input,
 * same bytes.
 */
#include "report/json_writer.h"
#include "report/reporter.h"

#include <string.h>
#include <tscope/tscope.h>

enum { SCHEMA_VERSION = 1 };

static void write_value(struct json_writer *w, struct tscope_value value)
{
	switch (value.kind) {
	case TSCOPE_VALUE_ABSENT:
		tsi_jw_null(w);
		break;
	case TSCOPE_VALUE_INT:
		tsi_jw_int(w, value.integer);
		break;
	case TSCOPE_VALUE_REAL:
		tsi_jw_real(w, value.real);
		break;
	case TSCOPE_VALUE_TEXT:
		tsi_jw_text(w, value.text);
		break;
	case TSCOPE_VALUE_FLAG:
		tsi_jw_flag(w, value.flag);
		break;
	}
}

static void write_text(struct json_writer *w, const char *key, const char *text)
{
	tsi_jw_key(w, key);
	tsi_jw_text(w, text);
}

/* A number that is null where the trace does not say. */
static void write_int_if(struct json_writer *w, const char *key, bool is_known, int64_t value)
{
	tsi_jw_key(w, key);
	if (is_known)
		tsi_jw_int(w, value);
	else
		tsi_jw_null(w);
}

static void write_uint(struct json_writer *w, const char *key, uint64_t value)
{
	tsi_jw_key(w, key);
	tsi_jw_uint(w, value);
}

/* The kinds of diagnostics that occurred, with their counts. */
static void write_diagnostics(struct json_writer *w, const struct tscope_trace *trace,
			      bool only_dropped)
{
	tsi_jw_object(w);
	for (enum tscope_diagnostic kind = 0; kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		uint64_t count = tscope_trace_diagnostic(trace, kind);

		if (count == 0)
			continue;
		if (!only_dropped || tscope_diagnostic_effect(kind) == TSCOPE_EFFECT_DROPPED)
			write_uint(w, tscope_diagnostic_id(kind), count);
	}
	tsi_jw_end_object(w);
}

static void write_input(struct json_writer *w, const struct tscope_trace *trace)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_jw_object(w);
	write_text(w, "path", info->path);
	write_text(w, "format", info->format);
	write_text(w, "compression", info->compression);
	write_uint(w, "source_bytes", info->source_bytes);
	write_uint(w, "bytes", info->bytes);
	write_uint(w, "events", info->event_count);
	tsi_jw_key(w, "dropped");
	write_diagnostics(w, trace, true);
	tsi_jw_end_object(w);
}

static void write_trace(struct json_writer *w, const struct tscope_trace *trace)
{
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_jw_object(w);
	write_int_if(w, "rank", info->rank >= 0, info->rank);
	write_int_if(w, "world_size", info->world_size >= 0, info->world_size);
	write_text(w, "backend", *info->backend != '\0' ? info->backend : NULL);
	write_text(w, "device_name", *info->device_name != '\0' ? info->device_name : NULL);
	write_int_if(w, "base_time_ns", info->has_base_time, info->base_time_ns);
	tsi_jw_key(w, "first_ns");
	tsi_jw_int(w, info->first_ns);
	tsi_jw_key(w, "last_ns");
	tsi_jw_int(w, info->last_ns);
	tsi_jw_end_object(w);
}

static void write_damage(struct json_writer *w, const struct tscope_error *damage)
{
	if (!damage) {
		tsi_jw_null(w);
		return;
	}
	tsi_jw_object(w);
	write_text(w, "message", damage->message);
	write_int_if(w, "offset", damage->has_offset, (int64_t)damage->offset);
	tsi_jw_end_object(w);
}

/* One analyzer of one scope: what the functions below write. */
struct sheet_view {
	const struct tscope_analysis *analysis;
	const struct tscope_analyzer_def *def;
	size_t analyzer;
	int scope;
};

static void write_fact(struct json_writer *w, const struct sheet_view *sheet, size_t fact,
		       const char *key)
{
	tsi_jw_key(w, key);
	write_value(w, tscope_analysis_fact(sheet->analysis, sheet->analyzer, fact, sheet->scope));
}

/* Writes the facts that share the group of `first` ("phase." …) as one object; returns the next. */
static size_t write_group(struct json_writer *w, const struct sheet_view *sheet, size_t first)
{
	const struct tscope_fact_def *facts = sheet->def->facts;
	size_t length = (size_t)(strchr(facts[first].name, '.') - facts[first].name);
	size_t fact = first;
	char key[64];

	snprintf(key, sizeof(key), "%.*s", (int)length, facts[first].name);
	tsi_jw_key(w, key);
	tsi_jw_object(w);
	for (; fact < sheet->def->fact_count; fact++) {
		if (strncmp(facts[fact].name, facts[first].name, length + 1) != 0)
			break;
		write_fact(w, sheet, fact, facts[fact].name + length + 1);
	}
	tsi_jw_end_object(w);
	return fact;
}

/* A ranking may be cut, a list never: its rows are no less important at its end. */
static size_t row_limit(const struct tscope_table_def *table, size_t top)
{
	return top > 0 && strncmp(table->name, "by_", 3) == 0 ? top : SIZE_MAX;
}

static void write_table(struct json_writer *w, const struct sheet_view *sheet, size_t table,
			size_t top)
{
	const struct tscope_table_def *def = &sheet->def->tables[table];
	size_t row_count =
		tscope_analysis_row_count(sheet->analysis, sheet->analyzer, table, sheet->scope);
	size_t limit = row_limit(def, top);

	tsi_jw_key(w, def->name);
	tsi_jw_array(w);
	for (size_t row = 0; row < row_count && row < limit; row++) {
		tsi_jw_row(w);
		for (size_t column = 0; column < def->column_count; column++) {
			tsi_jw_key(w, def->columns[column].name);
			write_value(w, tscope_analysis_cell(sheet->analysis, sheet->analyzer, table,
							    sheet->scope, row, column));
		}
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

static void write_sheet(struct json_writer *w, const struct sheet_view *sheet, size_t top)
{
	const char *reason =
		tscope_analysis_reliability(sheet->analysis, sheet->analyzer, sheet->scope);

	tsi_jw_key(w, sheet->def->id);
	tsi_jw_object(w);
	if (reason)
		write_text(w, "reliability", reason);
	for (size_t fact = 0; fact < sheet->def->fact_count;) {
		const char *name = sheet->def->facts[fact].name;

		if (strchr(name, '.'))
			fact = write_group(w, sheet, fact);
		else
			write_fact(w, sheet, fact++, name);
	}
	for (size_t table = 0; table < sheet->def->table_count; table++)
		write_table(w, sheet, table, top);
	tsi_jw_end_object(w);
}

/* The facts of all analyzers that ran for this scope. */
static void write_facts(struct json_writer *w, const struct tscope_analysis *analysis, int scope,
			size_t top)
{
	tsi_jw_key(w, "facts");
	tsi_jw_object(w);
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		struct sheet_view sheet = { analysis, tscope_analyzer(i), i, scope };

		if (tscope_analysis_has(analysis, i, scope))
			write_sheet(w, &sheet, top);
	}
	tsi_jw_end_object(w);
}

static void write_devices(struct json_writer *w, const struct tscope_analysis *analysis, size_t top)
{
	tsi_jw_key(w, "devices");
	tsi_jw_array(w);
	for (uint32_t i = 0; i < tscope_analysis_device_count(analysis); i++) {
		const char *name = tscope_analysis_device_name(analysis, i);

		tsi_jw_object(w);
		tsi_jw_key(w, "ordinal");
		tsi_jw_int(w, tscope_analysis_device_ordinal(analysis, i));
		write_text(w, "name", *name != '\0' ? name : NULL);
		write_facts(w, analysis, (int)i, top);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

/* The keys of one trace, into the object that is open. */
static void write_analysis(struct json_writer *w, const struct tscope_analysis *analysis,
			   size_t top)
{
	const struct tscope_trace *trace = tscope_analysis_trace(analysis);

	tsi_jw_key(w, "trace");
	write_trace(w, trace);
	write_facts(w, analysis, TSCOPE_WHOLE_TRACE, top);
	write_devices(w, analysis, top);
	tsi_jw_key(w, "diagnostics");
	write_diagnostics(w, trace, false);
	tsi_jw_key(w, "damage");
	write_damage(w, tscope_trace_damage(trace));
}

static void write_head(struct json_writer *w, struct tscope_analysis *const *analyses, size_t count)
{
	write_uint(w, "schema_version", SCHEMA_VERSION);
	tsi_jw_key(w, "tool");
	tsi_jw_row(w);
	write_text(w, "name", "tscope");
	write_text(w, "version", tscope_version());
	tsi_jw_end_object(w);
	tsi_jw_key(w, "inputs");
	tsi_jw_array(w);
	for (size_t i = 0; i < count; i++)
		write_input(w, tscope_analysis_trace(analyses[i]));
	tsi_jw_end_array(w);
}

static void write_report(FILE *out, struct tscope_analysis *const *analyses, size_t count,
			 const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	write_head(&w, analyses, count);
	if (count == 1 && !options->as_list) {
		write_analysis(&w, analyses[0], options->top);
	} else {
		tsi_jw_key(&w, "traces");
		tsi_jw_array(&w);
		for (size_t i = 0; i < count; i++) {
			const struct tscope_trace *trace = tscope_analysis_trace(analyses[i]);

			tsi_jw_object(&w);
			write_text(&w, "path", tscope_trace_info(trace)->path);
			write_analysis(&w, analyses[i], options->top);
			tsi_jw_end_object(&w);
		}
		tsi_jw_end_array(&w);
	}
	tsi_jw_end_object(&w);
}

const struct reporter tsi_reporter_json = { .write = write_report };
