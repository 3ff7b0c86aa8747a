/* SPDX-License-Identifier: MIT */
/*
 * The report of a run for machines: its files, the facts of the whole and of
 * each rank, what is said of them, and the gates.
 */
#include "report/json_parts.h"
#include "report/reporter.h"

static void write_input(struct json_writer *w, const struct tscope_run_input *input)
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
	tsi_json_text(w, "note", *input->note != '\0' ? input->note : NULL);
	tsi_json_damage(w, input->damage);
	tsi_jw_end_object(w);
}

void tsi_json_run_inputs(struct json_writer *w, const struct tscope_run *run)
{
	tsi_jw_key(w, "inputs");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		struct tscope_run_input input = tscope_run_input(run, i);

		write_input(w, &input);
	}
	tsi_jw_end_array(w);
}

static void write_ranks(struct json_writer *w, const struct tscope_run *run, size_t top)
{
	tsi_jw_key(w, "ranks");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_run_rank_count(run); i++) {
		int64_t number = tscope_run_rank_number(run, i);

		tsi_jw_object(w);
		tsi_json_int_if(w, "rank", number >= 0, number);
		tsi_json_facts(w, tscope_run_rank_analysis(run, i), TSCOPE_WHOLE_TRACE, top);
		tsi_jw_end_object(w);
	}
	tsi_jw_end_array(w);
}

static void write_not_evaluated(struct json_writer *w, const struct tscope_diagnosis *diagnosis)
{
	tsi_jw_key(w, "not_evaluated");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_diagnosis_not_evaluated_count(diagnosis); i++) {
		struct tscope_not_evaluated missed = tscope_diagnosis_not_evaluated(diagnosis, i);

		tsi_json_not_evaluated(w, &missed);
	}
	tsi_jw_end_array(w);
}

static void write_notes(struct json_writer *w, const struct tscope_run *run)
{
	tsi_jw_key(w, "notes");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_run_note_count(run); i++)
		tsi_jw_text(w, tscope_run_note(run, i));
	tsi_jw_end_array(w);
}

static void write_other(struct json_writer *w, const struct tscope_run_other *other)
{
	tsi_jw_row(w);
	tsi_json_text(w, "path", other->path);
	tsi_json_text(w, "reason", other->reason);
	tsi_jw_end_object(w);
}

void tsi_json_run_others(struct json_writer *w, const struct tscope_run *run, const char *key,
			 bool problems)
{
	tsi_jw_key(w, key);
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_run_other_count(run); i++) {
		struct tscope_run_other other = tscope_run_other(run, i);

		if (other.is_problem != problems)
			continue;
		write_other(w, &other);
	}
	tsi_jw_end_array(w);
}

static void write_diagnostics(struct json_writer *w, const struct tscope_run *run)
{
	uint64_t counts[TSCOPE_DIAGNOSTIC_COUNT];

	tsi_run_diagnostics(run, counts);
	tsi_json_diagnostics(w, "diagnostics", counts, false);
}

/* The keys of one run, into the object that is open. */
static void write_run(struct json_writer *w, const struct tscope_run_report *report, size_t top)
{
	tsi_json_run_inputs(w, report->run);
	tsi_json_facts(w, tscope_run_analysis(report->run), TSCOPE_WHOLE_TRACE, top);
	write_ranks(w, report->run, top);
	tsi_json_findings(w, report->diagnosis);
	write_not_evaluated(w, report->diagnosis);
	tsi_json_gates(w, report->gates, report->gate_count);
	write_notes(w, report->run);
	tsi_json_run_others(w, report->run, "problems", true);
	tsi_json_run_others(w, report->run, "ignored", false);
	write_diagnostics(w, report->run);
}

void tsi_json_write_run(FILE *out, const struct tscope_run_report *report,
			const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_head(&w);
	write_run(&w, report, options->top);
	tsi_jw_end_object(&w);
}

void tsi_json_write_runs(FILE *out, const struct tscope_runs_report *report,
			 const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_head(&w);
	tsi_jw_key(&w, "runs");
	tsi_jw_array(&w);
	for (size_t i = 0; i < tscope_runs_count(report->runs); i++) {
		tsi_jw_object(&w);
		write_run(&w, &report->reports[i], options->top);
		tsi_jw_end_object(&w);
	}
	tsi_jw_end_array(&w);
	tsi_jw_key(&w, "problems");
	tsi_jw_array(&w);
	for (size_t i = 0; i < tscope_runs_other_count(report->runs); i++) {
		struct tscope_run_other other = tscope_runs_other(report->runs, i);

		write_other(&w, &other);
	}
	tsi_jw_end_array(&w);
	tsi_jw_end_object(&w);
}
