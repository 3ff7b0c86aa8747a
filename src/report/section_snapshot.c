/* SPDX-License-Identifier: MIT */
/*
 * Sections of the text report about a snapshot of CUDA's allocator: what filled the memory, when,
 * and what of it is in pieces. What is said of who allocated it is section_sites.c, of a failed
 * request section_oom.c.
 */
#include "report/section.h"

#include "base/attributes.h"
#include "report/snapshot_words.h"

#include <inttypes.h>
#include <string.h>

/* ---- the state at the end ---- */

static void put_parts(const struct panel *panel)
{
	static const struct {
		const char *label, *id;
		enum text_style style;
	} lines[] = {
		{ "allocated", "snapshot.allocated_bytes", TEXT_GREEN },
		{ "  rounding", "snapshot.rounding_bytes", TEXT_DIM },
		{ "freed, in use", "snapshot.pending_bytes", TEXT_YELLOW },
		{ "inactive split", "snapshot.inactive_split_bytes", TEXT_RED },
		{ "inactive pages", "snapshot.inactive_expandable_bytes", TEXT_YELLOW },
		{ "free segments", "snapshot.free_segment_bytes", TEXT_CYAN },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++) {
		int64_t part = tsi_snapshot_int(panel, lines[i].id);
		struct meter meter = {
			.label = lines[i].label,
			.part = part,
			.whole = tsi_snapshot_int(panel, "snapshot.reserved_bytes"),
			.shown = part,
			.style = lines[i].style,
			.unit = TSCOPE_UNIT_BYTES,
		};

		if (part > 0)
			tsi_panel_meter(panel, &meter);
	}
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
	char reserved[NUMBER_MAX], segments[COUNT_WORDS_MAX], blocks[COUNT_WORDS_MAX];

	tsi_panel_number(panel, "snapshot.reserved_bytes", reserved);
	tsi_count_words(panel, "snapshot.segment_count", "segment", segments);
	tsi_count_words(panel, "snapshot.block_count", "block", blocks);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", "SNAPSHOT", "%s reserved in %s of %s",
			reserved, segments, blocks);
	put_parts(panel);
	tsi_panel_figures(panel, figures, TSI_COUNT_OF(figures));
	if (conf.kind == TSCOPE_VALUE_TEXT && *conf.text != '\0') {
		tsi_text_put_styled(panel->w, TEXT_DIM, "  PYTORCH_CUDA_ALLOC_CONF  ");
		tsi_text_paragraph(panel->w, conf.text, 27);
	}
	put_totals(panel, "snapshot.by_device", "device", "device");
	put_totals(panel, "snapshot.by_stream", "stream", "stream");
	put_totals(panel, "snapshot.by_pool_id", "pool_id", "pool id");
	if (tsi_snapshot_int(panel, "snapshot.trace_entry_count") == 0) {
		tsi_text_put_styled(panel->w, TEXT_CYAN, "  record  ");
		tsi_text_paragraph(panel->w,
				   "torch.cuda.memory._record_memory_history() for memory over "
				   "time, and what was live at the peak",
				   10);
	}
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
	int64_t peak_device = tsi_snapshot_int(panel, "snapshot.peak_device");

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
static void format_time_left(const struct panel *panel, const struct curve *curve,
			     char text[2 * NUMBER_MAX])
{
	struct tscope_value peak = tsi_panel_value(panel, "snapshot.peak_time_ns"), last;
	char left[NUMBER_MAX];

	text[0] = '\0';
	if (curve->count == 0 || peak.kind != TSCOPE_VALUE_INT)
		return;
	last = tsi_table_find(&curve->timeline, curve->first + curve->count - 1, "time_ns");
	if (last.kind != TSCOPE_VALUE_INT || last.integer < peak.integer)
		return;
	tsi_number_people_int(left, last.integer - peak.integer, TSCOPE_UNIT_NS);
	snprintf(text, 2 * NUMBER_MAX, ", %s before the end", left);
}

/* "at entry 8,123 of 19,136" */
static void format_index(const struct panel *panel, char text[3 * NUMBER_MAX])
{
	char index[NUMBER_MAX], count[NUMBER_MAX];

	tsi_panel_number(panel, "snapshot.peak_index", index);
	tsi_panel_number(panel, "snapshot.trace_entry_count", count);
	if (tsi_snapshot_int(panel, "snapshot.peak_index") < 0)
		snprintf(text, 3 * NUMBER_MAX, "before the first entry");
	else
		snprintf(text, 3 * NUMBER_MAX, "at entry %s of %s", index, count);
}

/* "start 3.10 GiB · end 17.9 GiB · reserved at most 23.4 GiB" */
static void put_ends(const struct panel *panel)
{
	struct text_flow flow = { .w = panel->w, .separator = " · ", .indent = 2 };
	struct table_view curves = tsi_panel_rows(panel, "snapshot.curves");
	int64_t device = tsi_snapshot_int(panel, "snapshot.peak_device");
	char start[NUMBER_MAX], end[NUMBER_MAX], text[3 * NUMBER_MAX];

	for (size_t row = 0; row < curves.row_count; row++) {
		if (tsi_table_find(&curves, row, "device").integer != device ||
		    strcmp(tsi_table_find(&curves, row, "curve").text, "active") != 0)
			continue;
		tsi_number_people(start, tsi_table_find(&curves, row, "start_bytes"),
				  TSCOPE_UNIT_BYTES);
		tsi_number_people(end, tsi_table_find(&curves, row, "end_bytes"),
				  TSCOPE_UNIT_BYTES);
		snprintf(text, sizeof(text), "start %s", start);
		tsi_text_flow(&flow, text);
		snprintf(text, sizeof(text), "end %s", end);
		tsi_text_flow(&flow, text);
	}
	tsi_panel_number(panel, "snapshot.peak_reserved_bytes", end);
	snprintf(text, sizeof(text), "reserved at most %s", end);
	tsi_text_flow(&flow, text);
	tsi_panel_number(panel, "snapshot.window_ns", end);
	snprintf(text, sizeof(text), "window %s", end);
	if (tsi_panel_has(panel, "snapshot.window_ns"))
		tsi_text_flow(&flow, text);
	tsi_text_flow_end(&flow);
}

void tsi_section_snapshot_time(const struct panel *panel)
{
	static const struct column columns[] = {
		{ "memory", "curve", 0 },       { "device", "device", 8 },
		{ "start", "start_bytes", 11 }, { "end", "end_bytes", 11 },
		{ "peak", "peak_bytes", 11 },   { "at entry", "peak_index", 11 },
	};
	struct curve curve = peak_curve(panel);
	char peak[NUMBER_MAX], device[NUMBER_MAX], index[3 * NUMBER_MAX], time[2 * NUMBER_MAX];

	if (tsi_snapshot_int(panel, "snapshot.trace_entry_count") == 0 ||
	    !tsi_panel_has(panel, "snapshot.peak_allocated_bytes"))
		return;
	tsi_panel_number(panel, "snapshot.peak_allocated_bytes", peak);
	tsi_peak_device_words(panel, device);
	format_index(panel, index);
	format_time_left(panel, &curve, time);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", "MEMORY OVER TIME", "peak %s %s%s%s", peak,
			index, time, device);
	tsi_panel_sparkline(panel, &(struct sketch){ &curve, get_bytes, curve.count });
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
	int64_t split = tsi_snapshot_int(panel, "snapshot.inactive_split_bytes");
	int64_t pages = tsi_snapshot_int(panel, "snapshot.inactive_expandable_bytes");
	char bytes[NUMBER_MAX];

	if (split <= 0 && pages <= 0)
		return;
	tsi_number_people_int(bytes, split > INT64_MAX - pages ? INT64_MAX : split + pages,
			      TSCOPE_UNIT_BYTES);
	tsi_panel_title(panel, TEXT_CYAN, "snapshot", "SEGMENTS",
			"%s inactive in those that are in use, worst first", bytes);
	tsi_panel_ranking(panel, &ranking, columns, TSI_COUNT_OF(columns));
}
