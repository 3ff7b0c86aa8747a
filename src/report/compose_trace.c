/* SPDX-License-Identifier: MIT */
/*
 * The report of a trace: a head, a section for each analyzer that has something to say, then the
 * findings. It computes nothing; the words of each section stand in section_*.c.
 */
#include "report/section.h"

#include <inttypes.h>

/* In the order of the report. */
static const struct section sections[] = {
	{ "steps", tsi_section_steps },           { "budget", tsi_section_budget },
	{ "inference", tsi_section_inference },   { "python", tsi_section_viztracer },
	{ "efficiency", tsi_section_efficiency }, { "memory", tsi_section_memory },
	{ "critical_path", tsi_section_path },    { "device_busy", tsi_section_device_busy },
	{ "overlap", tsi_section_overlap },       { "flops", tsi_section_roofline },
	{ "kernels", tsi_section_kernels },       { "operators", tsi_section_operators },
	{ "graphs", tsi_section_graphs },         { "blocks", tsi_section_blocks },
	{ "modules", tsi_section_modules },       { "attribution", tsi_section_attribution },
	{ "sources", tsi_section_sources },       { "launches", tsi_section_launches },
	{ "copies", tsi_section_copies },         { "spans", tsi_section_spans },
	{ "python", tsi_section_python },         { "callbacks", tsi_section_callbacks },
	{ "counters", tsi_section_counters },     { "integrity", tsi_section_integrity },
};

/* "kineto trace · 1,204 events · 2.10 MiB (gzip 210 KiB) · 12.34 ms captured" */
static void put_file_line(const struct panel *panel, const struct tscope_trace_info *info)
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_OUTLINE, DOC_PLAIN, NULL);

	tsi_doc_item(panel->doc, line, "%s trace", info->format);
	tsi_panel_count(panel, line, (int64_t)info->event_count, "event", "events");
	tsi_panel_size(panel, line, info->bytes, info->source_bytes, info->compression);
	tsi_doc_item(panel->doc, line, "%s captured",
		     tsi_panel_people_int(panel, info->last_ns - info->first_ns, TSCOPE_UNIT_NS));
}

/* "2 × NVIDIA A100 · rank 3 of 8 · nccl" */
static void put_device_line(const struct panel *panel, const struct tscope_trace_info *info)
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_OUTLINE, DOC_PLAIN, NULL);
	const char *name = *info->device_name != '\0' ? info->device_name : "unknown device";
	uint32_t count = tscope_analysis_device_count(panel->analysis);

	if (count > 1)
		tsi_doc_item(panel->doc, line, "%u × %.230s", count, name);
	else if (count == 1)
		tsi_doc_item(panel->doc, line, "%.255s", name);
	else
		tsi_doc_item(panel->doc, line, "no device%.230s", info->device_name);
	if (info->rank >= 0 && info->world_size >= 0)
		tsi_doc_item(panel->doc, line, "rank %" PRId64 " of %" PRId64, info->rank,
			     info->world_size);
	else if (info->rank >= 0)
		tsi_doc_item(panel->doc, line, "rank %" PRId64, info->rank);
	if (*info->backend != '\0')
		tsi_doc_item(panel->doc, line, "%s", info->backend);
}

/* Doubts come before the numbers. */
static void put_losses(const struct panel *panel, const struct tscope_trace *trace)
{
	const struct tscope_error *damage = tscope_trace_damage(trace);
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	if (damage)
		tsi_panel_loss(panel, "DAMAGED", "%s", tsi_damage_words(panel, damage));
	if (info->dropped_count > 0)
		tsi_panel_loss(panel, "DROPPED", "%s event%s, not counted (--show input)",
			       tsi_panel_people_int(panel, (int64_t)info->dropped_count,
						    TSCOPE_UNIT_COUNT),
			       info->dropped_count == 1 ? "" : "s");
	tsi_put_step_losses(panel);
	if (tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_ring_buffer_overflow) > 0)
		tsi_panel_loss(panel, "OVERFLOW", "%s", tsi_overflow_words);
}

void tsi_compose_trace(struct doc *doc, const struct tscope_trace_report *report,
		       const struct tscope_report_options *options)
{
	const struct tscope_trace *trace = tscope_analysis_trace(report->analysis);
	const struct tscope_trace_info *info = tscope_trace_info(trace);
	struct panel panel = tsi_panel(doc, report->analysis, options);

	panel.gates = report->gates;
	panel.gate_count = report->gate_count;
	panel.diagnosis = report->diagnosis;
	tsi_doc_name(doc, DOC_PART, NULL, info->path);
	put_file_line(&panel, info);
	put_device_line(&panel, info);
	put_losses(&panel, trace);
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_screen(&panel);
	else
		tsi_put_verdict(&panel);
	if (options->extent == TSCOPE_REPORT_FULL) {
		tsi_build_sections(&panel, sections, TSI_COUNT_OF(sections));
		tsi_section_findings(&panel);
		tsi_section_not_evaluated(&panel);
	}
	tsi_section_gates(&panel);
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_way_on(&panel, "kernels,operators");
}

void tsi_build_sections(const struct panel *panel, const struct section *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tscope_analysis_has(panel->analysis, tsi_lookup_analyzer(list[i].analyzer),
					TSCOPE_WHOLE_TRACE))
			list[i].build(panel);
}
