/* SPDX-License-Identifier: MIT */
/*
 * Sections about files that describe memory without the allocator's blocks:
 * the timeline of torch.profiler, finetuning-scheduler's statistics, the logs of torch's trackers.
 */
#include "report/section.h"

#include "base/print_text.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

/* ---- timeline ---- */

/* " 1.20 s after the start"; "" where there are no times. */
static const char *name_peak_time(const struct panel *panel)
{
	struct tscope_value peak = tsi_panel_value(panel, "memory_timeline.peak_time_ns");
	struct tscope_value start = tsi_panel_value(panel, "memory_timeline.start_time_ns");

	if (peak.kind != TSCOPE_VALUE_INT || start.kind != TSCOPE_VALUE_INT ||
	    peak.integer < start.integer)
		return "";
	return tsi_panel_print(
		panel, " %s after the start",
		tsi_panel_people_int(panel, peak.integer - start.integer, TSCOPE_UNIT_NS));
}

void tsi_section_memory_timeline(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "end", "memory_timeline.end_bytes" },
		{ "before the profile", "memory_timeline.preexisting_bytes" },
		{ "window", "memory_timeline.window_ns" },
		{ "created", "memory_timeline.created_count" },
		{ "destroyed", "memory_timeline.destroyed_count" },
	};
	static const struct column columns[] = {
		{ "category", "category", 0 },
		{ "at the peak", "peak_bytes", 13 },
		{ "at the end", "end_bytes", 13 },
		{ "at most", "own_peak_bytes", 13 },
	};
	static const struct ranking ranking = {
		.table = "memory_timeline.by_category",
		.by = "own_peak_bytes",
	};

	tsi_panel_title(panel, DOC_INFO, "memory_timeline", "MEMORY TIMELINE", "peak %s%s",
			tsi_panel_number(panel, "memory_timeline.peak_bytes"),
			name_peak_time(panel));
	tsi_panel_curve(panel, "memory_timeline.timeline", "bytes", 3);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	tsi_panel_ranking(panel, &ranking, columns, TSI_COUNT_OF(columns));
}

/* ---- statistics ---- */

/* A line with a name of the input in it: what is longer is cut. */
enum { NAMED_MAX = 512 };

/* The largest value of a name; ABSENT where the user did not have it kept. */
static struct tscope_value largest(const struct table_view *view, const char *name)
{
	for (size_t row = 0; row < view->row_count; row++)
		if (strcmp(tsi_table_text(view, row, "name"), name) == 0)
			return tsi_table_find(view, row, "value");
	return (struct tscope_value){ .kind = TSCOPE_VALUE_ABSENT };
}

/* The names that say most: "  at most  allocated 1.20 GiB · active 1.50 GiB". */
static void put_largest(const struct panel *panel)
{
	static const struct {
		const char *label, *name;
		enum tscope_unit unit;
	} shown[] = {
		{ "allocated", "allocated_bytes.all.peak", TSCOPE_UNIT_BYTES },
		{ "active", "active_bytes.all.peak", TSCOPE_UNIT_BYTES },
		{ "reserved", "reserved_bytes.all.peak", TSCOPE_UNIT_BYTES },
		{ "inactive split", "inactive_split_bytes.all.peak", TSCOPE_UNIT_BYTES },
		{ "retries", "num_alloc_retries", TSCOPE_UNIT_COUNT },
		{ "OOMs", "num_ooms", TSCOPE_UNIT_COUNT },
		{ "host memory (rss)", "rss", TSCOPE_UNIT_BYTES },
		{ "host growth", "rss_diff", TSCOPE_UNIT_BYTES },
	};
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_TAGGED, DOC_FAINT, "at most");
	struct table_view view = tsi_panel_rows(panel, "memory_stats.largest");

	for (size_t i = 0; i < TSI_COUNT_OF(shown); i++) {
		struct tscope_value value = largest(&view, shown[i].name);

		if (value.kind != TSCOPE_VALUE_ABSENT)
			tsi_doc_figure(panel->doc, line, shown[i].label, value, shown[i].unit);
	}
	if (line && line->item_count == 0)
		tsi_doc_item(panel->doc, line, "-");
}

/* "  allocated memory grows by 1.50 MiB per call of training_step" */
static void put_growth(const struct panel *panel)
{
	struct tscope_value growth = tsi_panel_value(panel, "memory_stats.growth_bytes_per_call");
	struct tscope_value function = tsi_panel_value(panel, "memory_stats.growth_function");
	char text[NAMED_MAX];
	bool is_shrinking;

	if (growth.kind != TSCOPE_VALUE_REAL || function.kind != TSCOPE_VALUE_TEXT)
		return;
	is_shrinking = growth.real < 0;
	growth.real = fabs(growth.real);
	tsi_print_text(text, sizeof(text), "allocated memory %s by %s per call of %s",
		       is_shrinking ? "shrinks" : "grows",
		       tsi_panel_people(panel, growth, TSCOPE_UNIT_BYTES), function.text);
	tsi_doc_note(panel->doc, "%s", text);
}

void tsi_section_memory_stats(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "function", "function", 0 },
		{ "calls", "call_count", 8 },
		{ "+ allocated", "allocated_change_bytes", 13 },
		{ "+ reserved", "reserved_change_bytes", 13 },
		{ "+ host (rss)", "rss_change_bytes", 14 },
		{ "rank", "rank", 6 }, /* the last: only where there are several */
	};
	bool has_ranks = tsi_panel_int(panel, "memory_stats.rank_count") > 1;

	tsi_panel_title(panel, DOC_INFO, "memory_stats", "MEMORY STATISTICS",
			"moments %s · calls %s · values %s",
			tsi_panel_number(panel, "memory_stats.moment_count"),
			tsi_panel_number(panel, "memory_stats.call_count"),
			tsi_panel_number(panel, "memory_stats.value_count"));
	put_largest(panel);
	put_growth(panel);
	tsi_panel_table(panel, "memory_stats.by_function", columns,
			TSI_COUNT_OF(columns) - (has_ranks ? 0 : 1));
}

/* ---- tracker ---- */

/* The kinds at the peak, as parts of it. */
static void put_peak(const struct panel *panel, const char *device, int64_t whole)
{
	struct table_view view = tsi_panel_rows(panel, "memory_tracker.peak");

	for (size_t row = 0; row < view.row_count; row++) {
		int64_t part = tsi_table_find(&view, row, "bytes").integer;
		struct doc_meter meter = {
			.label = tsi_table_text(&view, row, "kind"),
			.part = part,
			.whole = whole,
			.shown = part,
			.tone = DOC_GOOD,
			.unit = TSCOPE_UNIT_BYTES,
		};

		if (part > 0 && strcmp(tsi_table_text(&view, row, "device"), device) == 0)
			tsi_doc_meter(panel->doc, &meter);
	}
}

/* "  training_step, iteration 2, on cuda:0" */
static void put_call(const struct panel *panel, const char *device)
{
	struct tscope_value function = tsi_panel_value(panel, "memory_tracker.function");
	char text[NAMED_MAX];

	tsi_print_text(text, sizeof(text), "%s, iteration %s%s%s",
		       function.kind == TSCOPE_VALUE_TEXT ? function.text : "-",
		       tsi_panel_number(panel, "memory_tracker.iteration"),
		       *device != '\0' ? ", on " : "", device);
	tsi_doc_note(panel->doc, "%s", text);
}

void tsi_section_memory_tracker(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "module", "module", 0 }, { "memory", "total_bytes", 11 }, { "call", "call", 6 },
		{ "state", "state", 23 },  { "device", "device", 10 },
	};
	static const struct ranking ranking = {
		.table = "memory_tracker.modules",
		.by = "total_bytes",
	};
	const char *device = tsi_panel_text(panel, "memory_tracker.peak_device");

	tsi_panel_title(panel, DOC_INFO, "memory_tracker", "MEMORY TRACKER", "peak %s",
			tsi_panel_number(panel, "memory_tracker.peak_bytes"));
	put_call(panel, device);
	put_peak(panel, device, tsi_panel_int(panel, "memory_tracker.peak_bytes"));
	tsi_panel_ranking(panel, &ranking, columns, TSI_COUNT_OF(columns));
}
