/* SPDX-License-Identifier: MIT */
/*
 * Sections about a snapshot of CUDA's allocator: what filled the memory, when, and what of it is in
 * pieces. The sections about who allocated it are section_sites.c's, about a failed request
 * section_oom.c's.
 */
#include "report/section.h"
#include "report/snapshot_words.h"

#include <string.h>

/* ---- the state at the end ---- */

static void put_parts(const struct panel *panel)
{
	static const struct part parts[] = {
		{ "allocated", "snapshot.allocated_bytes", DOC_GOOD },
		{ "  rounding", "snapshot.rounding_bytes", DOC_FAINT },
		{ "freed, in use", "snapshot.pending_bytes", DOC_WARN },
		{ "inactive split", "snapshot.inactive_split_bytes", DOC_BAD },
		{ "inactive pages", "snapshot.inactive_expandable_bytes", DOC_WARN },
		{ "free segments", "snapshot.free_segment_bytes", DOC_INFO },
	};
	struct whole reserved = { .value = tsi_panel_int(panel, "snapshot.reserved_bytes") };

	tsi_panel_parts(panel, &reserved, parts, TSI_COUNT_OF(parts));
}

/* One row says no more than the whole. */
static void put_totals(const struct panel *panel, const char *id, const char *key,
		       const char *heading)
{
	const struct column columns[] = {
		{ heading, key, 0 },
		{ "segments", "segment_count", 10 },
		{ "reserved", "reserved_bytes", 11 },
		{ "allocated", "allocated_bytes", 11 },
		{ "inactive", "inactive_bytes", 11 },
		{ "largest free", "largest_free_bytes", 14 },
	};

	if (tsi_panel_rows(panel, id).row_count > 1)
		tsi_panel_table(panel, id, columns, TSI_COUNT_OF(columns));
}

void tsi_section_snapshot(const struct panel *panel)
{
	const struct figure figures[] = {
		{ "largest free block", "snapshot.largest_free_bytes" },
		{ "inactive", "snapshot.inactive_ratio" },
		{ tsi_has_many_devices(panel) ? "fragmentation of the worst device"
					      : "fragmentation of that",
		  "snapshot.fragmentation_ratio" },
		{ "expandable segments", "snapshot.expandable_segments" },
	};
	struct tscope_value conf = tsi_panel_value(panel, "snapshot.alloc_conf");

	tsi_panel_title(panel, DOC_INFO, "snapshot", "SNAPSHOT", "%s reserved in %s of %s",
			tsi_panel_number(panel, "snapshot.reserved_bytes"),
			tsi_count_words(panel, "snapshot.segment_count", "segment"),
			tsi_count_words(panel, "snapshot.block_count", "block"));
	put_parts(panel);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	if (conf.kind == TSCOPE_VALUE_TEXT && *conf.text != '\0')
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_FAINT, "PYTORCH_CUDA_ALLOC_CONF", "%s",
			     conf.text);
	put_totals(panel, "snapshot.by_device", "device", "device");
	put_totals(panel, "snapshot.by_stream", "stream", "stream");
	put_totals(panel, "snapshot.by_pool_id", "pool_id", "pool id");
	if (tsi_panel_int(panel, "snapshot.trace_entry_count") == 0)
		tsi_doc_line(panel->doc, DOC_TAGGED, DOC_INFO, "record",
			     "torch.cuda.memory._record_memory_history() for memory over "
			     "time, and what was live at the peak");
}

/* ---- over time ---- */

/* The rows of the timeline that are of one device. */
struct curve {
	struct table_view timeline;
	size_t first, count;
	size_t column;
};

static bool get_bytes(const void *source, size_t index, double *value)
{
	const struct curve *curve = source;
	struct tscope_value bytes =
		tsi_table_cell(&curve->timeline, curve->first + index, curve->column);

	*value = (double)bytes.integer;
	return bytes.kind == TSCOPE_VALUE_INT;
}

static struct curve peak_curve(const struct panel *panel)
{
	struct curve curve = { .timeline = tsi_panel_rows(panel, "snapshot.timeline") };
	size_t device = tsi_table_column(&curve.timeline, "device");
	int64_t peak_device = tsi_panel_int(panel, "snapshot.peak_device");

	curve.column = tsi_table_column(&curve.timeline, "active_bytes");
	for (size_t row = 0; row < curve.timeline.row_count; row++) {
		if (tsi_table_cell(&curve.timeline, row, device).integer != peak_device)
			continue;
		if (curve.count++ == 0)
			curve.first = row;
	}
	return curve;
}

/* ", 1.23 s before the end" */
static const char *name_time_left(const struct panel *panel, const struct curve *curve)
{
	struct tscope_value peak = tsi_panel_value(panel, "snapshot.peak_time_ns"), last;

	if (curve->count == 0 || peak.kind != TSCOPE_VALUE_INT)
		return "";
	last = tsi_table_find(&curve->timeline, curve->first + curve->count - 1, "time_ns");
	if (last.kind != TSCOPE_VALUE_INT || last.integer < peak.integer)
		return "";
	return tsi_panel_print(
		panel, ", %s before the end",
		tsi_panel_people_int(panel, last.integer - peak.integer, TSCOPE_UNIT_NS));
}

/* "at entry 8,123 of 19,136" */
static const char *name_index(const struct panel *panel)
{
	if (tsi_panel_int(panel, "snapshot.peak_index") < 0)
		return "before the first entry";
	return tsi_panel_print(panel, "at entry %s of %s",
			       tsi_panel_number(panel, "snapshot.peak_index"),
			       tsi_panel_number(panel, "snapshot.trace_entry_count"));
}

/* "start 3.10 GiB · end 17.9 GiB · reserved at most 23.4 GiB" */
static void put_ends(const struct panel *panel)
{
	static const struct figure figures[] = {
		{ "reserved at most", "snapshot.peak_reserved_bytes" },
		{ "window", "snapshot.window_ns" },
	};
	struct doc_line *line = tsi_doc_items(panel->doc, DOC_FIGURES, DOC_PLAIN, NULL);
	struct table_view curves = tsi_panel_rows(panel, "snapshot.curves");
	int64_t device = tsi_panel_int(panel, "snapshot.peak_device");

	for (size_t row = 0; row < curves.row_count; row++) {
		if (tsi_table_find(&curves, row, "device").integer != device ||
		    strcmp(tsi_table_find(&curves, row, "curve").text, "active") != 0)
			continue;
		tsi_doc_figure(panel->doc, line, "start",
			       tsi_table_find(&curves, row, "start_bytes"), TSCOPE_UNIT_BYTES);
		tsi_doc_figure(panel->doc, line, "end", tsi_table_find(&curves, row, "end_bytes"),
			       TSCOPE_UNIT_BYTES);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(figures); i++)
		if (i == 0 || tsi_panel_has(panel, figures[i].id))
			tsi_doc_item(panel->doc, line, "%s %s", figures[i].label,
				     tsi_panel_number(panel, figures[i].id));
}

void tsi_section_snapshot_time(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "memory", "curve", 0 },       { "device", "device", 8 },
		{ "start", "start_bytes", 11 }, { "end", "end_bytes", 11 },
		{ "peak", "peak_bytes", 11 },   { "at entry", "peak_index", 11 },
	};
	struct curve curve = peak_curve(panel);

	if (tsi_panel_int(panel, "snapshot.trace_entry_count") == 0 ||
	    !tsi_panel_has(panel, "snapshot.peak_allocated_bytes"))
		return;
	tsi_panel_title(panel, DOC_INFO, "snapshot", "MEMORY OVER TIME", "peak %s %s%s%s",
			tsi_panel_number(panel, "snapshot.peak_allocated_bytes"), name_index(panel),
			name_time_left(panel, &curve), tsi_peak_device_words(panel));
	tsi_doc_series(panel->doc,
		       &(struct doc_series){ tsi_doc_copy(panel->doc, &curve, sizeof(curve)),
					     get_bytes, curve.count });
	put_ends(panel);
	if (tsi_has_many_devices(panel))
		tsi_panel_table(panel, "snapshot.curves", columns, TSI_COUNT_OF(columns));
}

/* ---- pieces ---- */

void tsi_section_snapshot_segments(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "segment", "address", 0 },          { "pool", "pool", 9 },
		{ "size", "reserved_bytes", 10 },     { "in use", "active_bytes", 10 },
		{ "inactive", "inactive_bytes", 10 }, { "largest free", "largest_free_bytes", 14 },
		{ "blocks", "block_count", 8 },
	};
	static const struct ranking ranking = { "snapshot.segments", "inactive_bytes",
						"active_bytes", NULL };
	int64_t split = tsi_panel_int(panel, "snapshot.inactive_split_bytes");
	int64_t pages = tsi_panel_int(panel, "snapshot.inactive_expandable_bytes");

	if (split <= 0 && pages <= 0)
		return;
	tsi_panel_title(panel, DOC_INFO, "snapshot", "SEGMENTS",
			"%s inactive in those that are in use, worst first",
			tsi_panel_people_int(panel,
					     split > INT64_MAX - pages ? INT64_MAX : split + pages,
					     TSCOPE_UNIT_BYTES));
	tsi_panel_ranking(panel, &ranking, columns, TSI_COUNT_OF(columns));
}
