/* SPDX-License-Identifier: MIT */
/*
 * Runs the analyzers and keeps their sheets: one for the whole of a trace, rank
 * or run and, where the analyzer speaks of devices, one for each device.
 * Everything else here hands out what the sheets hold.
 */
#include "analyze/analysis.h"

#include "analyze/analysis_parts.h"
#include "analyze/analyzer_table.h"
#include "analyze/ops/kernel_vote.h"
#include "analyze/ops/trace_flops.h"
#include "analyze/shared/anchor.h"
#include "analyze/shared/reliability.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/parallel.h"
#include "model/trace/merged_ranks.h"

/*
 * Device d has slot d + 1. Where there is only one device, its figures are
 * those of the trace: they are computed once.
 */
static size_t slot_of(const struct tscope_analysis *analysis, int scope)
{
	return analysis->scope_count == 1 ? 0 : (size_t)(scope + 1);
}

/* The sheet of this very analysis, or NULL. */
static const struct fact_sheet *own_sheet(const struct tscope_analysis *analysis, size_t analyzer,
					  int scope)
{
	if (scope >= 0 &&
	    ((uint32_t)scope >= analysis->device_count || !tscope_analyzer(analyzer)->per_device))
		return NULL;
	const struct fact_sheet *sheet = tsi_sheet_at(analysis, analyzer, slot_of(analysis, scope));
	if (!sheet->def && analysis->waiting && tsi_analyzer(analyzer)->when_asked)
		tsi_run_waiting(analysis, analyzer);
	return sheet->def ? sheet : NULL;
}

/* No figure at all: what the analyzer is about was not in the trace. */
static bool is_empty(const struct fact_sheet *sheet)
{
	for (size_t i = 0; i < sheet->def->fact_count; i++)
		if (sheet->facts[i].kind != TSCOPE_VALUE_ABSENT)
			return false;
	for (size_t i = 0; i < sheet->def->table_count; i++)
		if (sheet->tables[i].row_count > 0)
			return false;
	return true;
}

/* The sheet of another trace of the rank, or NULL. */
static const struct fact_sheet *find_secondary(const struct tscope_analysis *analysis,
					       size_t analyzer, int scope)
{
	for (size_t i = 0; i < MAX_SECONDARY_ANALYSES && analysis->secondary[i]; i++) {
		const struct fact_sheet *sheet = own_sheet(analysis->secondary[i], analyzer, scope);

		if (sheet && !is_empty(sheet))
			return sheet;
	}
	return NULL;
}

static const struct fact_sheet *find_sheet(const struct tscope_analysis *analysis, size_t analyzer,
					   int scope)
{
	const struct fact_sheet *sheet = NULL, *secondary = NULL;

	if (analyzer >= tscope_analyzer_count() || scope < TSCOPE_WHOLE_TRACE)
		return NULL;
	for (; analysis && !sheet; analysis = analysis->before) {
		sheet = own_sheet(analysis, analyzer, scope);
		for (size_t i = 0; i < TSCOPE_MEMORY_KIND_COUNT && !sheet; i++)
			if (analysis->memory[i])
				sheet = own_sheet(analysis->memory[i], analyzer, scope);
		if (!secondary)
			secondary = find_secondary(analysis, analyzer, scope);
	}
	return secondary && (!sheet || is_empty(sheet)) ? secondary : sheet;
}

static void limit_tables(struct fact_sheet *sheet, size_t limit)
{
	for (size_t i = 0; limit && i < sheet->def->table_count; i++)
		if (sheet->tables[i].row_count > limit)
			sheet->tables[i].row_count = limit;
}

enum tscope_status tsi_run_analyzer(const struct tscope_analysis *analysis, size_t index,
				    const struct analysis_scope *whole, struct tscope_error *err)
{
	const struct analyzer *analyzer = tsi_analyzer(index);
	struct fact_sheet *sheets = tsi_sheet_at(analysis, index, 0);

	if (analyzer->on_request && !whole->options->python &&
	    !(whole->trace && whole->trace->is_viztracer))
		return TSCOPE_OK;
	for (size_t slot = 0; slot < tsi_sheet_slots(analysis, index); slot++) {
		struct analysis_scope scope = *whole;
		scope.first_device = slot ? (uint32_t)slot - 1 : 0;
		scope.end_device = slot ? (uint32_t)slot : analysis->device_count;
		enum tscope_status status = tsi_fill_sheet(analyzer, &scope, &sheets[slot], err);
		if (status != TSCOPE_OK)
			return status;
		if (whole->trace && tsi_is_mixed(whole->trace) && !analyzer->is_of_file)
			sheets[slot].unreliable = tsi_mixed_doubt;
		limit_tables(&sheets[slot], whole->options->table_limit);
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_make_sheets(struct tscope_analysis *analysis, struct tscope_error *err)
{
	analysis->scope_count = analysis->device_count > 1 ? (size_t)analysis->device_count + 1 : 1;
	return tsi_array_new(&analysis->sheets, tscope_analyzer_count() * analysis->scope_count,
			     sizeof(*analysis->sheets), err);
}

static bool runs_at(const struct analyzer *analyzer, enum analyzer_level level,
		    const struct analysis_scope *scope)
{
	if (level == LEVEL_RUN && analyzer->needs_several_ranks && scope->rank_count < 2)
		return false;
	return analyzer->levels & level;
}

static enum tscope_status run_analyzers(struct tscope_analysis *analysis, enum analyzer_level level,
					const struct analysis_scope *scope,
					struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < tscope_analyzer_count(); i++)
		if (runs_at(tsi_analyzer(i), level, scope))
			status = tsi_run_analyzer(analysis, i, scope, err);
	return status;
}

/* ---- threads ------------------------------------------------------------------------------- */

/* A part of the analysis of a trace that runs beside others. */
struct analysis_job {
	struct tscope_analysis *analysis;
	const struct analysis_scope *scope;
	size_t analyzer;
};

static enum tscope_status run_analyzer_job(void *argument, unsigned lane, struct tscope_error *err)
{
	const struct analysis_job *job = argument;

	(void)lane;
	return tsi_run_analyzer(job->analysis, job->analyzer, job->scope, err);
}

static enum tscope_status count_flops_job(void *argument, unsigned lane, struct tscope_error *err)
{
	const struct analysis_job *job = argument;
	struct tscope_analysis *analysis = job->analysis;

	(void)lane;
	return tsi_trace_flops_new(&analysis->flops, analysis->trace, analysis->timeline,
				   job->scope->kernel_kinds, err);
}

/* The analyzers that need no FLOPs while these are counted, or those that do; how many jobs. */
static size_t list_jobs(struct job *jobs, struct analysis_job *arguments,
			const struct analysis_job *common, bool beside_flops)
{
	size_t count = 0;

	arguments[count] = *common;
	if (beside_flops) /* takes longest: it begins first */
		jobs[count++].run = count_flops_job;
	for (size_t i = 0; i < tscope_analyzer_count(); i++) {
		if (!runs_at(tsi_analyzer(i), LEVEL_TRACE, common->scope) ||
		    tsi_analyzer(i)->beside_flops != beside_flops || tsi_analyzer(i)->when_asked)
			continue;
		jobs[count].run = run_analyzer_job;
		arguments[count] = *common;
		arguments[count++].analyzer = i;
	}
	for (size_t i = 0; i < count; i++)
		jobs[i].argument = &arguments[i];
	return count;
}

static enum tscope_status run_trace_jobs(struct tscope_analysis *analysis,
					 const struct analysis_scope *scope, bool beside_flops,
					 struct tscope_error *err)
{
	struct analysis_job common = { .analysis = analysis, .scope = scope };
	size_t limit = tscope_analyzer_count() + 1;
	struct arena scratch = { 0 };
	struct analysis_job *arguments = tsi_arena_new(&scratch, limit, sizeof(*arguments));
	struct job *jobs = tsi_arena_new(&scratch, limit, sizeof(*jobs));
	enum tscope_status status = tsi_arena_status(&scratch, err);

	if (status == TSCOPE_OK)
		status = tsi_run_jobs(jobs, list_jobs(jobs, arguments, &common, beside_flops),
				      tsi_trace_threads(analysis->trace), err);
	tsi_arena_deinit(&scratch);
	return status;
}

/* All analyzers of a trace; the FLOPs are counted on the way. */
static enum tscope_status analyze_trace(struct tscope_analysis *analysis,
					struct analysis_scope *scope, struct tscope_error *err)
{
	scope->kernel_kinds = tsi_kernel_kinds(analysis->trace, &analysis->trace_arena);
	enum tscope_status status = tsi_arena_status(&analysis->trace_arena, err);
	if (status == TSCOPE_OK)
		status = run_trace_jobs(analysis, scope, true, err);
	if (status != TSCOPE_OK)
		return status;
	tsi_note_flops(&analysis->steps, analysis->flops);
	analysis->steps.has_shapes = tsi_trace_has_shapes(analysis->trace);
	scope->flops = analysis->flops;
	status = run_trace_jobs(analysis, scope, false, err);
	tsi_arena_deinit(&analysis->flops->operators.memory); /* no longer needed */
	if (status == TSCOPE_OK)
		status = tsi_let_wait(analysis, scope, err);
	return status == TSCOPE_OK && !scope->options->on_demand
		       ? tsi_analysis_complete(analysis, err)
		       : status;
}

/* ---- the analysis of a trace --------------------------------------------------------------- */

static const char *device_name(const struct tscope_trace *trace, uint32_t device)
{
	if (trace->devices[device].properties == NO_ROW)
		return "";
	uint32_t name = trace->device_properties[trace->devices[device].properties].name;
	return name ? tsi_intern_text(&trace->names, name).data : "";
}

static enum tscope_status note_devices(struct tscope_analysis *analysis,
				       const struct tscope_trace *trace, struct tscope_error *err)
{
	if (tsi_array_new(&analysis->devices, trace->device_count, sizeof(*analysis->devices),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < trace->device_count; i++)
		analysis->devices[i] = (struct analysis_device){ trace->devices[i].ordinal,
								 device_name(trace, i) };
	analysis->device_count = trace->device_count;
	return TSCOPE_OK;
}

static const struct tscope_analysis_options default_options;

/* Hands out an analysis that is done, or frees one that failed. */
static enum tscope_status hand_out(struct tscope_analysis **ret, struct tscope_analysis *analysis,
				   enum tscope_status status)
{
	if (status == TSCOPE_OK)
		*ret = analysis;
	else
		tscope_analysis_free(analysis);
	return status;
}

enum tscope_status tscope_analyze(struct tscope_analysis **ret, const struct tscope_trace *trace,
				  const struct tscope_timeline *timeline,
				  const struct tscope_analysis_options *options,
				  struct tscope_error *err)
{
	struct tscope_analysis *analysis;

	if (tsi_array_new(&analysis, 1, sizeof(*analysis), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	analysis->trace = trace;
	analysis->timeline = timeline;

	struct analysis_scope scope = {
		.trace = trace,
		.timeline = timeline,
		.steps = &analysis->steps,
		.options = options ? options : &default_options,
	};
	enum tscope_status status = tsi_intern_init(&analysis->texts, UINT32_MAX - 1, err);
	if (status == TSCOPE_OK)
		status = note_devices(analysis, trace, err);
	tsi_steps_init(&analysis->steps);
	if (status == TSCOPE_OK)
		tsi_steps_add_timeline(&analysis->steps, timeline);
	if (status == TSCOPE_OK)
		status = tsi_steps_status(&analysis->steps, err);
	analysis->steps.doubt = tsi_is_mixed(trace)           ? tsi_mixed_doubt
				: timeline->overlap_count > 0 ? tsi_overlap_doubt
							      : tsi_device_time_doubt(timeline);
	analysis->steps.world_size = tscope_trace_info(trace)->world_size;
	if (status == TSCOPE_OK)
		status = tsi_make_sheets(analysis, err);
	if (status == TSCOPE_OK)
		status = analyze_trace(analysis, &scope, err);
	return hand_out(ret, analysis, status);
}

enum tscope_status tsi_analysis_new(struct tscope_analysis **ret, struct tscope_error *err)
{
	struct tscope_analysis *analysis;

	if (tsi_array_new(&analysis, 1, sizeof(*analysis), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = tsi_intern_init(&analysis->texts, UINT32_MAX - 1, err);
	if (status == TSCOPE_OK)
		status = tsi_make_sheets(analysis, err);
	return hand_out(ret, analysis, status);
}

enum tscope_status tsi_analyze_level(struct tscope_analysis **ret, enum analyzer_level level,
				     const struct analysis_scope *scope,
				     const struct tscope_analysis *before, struct tscope_error *err)
{
	struct analysis_scope whole = *scope;
	struct tscope_analysis *analysis;
	enum tscope_status status = tsi_analysis_new(&analysis, err);

	if (status != TSCOPE_OK)
		return status;
	analysis->before = before;
	whole.options = scope->options ? scope->options : &default_options;
	status = run_analyzers(analysis, level, &whole, err);
	return hand_out(ret, analysis, status);
}

enum tscope_status tsi_analysis_keep_text(struct tscope_analysis *analysis, struct str text,
					  const char **kept, struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = tsi_intern_add(&analysis->texts, text, &id, err);

	if (status == TSCOPE_OK)
		*kept = tsi_intern_text(&analysis->texts, id).data;
	return status;
}

/* Puts texts of a trace where they outlive it; stops at the first failure. */
struct keeper {
	struct tscope_analysis *analysis;
	enum tscope_status status;
	struct tscope_error *err;
};

static void keep_text(struct keeper *keeper, const char **text)
{
	if (*text && keeper->status == TSCOPE_OK)
		keeper->status = tsi_analysis_keep_text(keeper->analysis, tsi_str_of(*text), text,
							keeper->err);
}

static void keep_values(struct keeper *keeper, struct tscope_value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].kind == TSCOPE_VALUE_TEXT)
			keep_text(keeper, &values[i].text);
}

static void keep_sheet(struct keeper *keeper, struct fact_sheet *sheet)
{
	if (!sheet->def)
		return;
	keep_text(keeper, &sheet->unreliable);
	for (size_t i = 0; i < sheet->def->fact_count; i++)
		keep_text(keeper, &sheet->doubts[i]);
	keep_values(keeper, sheet->facts, sheet->def->fact_count);
	for (size_t i = 0; i < sheet->def->table_count; i++)
		keep_values(keeper, sheet->tables[i].cells,
			    sheet->tables[i].row_count * sheet->def->tables[i].column_count);
}

enum tscope_status tsi_analysis_complete(const struct tscope_analysis *analysis,
					 struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (; analysis && status == TSCOPE_OK; analysis = analysis->before) {
		for (size_t i = 0; analysis->waiting && i < tscope_analyzer_count(); i++)
			(void)own_sheet(analysis, i, TSCOPE_WHOLE_TRACE);
		status = tsi_analysis_status(analysis, err);
	}
	return status;
}

enum tscope_status tsi_analysis_detach(struct tscope_analysis *analysis, struct tscope_error *err)
{
	struct keeper keeper = { .analysis = analysis, .err = err };

	keeper.status = tsi_analysis_complete(analysis, err);
	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		for (size_t slot = 0; slot < tsi_sheet_slots(analysis, i); slot++)
			keep_sheet(&keeper, tsi_sheet_at(analysis, i, slot));
	for (uint32_t i = 0; i < analysis->device_count; i++)
		keep_text(&keeper, &analysis->devices[i].name);
	for (size_t i = 0; i < tscope_analyzer_count(); i++)
		for (size_t slot = 0; slot < tsi_sheet_slots(analysis, i); slot++)
			tsi_arena_deinit(&tsi_sheet_at(analysis, i, slot)->texts);
	tsi_trace_flops_free(analysis->flops);
	analysis->flops = NULL;
	tsi_arena_deinit(&analysis->trace_arena);
	tsi_free_waiting(analysis);
	analysis->trace = NULL;
	analysis->timeline = NULL;
	return keeper.status;
}

void tsi_analysis_put_memory(struct tscope_analysis *analysis, const struct tscope_analysis *memory,
			     enum tscope_memory_kind kind)
{
	analysis->memory[kind] = memory;
}

void tsi_analysis_attach_secondary(struct tscope_analysis *analysis,
				   const struct tscope_analysis *other)
{
	for (size_t i = 0; i < MAX_SECONDARY_ANALYSES; i++) {
		if (analysis->secondary[i])
			continue;
		analysis->secondary[i] = other;
		return;
	}
}

const struct step_series *tsi_analysis_steps(const struct tscope_analysis *analysis)
{
	return &analysis->steps;
}

enum tscope_status tsi_analysis_sheet(struct tscope_analysis *analysis, size_t analyzer,
				      struct fact_sheet **sheet, struct tscope_error *err)
{
	*sheet = tsi_sheet_at(analysis, analyzer, 0);
	if ((*sheet)->def)
		return TSCOPE_OK;
	return tsi_fact_sheet_init(*sheet, tscope_analyzer(analyzer), err);
}

void tscope_analysis_free(struct tscope_analysis *analysis)
{
	if (!analysis)
		return;
	for (size_t i = 0; analysis->sheets && i < tscope_analyzer_count(); i++)
		for (size_t slot = 0; slot < tsi_sheet_slots(analysis, i); slot++)
			tsi_fact_sheet_deinit(tsi_sheet_at(analysis, i, slot));
	free(analysis->sheets);
	free(analysis->devices);
	tsi_trace_flops_free(analysis->flops);
	tsi_arena_deinit(&analysis->trace_arena);
	tsi_free_waiting(analysis);
	tsi_steps_deinit(&analysis->steps);
	tsi_intern_deinit(&analysis->texts);
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

/* The analysis that knows devices: this one, or one before it. */
static const struct tscope_analysis *with_devices(const struct tscope_analysis *analysis)
{
	while (analysis->device_count == 0 && analysis->before)
		analysis = analysis->before;
	return analysis;
}

uint32_t tscope_analysis_device_count(const struct tscope_analysis *analysis)
{
	return with_devices(analysis)->device_count;
}

int32_t tscope_analysis_device_ordinal(const struct tscope_analysis *analysis, uint32_t device)
{
	analysis = with_devices(analysis);
	return device < analysis->device_count ? analysis->devices[device].ordinal : -1;
}

const char *tscope_analysis_device_name(const struct tscope_analysis *analysis, uint32_t device)
{
	analysis = with_devices(analysis);
	return device < analysis->device_count ? analysis->devices[device].name : "";
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

const char *tscope_analysis_fact_own_doubt(const struct tscope_analysis *analysis, size_t analyzer,
					   size_t fact, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	return sheet && fact < sheet->def->fact_count ? sheet->doubts[fact] : NULL;
}

const char *tscope_analysis_fact_doubt(const struct tscope_analysis *analysis, size_t analyzer,
				       size_t fact, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	if (!sheet || fact >= sheet->def->fact_count)
		return NULL;
	return sheet->doubts[fact] ? sheet->doubts[fact] : sheet->unreliable;
}

struct tscope_value tscope_analysis_fact(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t fact, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	if (!sheet || fact >= sheet->def->fact_count)
		return (struct tscope_value){ 0 };
	return sheet->facts[fact];
}

const struct fact_table *tsi_analysis_table(const struct tscope_analysis *analysis, size_t analyzer,
					    size_t table, int scope)
{
	const struct fact_sheet *sheet = find_sheet(analysis, analyzer, scope);

	if (!sheet || table >= sheet->def->table_count)
		return NULL;
	if (tsi_analyzer(analyzer)->keeps_tables && !sheet->tables[table].row_count &&
	    analysis->before)
		return tsi_analysis_table(analysis->before, analyzer, table, scope);
	return &sheet->tables[table];
}

size_t tscope_analysis_row_count(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t table, int scope)
{
	const struct fact_table *found = tsi_analysis_table(analysis, analyzer, table, scope);

	return found ? found->row_count : 0;
}

struct tscope_value tscope_analysis_cell(const struct tscope_analysis *analysis, size_t analyzer,
					 size_t table, int scope, size_t row, size_t column)
{
	const struct fact_table *found = tsi_analysis_table(analysis, analyzer, table, scope);

	size_t column_count = found ? tscope_analyzer(analyzer)->tables[table].column_count : 0;
	if (column >= column_count || row >= found->row_count)
		return (struct tscope_value){ 0 };
	return found->cells[row * column_count + column];
}
