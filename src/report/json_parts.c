/* SPDX-License-Identifier: MIT */
/*
 * Parts of every JSON report: facts under their own names, findings, gates. It walks the analyzers'
 * definitions, so a new fact is here without another line.
 */
#include "report/json_parts.h"

#include <string.h>
#include <tscope/tscope.h>

#include "analyze/analysis.h"
#include "analyze/fact_sheet.h"
#include "base/intern.h"

void tsi_json_cell(struct json_writer *w, struct tscope_value value)
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

void tsi_json_text(struct json_writer *w, const char *key, const char *text)
{
	tsi_jw_key(w, key);
	tsi_jw_text(w, text);
}

void tsi_json_uint(struct json_writer *w, const char *key, uint64_t value)
{
	tsi_jw_key(w, key);
	tsi_jw_uint(w, value);
}

void tsi_json_int_if(struct json_writer *w, const char *key, bool is_known, int64_t value)
{
	tsi_jw_key(w, key);
	if (is_known)
		tsi_jw_int(w, value);
	else
		tsi_jw_null(w);
}

void tsi_json_value(struct json_writer *w, const char *key, struct tscope_value value)
{
	tsi_jw_key(w, key);
	tsi_json_cell(w, value);
}

void tsi_json_object(struct json_writer *w, const char *key)
{
	tsi_jw_key(w, key);
	tsi_jw_object(w);
}

void tsi_json_array(struct json_writer *w, const char *key)
{
	tsi_jw_key(w, key);
	tsi_jw_array(w);
}

void tsi_json_head(struct json_writer *w)
{
	tsi_json_uint(w, "schema_version", JSON_SCHEMA_VERSION);
	tsi_jw_key(w, "tool");
	tsi_jw_row(w);
	tsi_json_text(w, "name", "tscope");
	tsi_json_text(w, "version", tscope_version());
	tsi_jw_end_object(w);
}

void tsi_json_diagnostics(struct json_writer *w, const char *key, const uint64_t *counts,
			  bool only_dropped)
{
	tsi_json_object(w, key);
	for (enum tscope_diagnostic kind = 0; counts && kind < TSCOPE_DIAGNOSTIC_COUNT; kind++) {
		if (counts[kind] == 0)
			continue;
		if (!only_dropped || tscope_diagnostic_effect(kind) == TSCOPE_EFFECT_DROPPED)
			tsi_json_uint(w, tscope_diagnostic_id(kind), counts[kind]);
	}
	tsi_jw_end_object(w);
}

void tsi_json_damage(struct json_writer *w, const struct tscope_error *damage)
{
	tsi_jw_key(w, "damage");
	if (!damage) {
		tsi_jw_null(w);
		return;
	}
	tsi_jw_object(w);
	tsi_json_text(w, "message", damage->message);
	tsi_json_int_if(w, "offset", damage->has_offset, (int64_t)damage->offset);
	tsi_jw_end_object(w);
}

static void write_flag(struct json_writer *w, const char *key, bool flag)
{
	tsi_jw_key(w, key);
	tsi_jw_flag(w, flag);
}

void tsi_json_gates(struct json_writer *w, const struct tscope_gate_result *gates, size_t count)
{
	tsi_json_array(w, "gates");
	for (size_t i = 0; i < count; i++) {
		tsi_jw_row(w);
		tsi_json_text(w, "expr", gates[i].expression);
		tsi_jw_key(w, "value");
		if (gates[i].has_value)
			tsi_jw_real(w, gates[i].value);
		else
			tsi_jw_null(w);
		write_flag(w, "held", gates[i].held);
		tsi_json_text(w, "reason", gates[i].reason);
		write_flag(w, "inconclusive", gates[i].is_inconclusive);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

/* ---- findings ---- */

static void write_evidence(struct json_writer *w, const struct tscope_finding *finding)
{
	tsi_json_array(w, "evidence");
	for (size_t i = 0; i < finding->evidence_count; i++) {
		tsi_jw_row(w);
		tsi_json_text(w, "fact", finding->evidence[i].fact);
		tsi_json_value(w, "value", finding->evidence[i].value);
		tsi_json_text(w, "unit", tscope_unit_name(finding->evidence[i].unit));
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

static void text_if(struct json_writer *w, const char *key, const char *text)
{
	tsi_jw_key(w, key);
	if (text)
		tsi_jw_text(w, text);
	else
		tsi_jw_null(w);
}

static void write_subject(struct json_writer *w, const struct tscope_subject *subject)
{
	tsi_jw_key(w, "subject");
	tsi_jw_row(w);
	tsi_json_int_if(w, "rank", subject->rank >= 0, subject->rank);
	tsi_json_int_if(w, "device", subject->device >= 0, subject->device);
	tsi_json_int_if(w, "step", subject->step >= 0, subject->step);
	text_if(w, "operator", subject->op);
	text_if(w, "kernel", subject->kernel);
	text_if(w, "call", subject->call);
	text_if(w, "module", subject->module);
	text_if(w, "source", subject->source);
	tsi_jw_end_object(w);
}

static void write_places(struct json_writer *w, const struct tscope_finding *finding)
{
	tsi_json_array(w, "at");
	for (size_t i = 0; i < finding->place_count; i++) {
		tsi_jw_row(w);
		tsi_json_text(w, "file", finding->places[i].file);
		tsi_jw_key(w, "ts_us");
		tsi_jw_us(w, finding->places[i].start_ns);
		tsi_jw_key(w, "dur_us");
		tsi_jw_us(w, finding->places[i].duration_ns);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

static void write_finding(struct json_writer *w, const struct tscope_finding *finding)
{
	tsi_jw_object(w);
	tsi_json_text(w, "id", finding->rule->id);
	tsi_json_text(w, "cause", finding->cause);
	tsi_json_text(w, "confidence", tscope_confidence_name(finding->confidence));
	tsi_json_text(w, "severity", tscope_severity_name(finding->severity));
	tsi_json_text(w, "title", finding->title);
	tsi_json_text(w, "detail", finding->detail);
	write_subject(w, &finding->subject);
	write_places(w, finding);
	tsi_json_int_if(w, "gain_ns", finding->has_gain, finding->gain_ns);
	text_if(w, "gain_basis",
		finding->has_gain ? tscope_gain_basis_name(finding->gain_basis) : NULL);
	write_evidence(w, finding);
	tsi_json_text(w, "advice", finding->advice);
	tsi_jw_key(w, "also");
	tsi_jw_row_array(w);
	for (size_t i = 0; i < finding->also_count; i++)
		tsi_jw_text(w, finding->also[i]->id);
	tsi_jw_end_array(w);
	tsi_jw_end_object(w);
}

void tsi_json_findings(struct json_writer *w, const struct tscope_diagnosis *diagnosis)
{
	tsi_json_array(w, "findings");
	for (size_t i = 0; i < tscope_diagnosis_finding_count(diagnosis); i++) {
		struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, i);

		write_finding(w, &finding);
	}
	tsi_jw_end_array(w);
}

void tsi_json_not_evaluated(struct json_writer *w, const struct tscope_not_evaluated *missed)
{
	tsi_jw_row(w);
	tsi_json_text(w, "id", missed->rule->id);
	tsi_json_text(w, "reason", missed->reason);
	tsi_jw_end_object(w);
}

/* ---- facts ---- */

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
	struct tscope_value value =
		tscope_analysis_fact(sheet->analysis, sheet->analyzer, fact, sheet->scope);

	if (w->extent == JSON_ALL || value.kind != TSCOPE_VALUE_ABSENT)
		tsi_json_value(w, key, value);
}

/* Writes the facts that share the group of `first` ("phase." …) as one object; returns the next. */
static size_t write_group(struct json_writer *w, const struct sheet_view *sheet, size_t first)
{
	const struct tscope_fact_def *facts = sheet->def->facts;
	size_t length = (size_t)(strchr(facts[first].name, '.') - facts[first].name);
	size_t fact = first;
	char key[64];

	snprintf(key, sizeof(key), "%.*s", (int)length, facts[first].name);
	tsi_json_object(w, key);
	for (; fact < sheet->def->fact_count; fact++) {
		if (strncmp(facts[fact].name, facts[first].name, length + 1) != 0)
			break;
		write_fact(w, sheet, fact, facts[fact].name + length + 1);
	}
	tsi_jw_end_object(w);
	return fact;
}

/* A table of one scope. */
struct rows_view {
	const struct tscope_table_def *def;
	const struct tscope_value *cells;
	size_t count;
	size_t top;    /* rows to write of a ranking; 0: all */
	bool by_group; /* so many of each thing that its first column names */
};

static struct tscope_value cell(const struct rows_view *rows, size_t row, size_t column)
{
	return rows->cells[row * rows->def->column_count + column];
}

static void write_row(struct json_writer *w, const struct rows_view *rows, size_t row)
{
	tsi_jw_row(w);
	for (size_t column = 0; column < rows->def->column_count; column++)
		tsi_json_value(w, rows->def->columns[column].name, cell(rows, row, column));
	tsi_jw_end_object(w);
}

/* Rankings beside tables by_... */
static const struct {
	const char *analyzer, *table;
	bool by_group;
} rankings[] = {
	{ "breakdown", "parts", true },
	{ "idle", "culprits", true },
	{ "idle", "gaps", false },
};

/* A ranking may be cut, a list not: its rows are no less important at its end. */
static bool is_ranking(const char *analyzer, const char *table, bool *by_group)
{
	for (size_t i = 0; i < TSI_COUNT_OF(rankings); i++) {
		if (strcmp(analyzer, rankings[i].analyzer) == 0 &&
		    strcmp(table, rankings[i].table) == 0) {
			*by_group = rankings[i].by_group;
			return true;
		}
	}
	return strncmp(table, "by_", 3) == 0;
}

static struct rows_view rows_of(const struct json_writer *w, const struct sheet_view *sheet,
				size_t table)
{
	const struct tscope_table_def *def = &sheet->def->tables[table];
	const struct fact_table *found =
		tsi_analysis_table(sheet->analysis, sheet->analyzer, table, sheet->scope);
	struct rows_view rows = { .def = def, .top = w->rows.lists };

	if (found) {
		rows.cells = found->cells;
		rows.count = found->row_count;
	}
	if (is_ranking(sheet->def->id, def->name, &rows.by_group))
		rows.top = rows.by_group ? w->rows.groups : w->rows.rankings;
	if (def->shape != TSCOPE_TABLE_ROWS)
		rows.top = 0;
	return rows;
}

static bool is_left_out(const struct rows_view *rows, size_t row)
{
	if (rows->top == 0 || row < rows->top)
		return false;
	if (!rows->by_group)
		return true;
	struct tscope_value group = cell(rows, row, 0), before = cell(rows, row - rows->top, 0);
	return group.kind == TSCOPE_VALUE_TEXT && before.kind == TSCOPE_VALUE_TEXT &&
	       strcmp(group.text, before.text) == 0;
}

static bool has_value(const struct rows_view *rows, size_t column)
{
	for (size_t row = 0; row < rows->count; row++)
		if (cell(rows, row, column).kind != TSCOPE_VALUE_ABSENT)
			return true;
	return false;
}

/* Analyzers of a rank that comparisons read; rules read the whole. */
static const char *const read_analyzers[] = {
	"steps",       "step_time",  "series",         "budget",          "breakdown",
	"idle",        "kernels",    "operators",      "modules",         "memory",
	"snapshot",    "provenance", "memory_stats",   "memory_timeline", "scalars",
	"convergence", "inference",  "memory_tracker", "host_memory",     "overlap",
};

/* Tables of a rank that comparisons read. */
static const char *const read_of_ranks[] = {
	"breakdown.parts",   "kernels.by_launcher",    "kernels.by_name",  "operators.by_name",
	"modules.by_module", "provenance.config",      "series.steps",     "snapshot.segments",
	"snapshot.sites",    "provenance.environment", "step_time.phases",
};

/* Columns of these tables that are not read. */
static const char *const unread_columns[] = {
	"total_ns",  "mean_ns",        "share_ratio",      "p50_ns",        "p95_ns",
	"min_ns",    "max_ns",         "max_start_ns",     "blocks_per_sm", "occupancy_pct",
	"device_ns", "self_device_ns", "small_grid_count", "gap_ns",        "device_events",
	"module",    "source",
};

/* Tables of the whole that neither comparisons nor rules do. */
static const char *const unread[] = {
	"collectives.by_kind",
	"critical_path.by_operator",
	"critical_path.lines",
	"integrity.categories",
	"integrity.diagnostics",
	"integrity.missing",
	"operators.by_shape",
	"spans.by_name",
	"steps.list",
};

static bool is_one_of(const char *const *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}

static bool is_analyzer_read(const struct json_writer *w, const char *analyzer)
{
	return w->extent != JSON_BASELINE_RANK ||
	       is_one_of(read_analyzers, TSI_COUNT_OF(read_analyzers), analyzer);
}

static bool is_table_read(const struct json_writer *w, const char *analyzer, const char *table)
{
	char id[128];

	snprintf(id, sizeof(id), "%s.%s", analyzer, table);
	if (w->extent == JSON_BASELINE_RANK)
		return is_one_of(read_of_ranks, TSI_COUNT_OF(read_of_ranks), id);
	return w->extent == JSON_ALL || !is_one_of(unread, TSI_COUNT_OF(unread), id);
}

/* All that comparisons read of modules; they are many, with long paths. */
static const char *const read_of_modules[] = { "name", "call_count", "self_host_ns",
					       "self_device_ns" };

static bool is_column_read(const struct json_writer *w, const struct tscope_table_def *table,
			   size_t column)
{
	if (w->extent == JSON_BASELINE_RANK && strcmp(table->name, "by_launcher") == 0 &&
	    strcmp(table->columns[column].name, "counted") == 0)
		return false;
	if (w->extent == JSON_BASELINE_RANK && strcmp(table->name, "by_module") == 0)
		return is_one_of(read_of_modules, TSI_COUNT_OF(read_of_modules),
				 table->columns[column].name);
	return w->extent != JSON_BASELINE_RANK ||
	       !is_one_of(unread_columns, TSI_COUNT_OF(unread_columns),
			  table->columns[column].name);
}

/* A text by its number among all: ranks have the same names, and those of kernels are long. */
static void write_text_cell(struct json_writer *w, struct tscope_value value)
{
	struct tscope_error ignored;
	uint32_t id;

	if (w->texts && value.kind == TSCOPE_VALUE_TEXT &&
	    tsi_intern_add(w->texts, tsi_str_of(value.text), &id, &ignored) == TSCOPE_OK)
		tsi_jw_uint(w, id);
	else
		tsi_json_cell(w, value);
}

void tsi_json_texts(struct json_writer *w)
{
	tsi_json_array(w, "texts");
	for (size_t id = 0; id < w->texts->count; id++)
		tsi_jw_text(w, tsi_intern_text(w->texts, (uint32_t)id).data);
	tsi_jw_end_array(w);
}

/* Columns of nothing but absent values are left out. */
static void write_columns(struct json_writer *w, const struct rows_view *rows)
{
	tsi_jw_object(w);
	for (size_t column = 0; column < rows->def->column_count; column++) {
		if (!has_value(rows, column) || !is_column_read(w, rows->def, column))
			continue;
		tsi_jw_key(w, rows->def->columns[column].name);
		tsi_jw_row_array(w);
		bool is_text = rows->def->columns[column].unit == TSCOPE_UNIT_TEXT;
		for (size_t row = 0; row < rows->count; row++)
			if (is_text)
				write_text_cell(w, cell(rows, row, column));
			else
				tsi_json_cell(w, cell(rows, row, column));
		tsi_jw_end_array(w);
	}
	tsi_jw_end_object(w);
}

static void write_table(struct json_writer *w, const struct rows_view *rows)
{
	tsi_jw_key(w, rows->def->name);
	switch (rows->def->shape) {
	case TSCOPE_TABLE_OBJECT:
		if (rows->count > 0)
			write_row(w, rows, 0);
		else
			tsi_jw_null(w);
		break;
	case TSCOPE_TABLE_LIST:
		tsi_jw_row_array(w);
		for (size_t row = 0; row < rows->count; row++)
			tsi_json_cell(w, cell(rows, row, 0));
		tsi_jw_end_array(w);
		break;
	case TSCOPE_TABLE_ROWS:
		if (w->extent != JSON_ALL) {
			write_columns(w, rows);
			break;
		}
		tsi_jw_array(w);
		for (size_t row = 0; row < rows->count; row++)
			if (!is_left_out(rows, row))
				write_row(w, rows, row);
		tsi_jw_end_array(w);
		break;
	case TSCOPE_TABLE_COLUMNS:
		write_columns(w, rows);
		break;
	}
}

/* Why the analyzer's figures must not be believed, and facts that have a reason of their own. */
static void write_doubts(struct json_writer *w, const struct sheet_view *sheet)
{
	const char *all_ranks =
		tscope_analysis_reliability(sheet->analysis, sheet->analyzer, sheet->scope);
	bool is_open = false;

	if (all_ranks)
		tsi_json_text(w, "reliability", all_ranks);
	for (size_t fact = 0; fact < sheet->def->fact_count; fact++) {
		const char *doubt = tscope_analysis_fact_own_doubt(sheet->analysis, sheet->analyzer,
								   fact, sheet->scope);

		if (!doubt)
			continue;
		if (!is_open) {
			tsi_json_object(w, "doubts");
			is_open = true;
		}
		tsi_json_text(w, sheet->def->facts[fact].name, doubt);
	}
	if (is_open)
		tsi_jw_end_object(w);
}

/* How many rows of tables were left out, if any. */
static void write_left_out(struct json_writer *w, const struct sheet_view *sheet)
{
	bool is_open = false;

	for (size_t i = 0; i < sheet->def->table_count; i++) {
		struct rows_view rows = rows_of(w, sheet, i);
		int64_t count = 0;

		for (size_t row = rows.top; rows.top > 0 && row < rows.count; row++)
			count += is_left_out(&rows, row);
		if (count == 0)
			continue;
		if (!is_open)
			tsi_json_object(w, "left_out");
		is_open = true;
		tsi_json_int_if(w, rows.def->name, true, count);
	}
	if (is_open)
		tsi_jw_end_object(w);
}

static void write_sheet(struct json_writer *w, const struct sheet_view *sheet)
{
	tsi_json_object(w, sheet->def->id);
	write_doubts(w, sheet);
	for (size_t fact = 0; fact < sheet->def->fact_count;) {
		const char *name = sheet->def->facts[fact].name;

		if (strchr(name, '.'))
			fact = write_group(w, sheet, fact);
		else
			write_fact(w, sheet, fact++, name);
	}
	for (size_t table = 0; table < sheet->def->table_count; table++) {
		struct rows_view rows = rows_of(w, sheet, table);

		if (is_table_read(w, sheet->def->id, rows.def->name))
			write_table(w, &rows);
	}
	write_left_out(w, sheet);
	tsi_jw_end_object(w);
}

void tsi_json_facts(struct json_writer *w, const struct tscope_analysis *analysis, int scope)
{
	tsi_json_object(w, "facts");
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		struct sheet_view sheet = { analysis, tscope_analyzer(i), i, scope };

		if (tscope_analysis_has(analysis, i, scope) && is_analyzer_read(w, sheet.def->id))
			write_sheet(w, &sheet);
	}
	tsi_jw_end_object(w);
}
