/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about how well the device is used: MFU with all
 * that it rests on, and the operators that lose most against their rooflines.
 */
#include "report/section.h"

#include "analyze/lookup.h"
#include "base/attributes.h"

#include <string.h>

/* A fact that is a text, or "". */
static const char *text_of(const struct panel *panel, const char *id)
{
	struct tscope_value value = tsi_panel_value(panel, id);

	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

/* ---- efficiency ---- */

static bool is_lower_bound(const struct panel *panel)
{
	struct tscope_value value = tsi_panel_value(panel, "efficiency.mfu_is_lower_bound");

	return value.kind == TSCOPE_VALUE_FLAG && value.flag;
}

static enum text_style style_of_line(const char *line)
{
	if (strcmp(line, "useful_compute") == 0)
		return TEXT_GREEN;
	return strcmp(line, "data_stall") == 0 ? TEXT_RED : TEXT_YELLOW;
}

/* "data_stall" → "data stall" */
static void in_words(char words[NUMBER_MAX], const char *name)
{
	snprintf(words, NUMBER_MAX, "%s", name);
	for (char *p = words; *p != '\0'; p++)
		if (*p == '_')
			*p = ' ';
}

/* The lines, as parts of a mean step. */
static void put_lines(const struct panel *panel, int64_t wall_ns)
{
	double steps = (double)wall_ns / (double)tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE,
								"efficiency.mean_wall_ns");
	struct table_view lines =
		tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "efficiency.lines");
	size_t name = tsi_table_column(&lines, "line");
	size_t time = tsi_table_column(&lines, "ns");
	bool is_split = tsi_panel_has(panel, "efficiency.mfu") && !is_lower_bound(panel);

	for (size_t row = 0; row < lines.row_count; row++) {
		int64_t part_ns = tsi_table_cell(&lines, row, time).integer;
		const char *line = tsi_table_cell(&lines, row, name).text;
		char label[NUMBER_MAX];

		if (part_ns <= 0)
			continue;
		/* What of the computing is useful only FLOPs tell. */
		in_words(label, strcmp(line, "useful_compute") != 0 || is_split ? line : "compute");
		tsi_panel_meter(panel, &(struct meter){ label, part_ns, wall_ns,
							(int64_t)((double)part_ns / steps + 0.5),
							style_of_line(line), TSCOPE_UNIT_NS });
	}
}

enum { ANCHOR_MAX = 6 * NUMBER_MAX };

/*
 * Coverage as people read it. What is a lower bound because of it never reads as if it were
 * enough.
 */
static void name_coverage(const struct panel *panel, char text[NUMBER_MAX])
{
	struct tscope_value coverage = tsi_panel_value(panel, "efficiency.flops_coverage_ratio");
	const double most_shown = 0.899;

	if (is_lower_bound(panel) && coverage.real > most_shown)
		coverage.real = most_shown;
	tsi_number_people(text, coverage, TSCOPE_UNIT_RATIO);
}

/* "shapes 98.2 %": who tells the FLOPs, and of how much of the matrix kernels' time. */
static void name_flops_source(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	static const struct {
		const char *source, *words;
	} sources[] = {
		{ "option", "--flops-per-step" },
		{ "model", "--model" },
		{ "run.json", "run.json" },
		{ "operators", "shapes" },
	};
	const char *source = text_of(panel, "efficiency.flops_source"), *words = "";
	bool has_coverage = tsi_panel_has(panel, "efficiency.flops_coverage_ratio");
	uint32_t device_count = tscope_analysis_device_count(panel->analysis);
	char coverage[NUMBER_MAX] = "", devices[NUMBER_MAX] = "";

	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++)
		if (strcmp(source, sources[i].source) == 0)
			words = sources[i].words;
	if (has_coverage)
		name_coverage(panel, coverage);
	if (device_count > 1)
		snprintf(devices, sizeof(devices), ", mean of %u devices", (unsigned)device_count);
	snprintf(text, 3 * NUMBER_MAX, "%s%s%s%s", words, has_coverage ? " " : "", coverage,
		 devices);
}

/* "H100 SXM5 bf16": who tells the peak. */
static void name_peak_source(const struct panel *panel, char text[2 * NUMBER_MAX])
{
	const char *source = text_of(panel, "efficiency.peak_source");

	if (strcmp(source, "option") == 0)
		source = "--peak-tflops";
	if (strcmp(source, "device") != 0)
		snprintf(text, 2 * NUMBER_MAX, "%s", source);
	else
		snprintf(text, 2 * NUMBER_MAX, "%s %s", text_of(panel, "efficiency.device"),
			 text_of(panel, "efficiency.precision"));
}

/*
 * "412.3 TFLOP (shapes 98.2 %) ÷ 1.009 s ÷ 989.4 TFLOP/s (H100 SXM5 bf16)": the MFU is what
 * these come to, so that a reader can check it.
 */
static void put_anchor(const struct panel *panel)
{
	char flops[NUMBER_MAX], wall[NUMBER_MAX], peak[NUMBER_MAX], source[3 * NUMBER_MAX];
	char text[ANCHOR_MAX];
	size_t length;

	tsi_panel_number(panel, "efficiency.flops_per_step", flops);
	tsi_panel_number(panel, "efficiency.mean_wall_ns", wall);
	tsi_panel_number(panel, "efficiency.peak_flops", peak);
	name_flops_source(panel, source);
	length = (size_t)snprintf(text, sizeof(text), "%s (%s) ÷ %s", flops, source, wall);
	if (tsi_panel_has(panel, "efficiency.peak_flops")) {
		name_peak_source(panel, source);
		snprintf(text + length, sizeof(text) - length, " ÷ %s (%s)", peak, source);
	}
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, text, 2);
}

static void put_doubt(const struct panel *panel, const char *doubt)
{
	tsi_text_style(panel->w, TEXT_DIM);
	tsi_text_put(panel->w, "  ");
	tsi_text_paragraph(panel->w, doubt, 2);
	tsi_text_style(panel->w, TEXT_PLAIN);
}

/* Why the MFU is not known, or a lower bound; and of FLOPs that are there, likewise. */
static void put_doubts(const struct panel *panel)
{
	const char *of_mfu = tsi_lookup_doubt(panel->analysis, "efficiency.mfu");
	const char *of_flops = tsi_lookup_doubt(panel->analysis, "efficiency.flops_per_step");

	if (of_mfu)
		put_doubt(panel, of_mfu);
	if (of_flops && strcmp(of_flops, of_mfu ? of_mfu : "") != 0)
		put_doubt(panel, of_flops);
}

/* Where more FLOPs were counted than fit into the computing, the reader is told what they give. */
static void name_mfu(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	double mfu = tsi_panel_value(panel, "efficiency.mfu").real;
	struct tscope_value uncapped = tsi_panel_value(panel, "efficiency.mfu_uncapped");
	char share[NUMBER_MAX], more[NUMBER_MAX];

	tsi_panel_number(panel, "efficiency.mfu", share);
	tsi_number_people(more, uncapped, TSCOPE_UNIT_RATIO);
	if (uncapped.real > mfu)
		snprintf(text, 3 * NUMBER_MAX, "%s, all that is computed; FLOPs say %s", share,
			 more);
	else
		snprintf(text, 3 * NUMBER_MAX, "%s", share);
}

/* "MFU 41.3 % · HFU 45.0 %", "MFU at least 31.0 %", or what is computing where it is not known. */
static void format_title(const struct panel *panel, char *text, size_t size)
{
	const char *at_least = is_lower_bound(panel) ? "at least " : "";
	struct tscope_value hfu = tsi_panel_value(panel, "efficiency.hfu");
	char mfu[3 * NUMBER_MAX], share[NUMBER_MAX], wall[NUMBER_MAX];

	if (!tsi_panel_has(panel, "efficiency.mfu")) {
		tsi_panel_number(panel, "efficiency.useful_ratio", share);
		tsi_panel_number(panel, "efficiency.mean_wall_ns", wall);
		snprintf(text, size, "MFU not known · computing %s of %s", share, wall);
		return;
	}
	name_mfu(panel, mfu);
	tsi_panel_number(panel, "efficiency.hfu", share);
	if (hfu.real > tsi_panel_value(panel, "efficiency.mfu").real)
		snprintf(text, size, "MFU %s%s · HFU %s%s", at_least, mfu, at_least, share);
	else
		snprintf(text, size, "MFU %s%s", at_least, mfu);
}

void tsi_section_efficiency(const struct panel *panel)
{
	int64_t wall_ns = tsi_lookup_int(panel->analysis, TSCOPE_WHOLE_TRACE, "efficiency.wall_ns");
	bool has_records = panel->report && tsi_has_records(panel->report->run);
	bool has_flops = tsi_panel_has(panel, "efficiency.flops_per_step");
	char title[6 * NUMBER_MAX];

	/* A trace without matrix products has no MFU to speak of: its budget says it all. */
	if (wall_ns <= 0 ||
	    !(has_flops || has_records || tsi_panel_has(panel, "efficiency.flops_coverage_ratio")))
		return;
	format_title(panel, title, sizeof(title));
	tsi_panel_title(panel, TEXT_GREEN, "efficiency", "EFFICIENCY", "%s", title);
	if (has_flops)
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
	char lost[NUMBER_MAX], total[NUMBER_MAX];

	if (tsi_lookup_table(panel->analysis, TSCOPE_WHOLE_TRACE, "flops.by_operator").row_count ==
	    0)
		return;
	tsi_panel_number(panel, "flops.lost_per_step_ns", lost);
	tsi_panel_number(panel, "flops.total", total);
	if (tsi_panel_has(panel, "flops.lost_per_step_ns"))
		tsi_panel_title(panel, TEXT_CYAN, "flops", "ROOFLINE",
				"%s · operators lose %s a step", total, lost);
	else
		tsi_panel_title(panel, TEXT_CYAN, "flops", "ROOFLINE", "%s", total);
	tsi_panel_table(panel, "flops.by_operator", columns, TSI_COUNT_OF(columns));
	tsi_panel_table(panel, "flops.uncounted", uncounted_columns,
			TSI_COUNT_OF(uncounted_columns));
}
