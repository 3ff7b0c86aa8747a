/* SPDX-License-Identifier: MIT */
/*
 * The report of a comparison for machines: its two sides, the facts of what changed, and the gates.
 */
#include "report/json_parts.h"
#include "report/reporter.h"

/* The files of a side; of a saved report they are not known. */
static void write_files(struct json_writer *w, const struct tscope_run *run)
{
	if (run) {
		tsi_json_run_inputs(w, run);
		tsi_json_run_others(w, run, "problems", true);
		return;
	}
	tsi_jw_key(w, "inputs");
	tsi_jw_array(w);
	tsi_jw_end_array(w);
	tsi_jw_key(w, "problems");
	tsi_jw_array(w);
	tsi_jw_end_array(w);
}

static void write_side(struct json_writer *w, const char *key, const struct tscope_diff_side *side)
{
	tsi_jw_key(w, key);
	tsi_jw_object(w);
	tsi_json_text(w, "path", side->path);
	tsi_json_text(w, "kind", side->run ? "run" : "saved_report");
	tsi_json_text(w, "saved_by", side->saved_by);
	tsi_json_uint(w, "ranks", side->rank_count);
	write_files(w, side->run);
	tsi_jw_end_object(w);
}

static void write_sides(struct json_writer *w, const struct tscope_diff *diff)
{
	static const char *const keys[] = { [TSCOPE_SIDE_A] = "a", [TSCOPE_SIDE_B] = "b" };

	tsi_jw_key(w, "sides");
	tsi_jw_object(w);
	for (enum tscope_side i = TSCOPE_SIDE_A; i < TSCOPE_SIDE_COUNT; i++) {
		struct tscope_diff_side side = tscope_diff_side(diff, i);

		write_side(w, keys[i], &side);
	}
	tsi_jw_end_object(w);
}

static void write_notes(struct json_writer *w, const struct tscope_diff *diff)
{
	tsi_jw_key(w, "notes");
	tsi_jw_array(w);
	for (size_t i = 0; i < tscope_diff_note_count(diff); i++)
		tsi_jw_text(w, tscope_diff_note(diff, i));
	tsi_jw_end_array(w);
}

void tsi_json_write_diff(FILE *out, const struct tscope_diff_report *report,
			 const struct tscope_report_options *options)
{
	struct json_writer w = { .out = out };

	tsi_jw_object(&w);
	tsi_json_head(&w);
	write_sides(&w, report->diff);
	tsi_json_facts(&w, tscope_diff_analysis(report->diff), TSCOPE_WHOLE_TRACE, options->top);
	tsi_json_change_gates(&w, report->gates, report->gate_count);
	write_notes(&w, report->diff);
	tsi_jw_end_object(&w);
}
