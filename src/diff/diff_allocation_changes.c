/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots of memory: what is live by allocation site, and which segments only one has.
 * Addresses are those of one process: two processes have no segment in common.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"
#include "diff/site_match.h"
#include "diff/snapshot_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(A_BYTES, "a_bytes", BYTES,                                                               \
	  "requested by blocks that live at the end of A, of all devices")                         \
	X(B_BYTES, "b_bytes", BYTES, "and of B")                                                   \
	X(CHANGE_BYTES, "change_bytes", BYTES, "b_bytes less a_bytes")                             \
	X(A_PEAK_BYTES, "a_peak_bytes", BYTES,                                                     \
	  "requested at the peak of A, on the device where that is most")                          \
	X(B_PEAK_BYTES, "b_peak_bytes", BYTES, "and of B")                                         \
	X(PEAK_CHANGE_BYTES, "peak_change_bytes", BYTES, "b_peak_bytes less a_peak_bytes")         \
	X(A_COUNT, "a_count", COUNT, "blocks that live at the end of A")                           \
	X(B_COUNT, "b_count", COUNT, "and of B")                                                   \
	X(SITE_COUNT, "site_count", COUNT, "sites with a change (not the same)")                   \
	X(COMMON_SEGMENT_COUNT, "common_segment_count", COUNT,                                     \
	  "segments of both: same device, address and size")                                       \
	X(ONLY_A_SEGMENT_COUNT, "only_a_segment_count", COUNT, "segments that B has not")          \
	X(ONLY_B_SEGMENT_COUNT, "only_b_segment_count", COUNT, "segments that A has not")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define SITE_COLUMNS(X)                                                                            \
	X(SITE_DEVICE, "device", COUNT,                                                            \
	  "device; that of B where each side has one, of another number")                          \
	X(SITE_SITE, "site", TEXT, "as in snapshot.sites")                                         \
	X(SITE_CHANGE, "change", TEXT,                                                             \
	  "new, gone, grew, shrank (at the end; where that is equal, at the peak), moved (same "   \
	  "bytes, other count) or same")                                                           \
	X(SITE_A_BYTES, "a_bytes", BYTES, "live at the end of A")                                  \
	X(SITE_B_BYTES, "b_bytes", BYTES, "and of B")                                              \
	X(SITE_CHANGE_BYTES, "change_bytes", BYTES, "b_bytes less a_bytes")                        \
	X(SITE_A_COUNT, "a_count", COUNT, "blocks of these in A")                                  \
	X(SITE_B_COUNT, "b_count", COUNT, "and in B")                                              \
	X(SITE_A_PEAK_BYTES, "a_peak_bytes", BYTES, "live at the peak of A")                       \
	X(SITE_B_PEAK_BYTES, "b_peak_bytes", BYTES, "and of B")                                    \
	X(SITE_PEAK_CHANGE_BYTES, "peak_change_bytes", BYTES, "b_peak_bytes less a_peak_bytes")

TSI_FACT_LIST(enum site_column, site_columns, SITE_COLUMNS);

#define SEGMENT_COLUMNS(X)                                                                         \
	X(SEGMENT_SIDE, "side", TEXT, "a or b")                                                    \
	X(SEGMENT_DEVICE, "device", COUNT, "device")                                               \
	X(SEGMENT_ADDRESS, "address", TEXT, "in hexadecimal")                                      \
	X(SEGMENT_POOL, "pool", TEXT, "small or large")                                            \
	X(SEGMENT_KIND, "kind", TEXT, "plain or expandable")                                       \
	X(SEGMENT_RESERVED_BYTES, "reserved_bytes", BYTES, "its size")                             \
	X(SEGMENT_ALLOCATED_BYTES, "allocated_bytes", BYTES, "blocks handed out")

TSI_FACT_LIST(enum segment_column, segment_columns, SEGMENT_COLUMNS);

#define TABLES(X)                                                                                  \
	X(SITES_TABLE, "sites", site_columns,                                                      \
	  "allocation sites, the largest change at the end first, then at the peak")               \
	X(SEGMENTS_TABLE, "segments", segment_columns,                                             \
	  "segments that only one side has; empty where they have none in common, as those of "    \
	  "two processes")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* ---- sites --------------------------------------------------------------------------------- */

/* The sheet being filled, and its source. */
struct filling {
	struct snapshot_pair pair;
	struct fact_sheet *out;
};

/* NULL: it is the same. */
static const char *change_word(const struct site_pair *site)
{
	int64_t change = site->change.end_bytes ? site->change.end_bytes : site->change.peak_bytes;

	if (!site->is_there[TSCOPE_SIDE_A])
		return "new";
	if (!site->is_there[TSCOPE_SIDE_B])
		return "gone";
	if (change)
		return change > 0 ? "grew" : "shrank";
	return site->change.end_count ? "moved" : NULL;
}

static void put_site(const struct filling *filling, const struct site_pair *site)
{
	const struct site_amounts *a = &site->of[TSCOPE_SIDE_A], *b = &site->of[TSCOPE_SIDE_B];
	const char *word = change_word(site);
	struct tscope_value *cells = tsi_table_row(filling->out, SITES_TABLE);

	cells[SITE_DEVICE] = tsi_int(site->device);
	cells[SITE_SITE] = tsi_text(site->text);
	cells[SITE_CHANGE] = tsi_text(word ? word : "same");
	cells[SITE_A_BYTES] = tsi_int(a->end_bytes);
	cells[SITE_B_BYTES] = tsi_int(b->end_bytes);
	cells[SITE_CHANGE_BYTES] = tsi_int(site->change.end_bytes);
	cells[SITE_A_COUNT] = tsi_int(a->end_count);
	cells[SITE_B_COUNT] = tsi_int(b->end_count);
	cells[SITE_A_PEAK_BYTES] = tsi_int(a->peak_bytes);
	cells[SITE_B_PEAK_BYTES] = tsi_int(b->peak_bytes);
	cells[SITE_PEAK_CHANGE_BYTES] = tsi_int(site->change.peak_bytes);
}

static void put_sites(const struct filling *filling)
{
	struct site_pairs sites = tsi_match_sites(&filling->pair, tsi_sheet_scratch(filling->out));
	int64_t changed_count = 0;

	for (size_t i = 0; i < sites.count; i++) {
		put_site(filling, &sites.items[i]);
		changed_count += change_word(&sites.items[i]) != NULL;
	}
	tsi_fact_int(filling->out, SITE_COUNT, changed_count);
}

/* ---- segments ------------------------------------------------------------------------------ */

struct segment {
	int64_t device, reserved_bytes;
	const char *address;
	size_t side, row;
};

static int compare_segments(const struct segment *a, const struct segment *b)
{
	TSI_ASCENDING(a->device, b->device);
	int order = strcmp(a->address, b->address);
	if (order)
		return order;
	return (a->reserved_bytes > b->reserved_bytes) - (a->reserved_bytes < b->reserved_bytes);
}

static int by_address(const void *left, const void *right)
{
	const struct segment *a = left, *b = right;
	int order = compare_segments(a, b);

	if (order)
		return order;
	TSI_ASCENDING(a->side, b->side);
	return (a->row > b->row) - (a->row < b->row);
}

static size_t collect_segments(struct segment *segments, const struct filling *filling)
{
	size_t count = 0;

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		const struct snapshot_rows *rows = &filling->pair.segments[side];
		for (size_t row = 0; row < rows->view.row_count; row++)
			segments[count++] = (struct segment){
				.device = tsi_rows_device(&filling->pair, rows, row),
				.reserved_bytes = tsi_rows_int(rows, row, READ_RESERVED),
				.address = tsi_rows_text(rows, row, READ_ADDRESS),
				.side = side,
				.row = row,
			};
	}
	qsort(segments, count, sizeof(*segments), by_address);
	return count;
}

/* Leaves those that have none like them on the other side; how many these are. */
static size_t drop_pairs(struct segment *segments, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		/* Equal segments are sorted A first: each of B removes the last one left. */
		bool is_pair = kept > 0 && segments[i].side == TSCOPE_SIDE_B &&
			       segments[kept - 1].side == TSCOPE_SIDE_A &&
			       compare_segments(&segments[kept - 1], &segments[i]) == 0;
		if (is_pair)
			kept--;
		else
			segments[kept++] = segments[i];
	}
	return kept;
}

static void put_segment(const struct filling *filling, const struct segment *segment)
{
	const struct snapshot_rows *rows = &filling->pair.segments[segment->side];
	struct tscope_value *cells = tsi_table_row(filling->out, SEGMENTS_TABLE);

	cells[SEGMENT_SIDE] = tsi_text(segment->side == TSCOPE_SIDE_A ? "a" : "b");
	cells[SEGMENT_DEVICE] = tsi_rows_cell(rows, segment->row, READ_DEVICE);
	cells[SEGMENT_ADDRESS] = tsi_text(segment->address);
	cells[SEGMENT_POOL] = tsi_rows_cell(rows, segment->row, READ_POOL);
	cells[SEGMENT_KIND] = tsi_rows_cell(rows, segment->row, READ_KIND);
	cells[SEGMENT_RESERVED_BYTES] = tsi_int(segment->reserved_bytes);
	cells[SEGMENT_ALLOCATED_BYTES] = tsi_rows_cell(rows, segment->row, READ_ALLOCATED);
}

static void put_segments(const struct filling *filling)
{
	const struct snapshot_rows *rows = filling->pair.segments;
	size_t most = rows[TSCOPE_SIDE_A].view.row_count + rows[TSCOPE_SIDE_B].view.row_count;
	struct segment *segments =
		tsi_arena_new(tsi_sheet_scratch(filling->out), most, sizeof(*segments));

	if (!segments)
		return;
	size_t count = collect_segments(segments, filling);
	size_t left = drop_pairs(segments, count), common = (count - left) / 2;
	int64_t only_a = 0;

	for (size_t i = 0; i < left; i++)
		only_a += segments[i].side == TSCOPE_SIDE_A;
	tsi_fact_int(filling->out, COMMON_SEGMENT_COUNT, (int64_t)common);
	tsi_fact_int(filling->out, ONLY_A_SEGMENT_COUNT, only_a);
	tsi_fact_int(filling->out, ONLY_B_SEGMENT_COUNT, (int64_t)left - only_a);
	for (size_t i = 0; common > 0 && i < left; i++)
		put_segment(filling, &segments[i]);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static const char peak_fact[] = "snapshot.peak_allocated_bytes";

/* Totals of one side, summed over its sites so that both agree. */
struct figures {
	int64_t bytes, count, peak_bytes;
	bool has_peak;
	const char *peak_doubt;
};

static struct figures figures_of(const struct tscope_analysis *analysis,
				 const struct snapshot_rows *sites)
{
	struct tscope_value peak = tsi_lookup(analysis, peak_fact);
	struct figures figures = { .peak_doubt = tsi_lookup_doubt(analysis, peak_fact) };

	for (size_t row = 0; row < sites->view.row_count; row++) {
		tsi_sum_signed(&figures.bytes, tsi_rows_int(sites, row, READ_END_BYTES));
		tsi_sum_signed(&figures.count, tsi_rows_int(sites, row, READ_END_COUNT));
	}
	figures.has_peak = peak.kind == TSCOPE_VALUE_INT;
	if (figures.has_peak)
		figures.peak_bytes = peak.integer;
	return figures;
}

static void put_figures(struct fact_sheet *out, const struct figures *figures, size_t side)
{
	static const struct {
		enum fact bytes, peak_bytes, count;
	} names[TSCOPE_SIDE_COUNT] = {
		[TSCOPE_SIDE_A] = { A_BYTES, A_PEAK_BYTES, A_COUNT },
		[TSCOPE_SIDE_B] = { B_BYTES, B_PEAK_BYTES, B_COUNT },
	};

	tsi_fact_int(out, names[side].bytes, figures->bytes);
	tsi_fact_int(out, names[side].count, figures->count);
	if (figures->has_peak)
		tsi_fact_int(out, names[side].peak_bytes, figures->peak_bytes);
	if (!figures->peak_doubt)
		return;
	tsi_fact_doubt(out, names[side].peak_bytes, figures->peak_doubt);
	tsi_fact_doubt(out, PEAK_CHANGE_BYTES, figures->peak_doubt);
}

static void put_changes(struct fact_sheet *out, const struct figures *a, const struct figures *b)
{
	tsi_fact_int(out, CHANGE_BYTES, tsi_difference(a->bytes, b->bytes));
	if (a->has_peak && b->has_peak)
		tsi_fact_int(out, PEAK_CHANGE_BYTES, tsi_difference(a->peak_bytes, b->peak_bytes));
}

static void diff_allocation_changes(const struct analysis_scope *scope, struct fact_sheet *out)
{
	size_t snapshot = tsi_lookup_analyzer("snapshot"), known_count = 0;
	struct filling filling = { .out = out };
	struct figures figures[TSCOPE_SIDE_COUNT];

	tsi_snapshot_pair_open(&filling.pair, scope->comparison);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		const struct tscope_analysis *analysis = scope->comparison->sides[i].analysis;
		if (!tscope_analysis_has(analysis, snapshot, TSCOPE_WHOLE_TRACE))
			continue;
		known_count++;
		figures[i] = figures_of(analysis, &filling.pair.sites[i]);
		put_figures(out, &figures[i], i);
	}
	if (known_count < TSCOPE_SIDE_COUNT)
		return;
	put_changes(out, &figures[TSCOPE_SIDE_A], &figures[TSCOPE_SIDE_B]);
	put_sites(&filling);
	put_segments(&filling);
}

const struct analyzer tsi_analyzer_allocation_changes = {
	.def = {
		.id = "allocation_changes",
		.summary = "memory by allocation site, and segments",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a comparison of memory snapshots",
	},
	.levels = LEVEL_DIFF,
	.fill = diff_allocation_changes,
};
