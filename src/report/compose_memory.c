/* SPDX-License-Identifier: MIT */
/*
 * The report of a file about memory: a head, the sections that its kind has something for, then
 * the findings with what to do, and the gates.
 */
#include "report/section.h"

#include <inttypes.h>

/* In the order of the report. */
static const struct section sections[] = {
	{ "snapshot", tsi_section_oom },
	{ "snapshot", tsi_section_snapshot },
	{ "snapshot", tsi_section_snapshot_growth },
	{ "snapshot", tsi_section_snapshot_time },
	{ "snapshot", tsi_section_snapshot_peak },
	{ "snapshot", tsi_section_snapshot_churn },
	{ "snapshot", tsi_section_snapshot_segments },
	{ "memory_timeline", tsi_section_memory_timeline },
	{ "memory_stats", tsi_section_memory_stats },
	{ "memory_tracker", tsi_section_memory_tracker },
	{ "host_memory", tsi_section_host_memory },
};

/* Kinds of files: the unit to count ("1 point", "2 points"), and sections that the screen lacks. */
static const struct {
	const char *name, *one, *many, *section;
} kinds[TSCOPE_MEMORY_KIND_COUNT] = {
	[TSCOPE_MEMORY_SNAPSHOT] = { "snapshot", "entry", "entries", "live,churn,segments" },
	[TSCOPE_MEMORY_TIMELINE] = { "memory timeline", "row", "rows", "memory-timeline" },
	[TSCOPE_MEMORY_STATS] = { "memory statistics", "value", "values", "memory-statistics" },
	[TSCOPE_MEMORY_TRACKER] = { "memory tracker", "value", "values", "memory-tracker" },
	[TSCOPE_MEMORY_HOST] = { "host memory", "record", "records", "host-memory" },
};

/* "snapshot · pickle · 3.0 MiB (gzip 300 KiB) · 19,136 entries · 2 devices · rank 3" */
static void put_file_line(const struct panel *panel, const struct tscope_memory_info *info)
{
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_OUTLINE, DOC_PLAIN, NULL);
	bool is_snapshot = info->kind == TSCOPE_MEMORY_SNAPSHOT;
	int64_t count = is_snapshot ? tsi_panel_int(panel, "snapshot.trace_entry_count")
				    : (int64_t)info->record_count;

	tsi_doc_item(panel->doc, line, "%s", kinds[info->kind].name);
	tsi_doc_item(panel->doc, line, "%s", info->form);
	tsi_panel_size(panel, line, info->bytes, info->source_bytes, info->compression);
	tsi_panel_count(panel, line, count, kinds[info->kind].one, kinds[info->kind].many);
	if (is_snapshot)
		tsi_panel_count(panel, line, tsi_panel_int(panel, "snapshot.device_count"),
				"device", "devices");
	if (info->rank >= 0)
		tsi_doc_item(panel->doc, line, "rank %" PRId64, info->rank);
}

/* Doubts come before the numbers. */
static void put_losses(const struct panel *panel, const struct tscope_memory_info *info)
{
	if (info->damage)
		tsi_panel_loss(panel, "DAMAGED", "%s", tsi_damage_words(panel, info->damage));
	if (*info->note != '\0')
		tsi_doc_line(panel->doc, DOC_REMARK, DOC_INFO, "note", "%s", info->note);
	if (info->dropped_count > 0)
		tsi_panel_loss(panel, "DROPPED", "%s record%s, not counted",
			       tsi_panel_people_int(panel, (int64_t)info->dropped_count,
						    TSCOPE_UNIT_COUNT),
			       info->dropped_count == 1 ? "" : "s");
}

void tsi_compose_memory(struct doc *doc, const struct tscope_memory_report *report,
			const struct tscope_report_options *options)
{
	const struct tscope_memory_info *info = tscope_memory_info(report->memory);
	struct panel panel = tsi_panel(doc, report->analysis, options);

	panel.gates = report->gates;
	panel.gate_count = report->gate_count;
	panel.diagnosis = report->diagnosis;
	panel.memory = report;
	tsi_doc_name(doc, DOC_PART, NULL, info->path);
	put_file_line(&panel, info);
	put_losses(&panel, info);
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_memory_screen(&panel);
	else
		tsi_put_verdict(&panel);
	if (options->extent == TSCOPE_REPORT_FULL) {
		tsi_build_sections(&panel, sections, TSI_COUNT_OF(sections));
		tsi_section_findings(&panel);
		tsi_section_not_evaluated(&panel);
	}
	tsi_section_gates(&panel);
	if (options->extent == TSCOPE_REPORT_SCREEN)
		tsi_put_way_on(&panel, kinds[info->kind].section);
}
