/* SPDX-License-Identifier: MIT */
/*
 * Sections about how well the device is used: MFU with all
 * that it rests on, and the operators that lose most against their rooflines.
 */
#include "report/section.h"

#include <string.h>

static enum doc_tone tone_of_line(const char *line)
{
	if (strcmp(line, "useful_compute") == 0)
		return DOC_GOOD;
	return strcmp(line, "data_stall") == 0 ? DOC_BAD : DOC_WARN;
}

/* The lines, as parts of a mean step. */
static void put_lines(const struct panel *panel, int64_t wall_ns)
{
	double steps = (double)wall_ns / (double)tsi_panel_int(panel, "efficiency.mean_wall_ns");
	struct table_view lines = tsi_panel_rows(panel, "efficiency.lines");
	bool is_split = tsi_panel_has(panel, "efficiency.mfu") &&
			!tsi_panel_is(panel, "efficiency.mfu_is_lower_bound");

	for (size_t row = 0; row < lines.row_count; row++) {
		int64_t part_ns = tsi_table_find(&lines, row, "ns").integer;
		const char *line = tsi_table_text(&lines, row, "line");
		bool is_compute = strcmp(line, "useful_compute") == 0;

		if (part_ns <= 0)
			continue;
		tsi_doc_meter(
			panel->doc,
			&(struct doc_meter){ /* Only FLOPs show what of the computing is useful. */
					     .label = is_compute && !is_split
							      ? "compute"
							      : tsi_panel_spaced(panel, line),
					     .part = part_ns,
					     .whole = wall_ns,
					     .shown = (int64_t)((double)part_ns / steps + 0.5),
					     .tone = tone_of_line(line),
					     .unit = TSCOPE_UNIT_NS });
	}
}

/*
 * Coverage as people read it. A coverage that makes a lower bound never reads as if it were enough.
 */
static const char *name_coverage(const struct panel *panel)
{
	struct tscope_value coverage = tsi_panel_value(panel, "efficiency.flops_coverage_ratio");
	const double most_shown = 0.899;

	if (tsi_panel_is(panel, "efficiency.mfu_is_lower_bound") && coverage.real > most_shown)
		coverage.real = most_shown;
	return tsi_panel_people(panel, coverage, TSCOPE_UNIT_RATIO);
}

/* "shapes 98.2 %": source of the FLOPs, and the share of matrix kernel time they cover. */
static const char *name_flops_source(const struct panel *panel)
{
	static const struct {
		const char *source, *words;
	} sources[] = {
		{ "option", "--flops-per-step" },
		{ "model", "--model" },
		{ "run.json", "run.json" },
		{ "operators", "shapes" },
	};
	const char *source = tsi_panel_text(panel, "efficiency.flops_source"), *text = "";
	uint32_t device_count = tscope_analysis_device_count(panel->analysis);

	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++)
		if (strcmp(source, sources[i].source) == 0)
			text = sources[i].words;
	if (tsi_panel_has(panel, "efficiency.flops_coverage_ratio"))
		tsi_panel_append(panel, &text, " %s", name_coverage(panel));
	if (device_count > 1)
		tsi_panel_append(panel, &text, ", mean of %u devices", (unsigned)device_count);
	return text;
}

/* "H100 SXM5 bf16": source of the peak. */
static const char *name_peak_source(const struct panel *panel)
{
	const char *source = tsi_panel_text(panel, "efficiency.peak_source");

	if (strcmp(source, "device") == 0)
		return tsi_panel_print(panel, "%s %s", tsi_panel_text(panel, "efficiency.device"),
				       tsi_panel_text(panel, "efficiency.precision"));
	return strcmp(source, "option") == 0 ? "--peak-tflops" : source;
}

/*
 * "412.3 TFLOP (shapes 98.2 %) ÷ 1.009 s ÷ 989.4 TFLOP/s (H100 SXM5 bf16)": the MFU is what
 * these come to, so that a reader can check it.
 */
static void put_anchor(const struct panel *panel)
{
	const char *text = tsi_panel_print(
		panel, "%s (%s) ÷ %s", tsi_panel_number(panel, "efficiency.flops_per_step"),
		name_flops_source(panel), tsi_panel_number(panel, "efficiency.mean_wall_ns"));

	if (tsi_panel_has(panel, "efficiency.peak_flops"))
		tsi_panel_append(panel, &text, " ÷ %s (%s)",
				 tsi_panel_number(panel, "efficiency.peak_flops"),
				 name_peak_source(panel));
	tsi_doc_note(panel->doc, "%s", text);
}

/* Why the MFU is not known, or a lower bound; and of FLOPs that are there, likewise. */
static void put_doubts(const struct panel *panel)
{
	const char *mfu_doubt = tsi_lookup_doubt(panel->analysis, "efficiency.mfu");
	const char *flops_doubt = tsi_lookup_doubt(panel->analysis, "efficiency.flops_per_step");

	if (mfu_doubt)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "%s", mfu_doubt);
	if (flops_doubt && strcmp(flops_doubt, mfu_doubt ? mfu_doubt : "") != 0)
		tsi_doc_line(panel->doc, DOC_NOTE, DOC_FAINT, NULL, "%s", flops_doubt);
}

/* The MFU; if more FLOPs were counted than the compute time allows, also the uncapped ratio. */
static const char *name_mfu(const struct panel *panel)
{
	double mfu = tsi_panel_value(panel, "efficiency.mfu").real;
	struct tscope_value uncapped = tsi_panel_value(panel, "efficiency.mfu_uncapped");
	const char *share = tsi_panel_number(panel, "efficiency.mfu");

	if (uncapped.real <= mfu)
		return share;
	return tsi_panel_print(panel, "%s, all that is computed; FLOPs say %s", share,
			       tsi_panel_people(panel, uncapped, TSCOPE_UNIT_RATIO));
}

/* " (FLOPs known for 3.1 % of matrix kernel time)", where that is too little for an MFU. */
static const char *name_known_part(const struct panel *panel)
{
	struct tscope_value coverage = tsi_panel_value(panel, "efficiency.flops_coverage_ratio");

	if (!tsi_panel_has(panel, "efficiency.flops_per_step") ||
	    tsi_panel_has(panel, "efficiency.mfu") || coverage.kind != TSCOPE_VALUE_REAL ||
	    coverage.real >= 0.5)
		return "";
	return tsi_panel_print(panel, " (FLOPs known for %s of matrix kernel time)",
			       tsi_panel_people(panel, coverage, TSCOPE_UNIT_RATIO));
}

/* "MFU 41.3 % · HFU 45.0 %", "MFU >= 31.0 %", or what is computing where it is not known. */
static const char *name_efficiency(const struct panel *panel)
{
	bool is_lower_bound = tsi_panel_is(panel, "efficiency.mfu_is_lower_bound");
	const char *at_least = is_lower_bound ? ">= " : "", *text;
	struct tscope_value hfu = tsi_panel_value(panel, "efficiency.hfu");

	if (!tsi_panel_has(panel, "efficiency.mfu"))
		return tsi_panel_print(panel, "MFU not known%s · computing %s of %s",
				       name_known_part(panel),
				       tsi_panel_number(panel, "efficiency.useful_ratio"),
				       tsi_panel_number(panel, "efficiency.mean_wall_ns"));
	text = tsi_panel_print(panel, "MFU %s%s", at_least, name_mfu(panel));
	if (hfu.real > tsi_panel_value(panel, "efficiency.mfu").real)
		tsi_panel_append(panel, &text, " · HFU %s%s", at_least,
				 tsi_panel_number(panel, "efficiency.hfu"));
	return text;
}

void tsi_section_efficiency(const struct panel *panel)
{
	int64_t wall_ns = tsi_panel_int(panel, "efficiency.wall_ns");
	bool has_records = panel->report && tsi_has_records(panel->report->run);
	bool has_flops = tsi_panel_has(panel, "efficiency.flops_per_step");

	/* A trace without matrix products has no MFU to speak of: its budget says it all. */
	if (wall_ns <= 0 ||
	    !(has_flops || has_records || tsi_panel_has(panel, "efficiency.flops_coverage_ratio")))
		return;
	tsi_panel_title(panel, DOC_GOOD, "efficiency", "EFFICIENCY", "%s", name_efficiency(panel));
	if (has_flops && *name_known_part(panel) == '\0')
		put_anchor(panel);
	put_doubts(panel);
	put_lines(panel, wall_ns);
}

/* ---- rooflines ---- */

void tsi_section_roofline(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "operator", "name", 0 },
		{ "tensors", "shape", 24 },
		{ "lost", "lost_ns", 10 },
		{ "roofline", "roofline_ratio", 9 },
		{ "device", "device_ns", 10 },
		{ "count", "count", 8 },
		{ "rate", "flops_per_second", 15 },
		{ "bytes", "bytes_per_second", 11 },
		{ "bound", "bound", 9 },
	};
	static const struct column uncounted_columns[] = {
		{ "FLOPs not known: kernel", "kernel", 0 },
		{ "operator", "op", 22 },
		{ "why", "why", 14 },
		{ "count", "count", 7 },
		{ "total", "total_ns", 11 },
	};
	const char *title;

	if (tsi_panel_row_count(panel, "flops.by_operator") == 0)
		return;
	title = tsi_panel_number(panel, "flops.total");
	if (tsi_panel_has(panel, "flops.lost_per_step_ns"))
		tsi_panel_append(panel, &title, " · operators lose %s per step",
				 tsi_panel_number(panel, "flops.lost_per_step_ns"));
	tsi_panel_title(panel, DOC_INFO, "flops", "ROOFLINE", "%s", title);
	tsi_panel_table(panel, "flops.by_operator", columns, TSI_COUNT_OF(columns));
	tsi_panel_kernels(panel, "flops.uncounted", uncounted_columns,
			  TSI_COUNT_OF(uncounted_columns));
}
