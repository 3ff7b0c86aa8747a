/* SPDX-License-Identifier: MIT */
/*
 * The report of a comparison for people: the two sides and what changed in the head, then a section
 * for each kind of change, and the gates.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

#include <inttypes.h>

enum { DEFAULT_TOP = 10 };

/* In the order of the report. */
static void (*const sections[])(const struct panel *panel) = {
	tsi_section_explanation,      tsi_section_rank_changes,   tsi_section_kernel_changes,
	tsi_section_operator_changes, tsi_section_memory_changes, tsi_section_finding_changes,
	tsi_section_reproducibility,  tsi_section_fact_changes,
};

/* ---- the head ---- */

/* "8 ranks · 30 steps · 412.3 ms a step · saved by tscope 0.1.0" */
static void put_outline(struct text_writer *w, const struct tscope_diff_side *side)
{
	struct text_flow flow = { .w = w, .separator = " · ", .indent = 3 };
	int64_t steps = tsi_lookup_int(side->analysis, TSCOPE_WHOLE_TRACE, "step_time.count");
	char mean[NUMBER_MAX], text[128];
	enum tscope_unit unit;

	if (side->rank_count > 1)
		tsi_panel_count(&flow, (int64_t)side->rank_count, "rank", "ranks");
	if (steps > 0)
		tsi_panel_count(&flow, steps, "step", "steps");
	struct tscope_value mean_ns =
		tsi_lookup_fact(side->analysis, TSCOPE_WHOLE_TRACE, "step_time.mean_ns", &unit);
	tsi_number_people(mean, mean_ns, unit);
	snprintf(text, sizeof(text), "%s a step", mean);
	if (mean_ns.kind != TSCOPE_VALUE_ABSENT)
		tsi_text_flow(&flow, text);
	if (side->run)
		tsi_panel_count(&flow, (int64_t)tscope_run_input_count(side->run), "file", "files");
	snprintf(text, sizeof(text), "saved by %.100s", side->saved_by ? side->saved_by : "");
	if (side->saved_by)
		tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
}

static void put_side(const struct panel *panel, const char *name,
		     const struct tscope_diff_side *side)
{
	struct text_writer *w = panel->w;

	tsi_text_put_styled(w, TEXT_DIM, name);
	tsi_text_put(w, "  ");
	tsi_text_style(w, TEXT_BOLD);
	tsi_text_name(w, side->path);
	tsi_text_style(w, TEXT_PLAIN);
	tsi_text_put(w, "\n");
	put_outline(w, side);
	if (side->run)
		tsi_put_losses(panel, side->run);
}

static void put_notes(const struct panel *panel, const struct tscope_diff *diff)
{
	for (size_t i = 0; i < tscope_diff_note_count(diff); i++) {
		tsi_text_put_styled(panel->w, TEXT_YELLOW, "note");
		tsi_text_put(panel->w, "  ");
		tsi_text_paragraph(panel->w, tscope_diff_note(diff, i), 6);
	}
}

void tsi_text_write_diff(FILE *out, const struct tscope_diff_report *report,
			 const struct tscope_report_options *options)
{
	struct tscope_diff_side a = tscope_diff_side(report->diff, TSCOPE_SIDE_A);
	struct tscope_diff_side b = tscope_diff_side(report->diff, TSCOPE_SIDE_B);
	struct text_writer w = tsi_panel_writer(out, options);
	struct panel panel = {
		.w = &w,
		.analysis = tscope_diff_analysis(report->diff),
		.top = options->top > 0 ? options->top : DEFAULT_TOP,
		.gates = report->gates,
		.gate_count = report->gate_count,
		.all = options->all,
		.rank = -1,
	};

	put_side(&panel, "A", &a);
	put_side(&panel, "B", &b);
	put_notes(&panel, report->diff);
	tsi_put_changes(&panel, options->brief);
	for (size_t i = 0; !options->brief && i < TSI_COUNT_OF(sections); i++)
		sections[i](&panel);
	tsi_section_gates(&panel);
}
