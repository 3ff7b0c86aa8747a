/* SPDX-License-Identifier: MIT */
/*
 * The report for machines, as tscope-json(5) says: of traces, a run or several, files about memory,
 * a comparison. It is written from the facts: they are its contract, and no document has them all.
 * Nothing of it depends on locale, time or place: same input, same bytes.
 */
#include "analyze/lookup.h"
#include "base/intern.h"
#include "report/json_parts.h"
#include "report/reporter.h"

/* An element of "runs": where its facts, findings and gates stand, whatever was read. */
static void begin_report(struct json_writer *w, const char *kind)
{
	tsi_jw_object(w);
	tsi_json_text(w, "kind", kind);
}

/* Values absent in the input are null. */
static void write_text_if(struct json_writer *w, const char *key, const char *text)
{
	tsi_json_text(w, key, *text != '\0' ? text : NULL);
}

static void write_trace_input(struct json_writer *w, const struct tscope_trace_info *info,
			      const uint64_t *diagnostics)
{
	tsi_json_array(w, "inputs");
	tsi_jw_object(w);
	tsi_json_text(w, "path", info->path);
	tsi_json_text(w, "format", info->format);
	tsi_json_text(w, "compression", info->compression);
	tsi_json_uint(w, "source_bytes", info->source_bytes);
	tsi_json_uint(w, "bytes", info->bytes);
	tsi_json_uint(w, "events", info->event_count);
	tsi_json_diagnostics(w, "dropped", diagnostics, true);
	tsi_jw_end_object(w);
	tsi_jw_end_array(w);
}

static void write_trace_info(struct json_writer *w, const struct tscope_trace_info *info)
{
	tsi_json_object(w, "trace");
	tsi_json_int_if(w, "rank", info->rank >= 0, info->rank);
	tsi_json_int_if(w, "world_size", info->world_size >= 0, info->world_size);
	write_text_if(w, "backend", info->backend);
	write_text_if(w, "device_name", info->device_name);
	write_text_if(w, "link_basis", info->link_basis);
	tsi_json_int_if(w, "merged_rank_count", info->merged_rank_count > 0,
			(int64_t)info->merged_rank_count);
	tsi_json_int_if(w, "base_time_ns", info->has_base_time, info->base_time_ns);
	tsi_json_int_if(w, "first_ns", true, info->first_ns);
	tsi_json_int_if(w, "last_ns", true, info->last_ns);
	tsi_jw_end_object(w);
}

static void write_devices(struct json_writer *w, const struct tscope_analysis *analysis)
{
	struct json_rows rows = w->rows;

	tsi_json_array(w, "devices");
	w->rows = w->part_rows;
	for (uint32_t i = 0; i < tscope_analysis_device_count(analysis); i++) {
		tsi_jw_object(w);
		tsi_json_int_if(w, "ordinal", true, tscope_analysis_device_ordinal(analysis, i));
		write_text_if(w, "name", tscope_analysis_device_name(analysis, i));
		tsi_json_facts(w, analysis, (int)i);
		tsi_jw_end_object(w);
	}
	w->rows = rows;
	tsi_jw_end_array(w);
}

/* memory_report: a memory report, to which few rules apply; NULL: a run. */
static void write_not_evaluated(struct json_writer *w, const struct tscope_diagnosis *diagnosis,
				const struct tscope_memory_report *memory_report)
{
	tsi_json_array(w, "not_evaluated");
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);

		if (!memory_report || tsi_is_of_memory(memory_report, &missed))
			tsi_json_not_evaluated(w, &missed);
	}
	tsi_jw_end_array(w);
}

static void write_trace(struct json_writer *w, const struct tscope_trace_report *report)
{
	const struct tscope_trace *trace = tscope_analysis_trace(report->analysis);
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];

	tsi_trace_diagnostics(trace, diagnostics);
	begin_report(w, "trace");
	write_trace_input(w, tscope_trace_info(trace), diagnostics);
	write_trace_info(w, tscope_trace_info(trace));
	tsi_json_facts(w, report->analysis, TSCOPE_WHOLE_TRACE);
	write_devices(w, report->analysis);
	tsi_json_findings(w, report->diagnosis);
	write_not_evaluated(w, report->diagnosis, NULL);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_json_diagnostics(w, "diagnostics", diagnostics, false);
	tsi_json_damage(w, tscope_trace_damage(trace));
	tsi_jw_end_object(w);
}

/* ---- runs ---- */

static void write_run_input(struct json_writer *w, const struct tscope_run_input *input)
{
	tsi_jw_object(w);
	tsi_json_text(w, "path", input->path);
	tsi_json_text(w, "format", input->format);
	tsi_json_text(w, "compression", input->compression);
	tsi_json_uint(w, "source_bytes", input->source_bytes);
	tsi_json_uint(w, "bytes", input->bytes);
	tsi_json_uint(w, "events", input->event_count);
	tsi_json_uint(w, "dropped_count", input->dropped_count);
	tsi_json_diagnostics(w, "dropped", input->diagnostics, true);
	tsi_json_uint(w, "steps", input->step_count);
	tsi_json_int_if(w, "rank", input->rank >= 0, input->rank);
	tsi_json_uint(w, "window", input->window);
	write_text_if(w, "note", input->note);
	tsi_json_damage(w, input->damage);
	tsi_jw_end_object(w);
}

/* The files that are in the figures of a run; of a saved report (NULL) they are not known. */
static void write_run_inputs(struct json_writer *w, const struct tscope_run *run)
{
	tsi_json_array(w, "inputs");
	for (size_t i = 0; run && i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		write_run_input(w, &input);
	}
	tsi_jw_end_array(w);
}

static void write_other(struct json_writer *w, const struct tscope_run_other *other)
{
	tsi_jw_row(w);
	tsi_json_text(w, "path", other->path);
	tsi_json_text(w, "reason", other->reason);
	tsi_jw_end_object(w);
}

/* Files that are in no figure: those that should be ("problems"), or the rest ("ignored"). */
static void write_run_others(struct json_writer *w, const struct tscope_run *run, const char *key,
			     bool problems)
{
	tsi_json_array(w, key);
	for (size_t i = 0; run && i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (other.is_problem == problems)
			write_other(w, &other);
	}
	tsi_jw_end_array(w);
}

static bool has_row_of(const struct tscope_analysis *analysis, const char *table, int64_t rank)
{
	struct table_view view = tsi_lookup_table(analysis, table);
	size_t column = tsi_table_column(&view, "rank");

	for (size_t row = 0; row < view.row_count; row++)
		if (tsi_table_cell(&view, row, column).integer == rank)
			return true;
	return false;
}

/* Does the run name this rank? */
static bool is_outlier(const struct tscope_analysis *analysis, int64_t rank)
{
	static const char *const facts[] = { "stragglers.worst_rank", "what_if.straggler_rank",
					     "distributed.least_waiting_rank" };
	static const char *const tables[] = { "distributed.slow_ranks", "distributed.straggler" };

	for (size_t i = 0; i < TSI_COUNT_OF(facts); i++) {
		struct tscope_value value = tsi_lookup(analysis, facts[i]);

		if (value.kind == TSCOPE_VALUE_INT && value.integer == rank)
			return true;
	}
	for (size_t i = 0; i < TSI_COUNT_OF(tables); i++)
		if (has_row_of(analysis, tables[i], rank))
			return true;
	return false;
}

static enum tscope_report_ranks ranks_of(const struct json_writer *w, const struct tscope_run *run)
{
	enum { FEW_RANKS = 64 };

	if (w->extent != JSON_ALL)
		return TSCOPE_RANKS_ALL;
	if (w->ranks != TSCOPE_RANKS_DEFAULT)
		return w->ranks;
	return w->all_rows || tscope_run_rank_count(run) <= FEW_RANKS ? TSCOPE_RANKS_ALL
								      : TSCOPE_RANKS_SUMMARY;
}

/* The lowest rank stands for the run where that has no figures of its own. */
static bool is_rank_written(enum tscope_report_ranks ranks, const struct tscope_run *run,
			    size_t index)
{
	if (index == 0 || ranks == TSCOPE_RANKS_ALL)
		return true;
	return ranks == TSCOPE_RANKS_OUTLIERS &&
	       is_outlier(tscope_run_analysis(run), tscope_run_rank_number(run, index));
}

static void write_ranks(struct json_writer *w, const struct tscope_run *run)
{
	enum json_extent extent = w->extent;
	enum tscope_report_ranks ranks = ranks_of(w, run);
	struct json_rows rows = w->rows;
	int64_t left_out = 0;

	tsi_json_array(w, "ranks");
	if (extent == JSON_BASELINE)
		w->extent = JSON_BASELINE_RANK;
	w->rows = w->part_rows;
	for (size_t i = 0; i < tscope_run_rank_count(run); i++) {
		int64_t number = tscope_run_rank_number(run, i);

		if (!is_rank_written(ranks, run, i)) {
			left_out++;
			continue;
		}
		tsi_jw_object(w);
		tsi_json_int_if(w, "rank", number >= 0, number);
		tsi_json_facts(w, tscope_run_rank_analysis(run, i), TSCOPE_WHOLE_TRACE);
		tscope_run_forget_rank(run, i);
		tsi_jw_end_object(w);
	}
	w->extent = extent;
	w->rows = rows;
	tsi_jw_end_array(w);
	if (left_out > 0)
		tsi_json_int_if(w, "ranks_left_out", true, left_out);
}

static void write_run(struct json_writer *w, const struct tscope_run_report *report)
{
	const struct tscope_run *run = report->run;
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];

	begin_report(w, "run");
	write_run_inputs(w, run);
	tsi_json_facts(w, tscope_run_analysis(run), TSCOPE_WHOLE_TRACE);
	write_ranks(w, run);
	if (tscope_run_alone(run)) {
		tsi_json_text(w, "alone", tscope_run_alone(run));
		tsi_jw_key(w, "is_named");
		tsi_jw_flag(w, tscope_run_is_named(run));
	}
	tsi_json_findings(w, report->diagnosis);
	write_not_evaluated(w, report->diagnosis, NULL);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_json_array(w, "notes");
	for (size_t i = 0; i < tscope_run_note_count(run); i++)
		tsi_jw_text(w, tscope_run_note(run, i));
	tsi_jw_end_array(w);
	write_run_others(w, run, "problems", true);
	write_run_others(w, run, "ignored", false);
	tsi_run_diagnostics(run, diagnostics);
	tsi_json_diagnostics(w, "diagnostics", diagnostics, false);
	tsi_jw_end_object(w);
}

/* Files that belong to none of several runs. */
static void write_problems(struct json_writer *w, const struct tscope_runs_report *report)
{
	tsi_json_array(w, "problems");
	for (size_t i = 0; report && i < tscope_runs_other_count(report->runs); i++) {
		struct tscope_run_other other = tscope_runs_other(report->runs, i);

		write_other(w, &other);
	}
	tsi_jw_end_array(w);
}

/* ---- files about memory ---- */

static void write_memory_input(struct json_writer *w, const struct tscope_memory_info *info)
{
	tsi_json_array(w, "inputs");
	tsi_jw_object(w);
	tsi_json_text(w, "path", info->path);
	tsi_json_text(w, "format", tscope_memory_kind_name(info->kind));
	tsi_json_text(w, "form", info->form);
	tsi_json_text(w, "compression", info->compression);
	tsi_json_uint(w, "source_bytes", info->source_bytes);
	tsi_json_uint(w, "bytes", info->bytes);
	tsi_json_uint(w, "records", info->record_count);
	tsi_json_uint(w, "dropped_count", info->dropped_count);
	tsi_json_int_if(w, "rank", info->rank >= 0, info->rank);
	write_text_if(w, "note", info->note);
	tsi_json_damage(w, info->damage);
	tsi_jw_end_object(w);
	tsi_jw_end_array(w);
}

static void write_file(struct json_writer *w, const struct tscope_memory_report *report)
{
	begin_report(w, "memory");
	write_memory_input(w, tscope_memory_info(report->memory));
	tsi_json_facts(w, report->analysis, TSCOPE_WHOLE_TRACE);
	tsi_json_findings(w, report->diagnosis);
	write_not_evaluated(w, report->diagnosis, report);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_jw_end_object(w);
}

/* ---- flight-recorder dumps ---- */

static void write_dump(struct json_writer *w, const struct tscope_hang_input *input)
{
	tsi_jw_object(w);
	tsi_json_text(w, "path", input->path);
	tsi_json_text(w, "format", "flight_recorder");
	tsi_json_text(w, "form", input->form);
	tsi_json_text(w, "compression", input->compression);
	tsi_json_text(w, "version", input->version);
	tsi_json_uint(w, "source_bytes", input->source_bytes);
	tsi_json_uint(w, "bytes", input->bytes);
	tsi_json_uint(w, "records", input->entry_count);
	tsi_json_uint(w, "dropped_count", input->dropped_count);
	tsi_json_int_if(w, "rank", input->rank >= 0, input->rank);
	write_text_if(w, "note", input->is_superseded ? "another dump of this rank counts" : "");
	tsi_json_damage(w, input->failure);
	tsi_jw_end_object(w);
}

static void write_hang(struct json_writer *w, const struct tscope_hang_report *report)
{
	begin_report(w, "hang");
	tsi_json_array(w, "inputs");
	for (size_t i = 0; i < tscope_hang_input_count(report->hang); i++) {
		struct tscope_hang_input input = tscope_hang_input(report->hang, i);

		write_dump(w, &input);
	}
	tsi_jw_end_array(w);
	tsi_json_facts(w, report->analysis, TSCOPE_WHOLE_TRACE);
	tsi_json_findings(w, report->diagnosis);
	tsi_json_array(w, "not_evaluated");
	tsi_jw_end_array(w);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_jw_end_object(w);
}

/* ---- comparisons ---- */

static void write_side(struct json_writer *w, const char *key, struct tscope_diff_side side)
{
	tsi_json_object(w, key);
	tsi_json_text(w, "path", side.path);
	tsi_json_text(w, "kind", side.run ? "run" : "saved_report");
	tsi_json_text(w, "saved_by", side.saved_by);
	tsi_json_uint(w, "ranks", side.rank_count);
	write_run_inputs(w, side.run);
	write_run_others(w, side.run, "problems", true);
	tsi_jw_end_object(w);
}

static void write_diff(struct json_writer *w, const struct tscope_diff_report *report)
{
	begin_report(w, "comparison");
	tsi_json_object(w, "sides");
	write_side(w, "a", tscope_diff_side(report->diff, TSCOPE_SIDE_A));
	write_side(w, "b", tscope_diff_side(report->diff, TSCOPE_SIDE_B));
	tsi_jw_end_object(w);
	tsi_json_facts(w, tscope_diff_analysis(report->diff), TSCOPE_WHOLE_TRACE);
	tsi_json_gates(w, report->gates, report->gate_count);
	tsi_json_array(w, "notes");
	for (size_t i = 0; i < tscope_diff_note_count(report->diff); i++)
		tsi_jw_text(w, tscope_diff_note(report->diff, i));
	tsi_jw_end_array(w);
	tsi_jw_end_object(w);
}

/* ---- the whole ---- */

static void write_reports(struct json_writer *w, const struct report_subject *subject)
{
	tsi_json_array(w, "runs");
	for (size_t i = 0; subject->traces && i < subject->count; i++)
		write_trace(w, &subject->traces[i]);
	for (size_t i = 0; subject->files && i < subject->count; i++)
		write_file(w, &subject->files[i]);
	for (size_t i = 0; subject->runs && i < tscope_runs_count(subject->runs->runs); i++)
		write_run(w, &subject->runs->reports[i]);
	if (subject->run)
		write_run(w, subject->run);
	if (subject->hang)
		write_hang(w, subject->hang);
	if (subject->diff)
		write_diff(w, subject->diff);
	tsi_jw_end_array(w);
}

/* Without --full or --top what a person or a script looks at first. */
static void limit_rows(struct json_writer *w, const struct tscope_report_options *options)
{
	enum { ALL = 100000 };

	w->rows.rankings = w->rows.groups = options->top ? options->top : ALL;
	w->part_rows = w->rows;
	if (options->top > 0 || options->all_rows)
		return;
	w->rows = (struct json_rows){ .rankings = 10, .groups = 4 };
	w->part_rows = (struct json_rows){ .rankings = 3, .groups = 1, .lists = 3 };
}

void tsi_json_document(FILE *out, const struct report_subject *subject,
		       const struct tscope_report_options *options, enum json_extent extent)
{
	struct json_writer w = {
		.out = out, .extent = extent, .ranks = options->ranks, .all_rows = options->all_rows
	};
	struct intern texts = { 0 };
	struct tscope_error ignored;

	/* Without memory for it the texts stand where they are. */
	if (extent == JSON_BASELINE && tsi_intern_init(&texts, UINT32_MAX, &ignored) == TSCOPE_OK)
		w.texts = &texts;

	if (extent == JSON_ALL)
		limit_rows(&w, options);
	tsi_jw_object(&w);
	tsi_json_head(&w);
	write_reports(&w, subject);
	if (subject->run || subject->runs)
		write_problems(&w, subject->runs);
	if (w.texts)
		tsi_json_texts(&w);
	tsi_jw_end_object(&w);
	tsi_intern_deinit(&texts);
}

static void write_json(FILE *out, const struct report_subject *subject,
		       const struct tscope_report_options *options)
{
	tsi_json_document(out, subject, options, JSON_ALL);
}

const struct reporter tsi_reporter_json = {
	.format = { .name = "json", .readers = "programs" },
	.write_facts = write_json,
};
