/* SPDX-License-Identifier: MIT */
/*
 * The report of files about memory for people: for each a head, the sections that its kind has
 * something for, then the findings with what to do, and the gates.
 */
#include "analyze/lookup.h"
#include "report/section.h"

#include "base/attributes.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TOP = 10 };

/* In the order of the report. */
static const struct section {
	const char *analyzer; /* printed where it ran */
	void (*print)(const struct panel *panel);
} sections[] = {
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

/* What there is to count in a file: "1 point", "2 points". */
static const struct {
	const char *name, *one, *many;
} kinds[TSCOPE_MEMORY_KIND_COUNT] = {
	[TSCOPE_MEMORY_SNAPSHOT] = { "snapshot", "entry", "entries" },
	[TSCOPE_MEMORY_TIMELINE] = { "memory timeline", "row", "rows" },
	[TSCOPE_MEMORY_STATS] = { "memory statistics", "value", "values" },
	[TSCOPE_MEMORY_TRACKER] = { "memory tracker", "value", "values" },
	[TSCOPE_MEMORY_HOST] = { "host memory", "record", "records" },
};

/* "snapshot · pickle · 3.0 MiB (gzip 300 KiB) · 19,136 entries · 2 devices · rank 3" */
static void put_file_line(const struct panel *panel, const struct tscope_memory_info *info)
{
	struct text_flow flow = { .w = panel->w, .separator = " · " };
	bool is_snapshot = info->kind == TSCOPE_MEMORY_SNAPSHOT;
	int64_t count = is_snapshot ? tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE,
						     "snapshot.trace_entry_count")
				    : (int64_t)info->record_count;
	char text[NUMBER_MAX];

	tsi_text_flow(&flow, kinds[info->kind].name);
	tsi_text_flow(&flow, info->form);
	tsi_panel_size(&flow, info->bytes, info->source_bytes, info->compression);
	tsi_panel_count(&flow, count, kinds[info->kind].one, kinds[info->kind].many);
	if (is_snapshot)
		tsi_panel_count(&flow,
				tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE,
					       "snapshot.device_count"),
				"device", "devices");
	snprintf(text, sizeof(text), "rank %" PRId64, info->rank);
	if (info->rank >= 0)
		tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
}

/* What makes the figures doubtful comes before the figures. */
static void put_losses(const struct panel *panel, const struct tscope_memory_info *info)
{
	char number[NUMBER_MAX], text[2 * NUMBER_MAX], words[DAMAGE_MAX];

	if (info->damage) {
		tsi_damage_words(words, info->damage);
		tsi_panel_loss(panel, "DAMAGED", words);
	}
	if (*info->note != '\0') {
		tsi_text_put_styled(panel->w, TEXT_CYAN, "note  ");
		tsi_text_paragraph(panel->w, info->note, 6);
	}
	if (info->dropped_count == 0)
		return;
	tsi_number_people_int(number, (int64_t)info->dropped_count, TSCOPE_UNIT_COUNT);
	snprintf(text, sizeof(text), "records: %s; they are in no figure", number);
	tsi_panel_loss(panel, "DROPPED", text);
}

static void write_file(const struct panel *panel, bool is_brief)
{
	const struct tscope_memory_info *info = tscope_memory_info(panel->memory->memory);

	tsi_text_style(panel->w, TEXT_BOLD);
	tsi_text_name(panel->w, info->path);
	tsi_text_style(panel->w, TEXT_PLAIN);
	tsi_text_put(panel->w, "\n");
	put_file_line(panel, info);
	put_losses(panel, info);
	tsi_put_verdict(panel, is_brief);
	for (size_t i = 0; i < TSI_COUNT_OF(sections) && !is_brief; i++) {
		if (tscope_analysis_has(panel->analysis, tsi_lookup_analyzer(sections[i].analyzer),
					TSCOPE_WHOLE_TRACE))
			sections[i].print(panel);
	}
	if (!is_brief) {
		tsi_section_findings(panel);
		tsi_section_not_evaluated(panel);
	}
	tsi_section_gates(panel);
}

void tsi_text_write_memory(FILE *out, const struct tscope_memory_report *reports, size_t count,
			   const struct tscope_report_options *options)
{
	struct text_writer w = tsi_panel_writer(out, options);

	for (size_t i = 0; i < count; i++) {
		struct panel panel = {
			.w = &w,
			.analysis = reports[i].analysis,
			.top = options->top > 0 ? options->top : DEFAULT_TOP,
			.gates = reports[i].gates,
			.gate_count = reports[i].gate_count,
			.diagnosis = reports[i].diagnosis,
			.memory = &reports[i],
			.verbose = options->verbose,
			.rank = -1,
		};

		if (i > 0)
			tsi_text_put(&w, "\n");
		write_file(&panel, options->brief);
	}
}
