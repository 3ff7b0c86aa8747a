/* SPDX-License-Identifier: MIT */
/*
 * The report for people: a head, then a section for each analyzer that has
 * something to say. It formats and computes nothing; the words and widths of
 * each section stand in section_*.c.
 */
#include "analyze/lookup.h"
#include "report/reporter.h"
#include "report/section.h"

#include <inttypes.h>
#include <string.h>

enum { DEFAULT_TOP = 10 };

/* In the order of the report. */
static const struct section {
	const char *analyzer; /* printed where it ran */
	void (*print)(const struct panel *panel);
} sections[] = {
	{ "steps", tsi_section_steps },
	{ "budget", tsi_section_budget },
	{ "python", tsi_section_viztracer },
	{ "efficiency", tsi_section_efficiency },
	{ "memory", tsi_section_memory },
	{ "critical_path", tsi_section_path },
	{ "device_busy", tsi_section_device_busy },
	{ "overlap", tsi_section_overlap },
	{ "flops", tsi_section_roofline },
	{ "kernels", tsi_section_kernels },
	{ "operators", tsi_section_operators },
	{ "launches", tsi_section_launches },
	{ "copies", tsi_section_copies },
	{ "spans", tsi_section_spans },
	{ "python", tsi_section_python },
	{ "callbacks", tsi_section_callbacks },
	{ "counters", tsi_section_counters },
	{ "integrity", tsi_section_integrity },
};

/* "kineto trace · 1,204 events · 2.10 MiB (gzip 210 KiB) · 12.34 ms captured" */
static void put_file_line(struct text_writer *w, const struct tscope_trace_info *info)
{
	struct text_flow flow = { .w = w, .separator = " · " };
	char events[NUMBER_MAX], span[NUMBER_MAX], text[3 * NUMBER_MAX];

	tsi_number_people_int(events, (int64_t)info->event_count, TSCOPE_UNIT_COUNT);
	tsi_number_people_int(span, info->last_ns - info->first_ns, TSCOPE_UNIT_NS);
	snprintf(text, sizeof(text), "%s trace", info->format);
	tsi_text_flow(&flow, text);
	snprintf(text, sizeof(text), "%s event%s", events, info->event_count == 1 ? "" : "s");
	tsi_text_flow(&flow, text);
	tsi_panel_size(&flow, info->bytes, info->source_bytes, info->compression);
	snprintf(text, sizeof(text), "%s captured", span);
	tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
}

static void put_device(struct text_flow *flow, uint32_t count, const char *name)
{
	char text[256];

	if (count > 1)
		snprintf(text, sizeof(text), "%u × %s", count,
			 *name != '\0' ? name : "device of unknown name");
	else if (count == 1)
		snprintf(text, sizeof(text), "%s", *name != '\0' ? name : "device of unknown name");
	else
		snprintf(text, sizeof(text), "no device%s", name);
	tsi_text_flow(flow, text);
}

/* "2 × NVIDIA A100 · rank 3 of 8 · nccl" */
static void put_device_line(struct text_writer *w, const struct tscope_analysis *analysis,
			    const struct tscope_trace_info *info)
{
	struct text_flow flow = { .w = w, .separator = " · " };
	char rank[NUMBER_MAX];

	put_device(&flow, tscope_analysis_device_count(analysis), info->device_name);
	if (info->rank >= 0 && info->world_size >= 0)
		snprintf(rank, sizeof(rank), "rank %" PRId64 " of %" PRId64, info->rank,
			 info->world_size);
	else
		snprintf(rank, sizeof(rank), "rank %" PRId64, info->rank);
	if (info->rank >= 0)
		tsi_text_flow(&flow, rank);
	if (*info->backend != '\0')
		tsi_text_flow(&flow, info->backend);
	tsi_text_flow_end(&flow);
}

/* What makes every figure doubtful comes before the figures. */
static void put_losses(const struct panel *panel, const struct tscope_trace *trace)
{
	const struct tscope_error *damage = tscope_trace_damage(trace);
	uint64_t dropped = tscope_trace_info(trace)->dropped_count;
	char words[DAMAGE_MAX], count[NUMBER_MAX];

	if (damage) {
		tsi_damage_words(words, damage);
		tsi_panel_loss(panel, "DAMAGED", words);
	}
	if (dropped > 0) {
		tsi_number_people_int(count, (int64_t)dropped, TSCOPE_UNIT_COUNT);
		snprintf(words, sizeof(words), "events: %s; they are in no figure, see INPUT",
			 count);
		tsi_panel_loss(panel, "DROPPED", words);
	}
	if (tscope_trace_diagnostic(trace, TSCOPE_DIAGNOSTIC_ring_buffer_overflow) > 0)
		tsi_panel_loss(panel, "OVERFLOW", tsi_overflow_words);
}

/* Ranks of a merged file overlap: their rows are not one program's. */
static void put_merged(const struct panel *panel, const struct tscope_trace_info *info)
{
	char words[DAMAGE_MAX];

	if (info->merged_rank_count == 0)
		return;
	snprintf(words, sizeof(words),
		 "events of %zu ranks, mixed in every figure here; tscope report reads each rank "
		 "of this file by itself",
		 info->merged_rank_count);
	tsi_panel_loss(panel, "MERGED", words);
}

static void write_analysis(const struct panel *panel, bool is_brief)
{
	const struct tscope_trace *trace = tscope_analysis_trace(panel->analysis);
	const struct tscope_trace_info *info = tscope_trace_info(trace);

	tsi_text_style(panel->w, TEXT_BOLD);
	tsi_text_name(panel->w, info->path);
	tsi_text_style(panel->w, TEXT_PLAIN);
	tsi_text_put(panel->w, "\n");
	put_file_line(panel->w, info);
	put_device_line(panel->w, panel->analysis, info);
	put_merged(panel, info);
	put_losses(panel, trace);
	for (size_t i = 0; i < TSI_COUNT_OF(sections) && !is_brief; i++) {
		if (tscope_analysis_has(panel->analysis, tsi_lookup_analyzer(sections[i].analyzer),
					TSCOPE_WHOLE_TRACE))
			sections[i].print(panel);
	}
	tsi_section_gates(panel);
}

static void write_report(FILE *out, const struct tscope_trace_report *reports, size_t count,
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
			.rank = -1,
		};

		if (i > 0)
			tsi_text_put(&w, "\n");
		write_analysis(&panel, options->brief);
	}
}

const struct reporter tsi_reporter_text = {
	.write = write_report,
	.write_run = tsi_text_write_run,
	.write_runs = tsi_text_write_runs,
	.write_memory = tsi_text_write_memory,
	.write_diff = tsi_text_write_diff,
};
