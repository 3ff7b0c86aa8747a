/* SPDX-License-Identifier: MIT */
/*
 * The report of a comparison: the two sides and what changed in the head, then a section
 * for each kind of change, and the gates.
 */
#include "report/section.h"

/* In the order of the report. */
static void (*const sections[])(const struct panel *panel) = {
	tsi_section_history,         tsi_section_phase_changes,  tsi_section_explanation,
	tsi_section_rank_changes,    tsi_section_module_changes, tsi_section_operator_changes,
	tsi_section_kernel_changes,  tsi_section_memory_changes, tsi_section_finding_changes,
	tsi_section_reproducibility, tsi_section_fact_changes,
};

/* "8 ranks · 30 steps · 412.3 ms per step · saved by tscope 0.1.0" */
static void put_outline(const struct panel *panel, const struct tscope_diff_side *side)
{
	const struct panel side_panel = tsi_panel(panel->doc, side->analysis, panel->options);
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_SIDE_OUTLINE, DOC_PLAIN, NULL);
	int64_t steps = tsi_panel_int(&side_panel, "step_time.count");

	if (side->rank_count > 1)
		tsi_panel_count(panel, line, (int64_t)side->rank_count, "rank", "ranks");
	if (steps > 0)
		tsi_panel_count(panel, line, steps, "step", "steps");
	if (tsi_panel_has(&side_panel, "step_time.mean_ns"))
		tsi_doc_item(panel->doc, line, "%s per step",
			     tsi_panel_number(&side_panel, "step_time.mean_ns"));
	if (side->run)
		tsi_panel_count(panel, line, (int64_t)tscope_run_input_count(side->run), "file",
				"files");
	if (side->saved_by)
		tsi_doc_item(panel->doc, line, "saved by %.100s", side->saved_by);
}

static void put_side(const struct panel *panel, const char *name,
		     const struct tscope_diff_side *side)
{
	tsi_doc_name(panel->doc, DOC_SIDE, name, side->path);
	put_outline(panel, side);
	if (side->run)
		tsi_put_losses(panel, side->run);
}

void tsi_compose_diff(struct doc *doc, const struct tscope_diff_report *report,
		      const struct tscope_report_options *options)
{
	struct tscope_diff_side a = tscope_diff_side(report->diff, TSCOPE_SIDE_A);
	struct tscope_diff_side b = tscope_diff_side(report->diff, TSCOPE_SIDE_B);
	struct panel panel = tsi_panel(doc, tscope_diff_analysis(report->diff), options);

	panel.gates = report->gates;
	panel.gate_count = report->gate_count;
	put_side(&panel, "A", &a);
	put_side(&panel, "B", &b);
	for (size_t i = 0; i < tscope_diff_note_count(report->diff); i++)
		tsi_doc_line(doc, DOC_LOSS, DOC_WARN, "note", "%s",
			     tscope_diff_note(report->diff, i));
	tsi_put_changes(&panel);
	for (size_t i = 0; options->extent == TSCOPE_REPORT_FULL && i < TSI_COUNT_OF(sections); i++)
		sections[i](&panel);
	tsi_section_gates(&panel);
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_way_on(&panel, "explanation,kernels");
}
