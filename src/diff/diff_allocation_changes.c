/* SPDX-License-Identifier: MIT */
/*
 * Two snapshots of memory: what is live by allocation site, and which segments only one has. Where
 * either side has one device only, that is the same to us, be it cuda:0 of one rank and cuda:3 of
 * another. Addresses are those of one process: two processes have no segment in common.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "diff/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sum.h"

enum fact {
	A_BYTES,
	B_BYTES,
	CHANGE_BYTES,
	A_PEAK_BYTES,
	B_PEAK_BYTES,
	PEAK_CHANGE_BYTES,
	A_COUNT,
	B_COUNT,
	SITE_COUNT,
	COMMON_SEGMENT_COUNT,
	ONLY_A_SEGMENT_COUNT,
	ONLY_B_SEGMENT_COUNT,
};

static const struct tscope_fact_def facts[] = {
	[A_BYTES] = { "a_bytes", TSCOPE_UNIT_BYTES,
		      "requested by blocks that live at the end of A, of all devices" },
	[B_BYTES] = { "b_bytes", TSCOPE_UNIT_BYTES, "and of B" },
	[CHANGE_BYTES] = { "change_bytes", TSCOPE_UNIT_BYTES, "b_bytes less a_bytes" },
	[A_PEAK_BYTES] = { "a_peak_bytes", TSCOPE_UNIT_BYTES,
			   "requested at the peak of A, on the device where that is most" },
	[B_PEAK_BYTES] = { "b_peak_bytes", TSCOPE_UNIT_BYTES, "and of B" },
	[PEAK_CHANGE_BYTES] = { "peak_change_bytes", TSCOPE_UNIT_BYTES,
				"b_peak_bytes less a_peak_bytes" },
	[A_COUNT] = { "a_count", TSCOPE_UNIT_COUNT, "blocks that live at the end of A" },
	[B_COUNT] = { "b_count", TSCOPE_UNIT_COUNT, "and of B" },
	[SITE_COUNT] = { "site_count", TSCOPE_UNIT_COUNT, "sites with a change (not the same)" },
	[COMMON_SEGMENT_COUNT] = { "common_segment_count", TSCOPE_UNIT_COUNT,
				   "segments of both: same device, address and size" },
	[ONLY_A_SEGMENT_COUNT] = { "only_a_segment_count", TSCOPE_UNIT_COUNT,
				   "segments that B has not" },
	[ONLY_B_SEGMENT_COUNT] = { "only_b_segment_count", TSCOPE_UNIT_COUNT,
				   "segments that A has not" },
};

enum site_column {
	SITE_DEVICE,
	SITE_SITE,
	SITE_CHANGE,
	SITE_A_BYTES,
	SITE_B_BYTES,
	SITE_CHANGE_BYTES,
	SITE_A_COUNT,
	SITE_B_COUNT,
	SITE_A_PEAK_BYTES,
	SITE_B_PEAK_BYTES,
	SITE_PEAK_CHANGE_BYTES,
};

static const struct tscope_fact_def site_columns[] = {
	[SITE_DEVICE] = { "device", TSCOPE_UNIT_COUNT,
			  "device; that of B where each side has one, of another number" },
	[SITE_SITE] = { "site", TSCOPE_UNIT_TEXT, "as in snapshot.sites" },
	[SITE_CHANGE] = { "change", TSCOPE_UNIT_TEXT,
			  "new, gone, grew, shrank (at the end; where that is equal, at the peak), "
			  "moved (same bytes, other count) or same" },
	[SITE_A_BYTES] = { "a_bytes", TSCOPE_UNIT_BYTES, "live at the end of A" },
	[SITE_B_BYTES] = { "b_bytes", TSCOPE_UNIT_BYTES, "and of B" },
	[SITE_CHANGE_BYTES] = { "change_bytes", TSCOPE_UNIT_BYTES, "b_bytes less a_bytes" },
	[SITE_A_COUNT] = { "a_count", TSCOPE_UNIT_COUNT, "blocks of these in A" },
	[SITE_B_COUNT] = { "b_count", TSCOPE_UNIT_COUNT, "and in B" },
	[SITE_A_PEAK_BYTES] = { "a_peak_bytes", TSCOPE_UNIT_BYTES, "live at the peak of A" },
	[SITE_B_PEAK_BYTES] = { "b_peak_bytes", TSCOPE_UNIT_BYTES, "and of B" },
	[SITE_PEAK_CHANGE_BYTES] = { "peak_change_bytes", TSCOPE_UNIT_BYTES,
				     "b_peak_bytes less a_peak_bytes" },
};

enum segment_column {
	SEGMENT_SIDE,
	SEGMENT_DEVICE,
	SEGMENT_ADDRESS,
	SEGMENT_POOL,
	SEGMENT_KIND,
	SEGMENT_RESERVED_BYTES,
	SEGMENT_ALLOCATED_BYTES,
};

static const struct tscope_fact_def segment_columns[] = {
	[SEGMENT_SIDE] = { "side", TSCOPE_UNIT_TEXT, "a or b" },
	[SEGMENT_DEVICE] = { "device", TSCOPE_UNIT_COUNT, "device" },
	[SEGMENT_ADDRESS] = { "address", TSCOPE_UNIT_TEXT, "in hexadecimal" },
	[SEGMENT_POOL] = { "pool", TSCOPE_UNIT_TEXT, "small or large" },
	[SEGMENT_KIND] = { "kind", TSCOPE_UNIT_TEXT, "plain or expandable" },
	[SEGMENT_RESERVED_BYTES] = { "reserved_bytes", TSCOPE_UNIT_BYTES, "its size" },
	[SEGMENT_ALLOCATED_BYTES] = { "allocated_bytes", TSCOPE_UNIT_BYTES, "blocks handed out" },
};

enum table { SITES_TABLE, SEGMENTS_TABLE };

static const struct tscope_table_def tables[] = {
	[SITES_TABLE] = { "sites", site_columns, TSI_COUNT_OF(site_columns),
			  "allocation sites, the largest change at the end first, then at the "
			  "peak",
			  TSCOPE_TABLE_ROWS },
	[SEGMENTS_TABLE] = { "segments", segment_columns, TSI_COUNT_OF(segment_columns),
			     "segments that only one side has; empty where they have none in "
			     "common, as those of two processes",
			     TSCOPE_TABLE_ROWS },
};

/* ---- reading a side ------------------------------------------------------------------------ */

enum { READ_COLUMNS_MAX = 5 };

/* A table of a side with those of its columns that are read. */
struct rows {
	struct table_view view;
	size_t columns[READ_COLUMNS_MAX];
};

static struct rows open_rows(const struct comparison *comparison, size_t side, const char *table,
			     const char *const columns[READ_COLUMNS_MAX])
{
	struct rows rows = {
		.view = tsi_lookup_table(comparison->sides[side].analysis, TSCOPE_WHOLE_TRACE,
					 table),
	};

	for (size_t i = 0; i < READ_COLUMNS_MAX; i++)
		rows.columns[i] = tsi_table_column(&rows.view, columns[i]);
	return rows;
}

static struct tscope_value cell(const struct rows *rows, size_t row, size_t column)
{
	return tsi_table_cell(&rows->view, row, rows->columns[column]);
}

static int64_t int_cell(const struct rows *rows, size_t row, size_t column)
{
	struct tscope_value value = cell(rows, row, column);
	return value.kind == TSCOPE_VALUE_INT ? value.integer : 0;
}

static const char *text_cell(const struct rows *rows, size_t row, size_t column)
{
	struct tscope_value value = cell(rows, row, column);
	return value.kind == TSCOPE_VALUE_TEXT ? value.text : "";
}

enum { READ_DEVICE }; /* the first column of both tables below */
enum { READ_SITE = 1, READ_END_BYTES, READ_END_COUNT, READ_PEAK_BYTES };
enum { READ_ADDRESS = 1, READ_RESERVED, READ_POOL, READ_KIND };

/* Both tables of both sides, and what their devices are to be called. */
struct reading {
	struct rows sites[TSCOPE_SIDE_COUNT], segments[TSCOPE_SIDE_COUNT];
	bool is_one_device; /* each side has one, and they have two numbers: */
	int64_t device;     /* that of B */
	struct fact_sheet *out;
	struct tscope_error *err;
};

static int64_t device_of(const struct reading *reading, const struct rows *rows, size_t row)
{
	return reading->is_one_device ? reading->device : int_cell(rows, row, READ_DEVICE);
}

/* The device of all rows of a side; false: there are none, or they have several. */
static bool only_device(const struct reading *reading, size_t side, int64_t *device)
{
	const struct rows *tables_of_side[] = { &reading->sites[side], &reading->segments[side] };
	bool is_known = false;

	for (size_t i = 0; i < TSI_COUNT_OF(tables_of_side); i++) {
		for (size_t row = 0; row < tables_of_side[i]->view.row_count; row++) {
			int64_t own = int_cell(tables_of_side[i], row, READ_DEVICE);
			if (is_known && own != *device)
				return false;
			*device = own;
			is_known = true;
		}
	}
	return is_known;
}

static void open_reading(struct reading *reading, const struct comparison *comparison)
{
	static const char *const site_names[READ_COLUMNS_MAX] = {
		[READ_DEVICE] = "device",       [READ_SITE] = "site",
		[READ_END_BYTES] = "end_bytes", [READ_END_COUNT] = "end_count",
		[READ_PEAK_BYTES] = "bytes",
	};
	static const char *const segment_names[READ_COLUMNS_MAX] = {
		[READ_DEVICE] = "device",
		[READ_ADDRESS] = "address",
		[READ_RESERVED] = "reserved_bytes",
		[READ_POOL] = "pool",
		[READ_KIND] = "kind",
	};
	int64_t a_device = 0;

	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		reading->sites[i] = open_rows(comparison, i, "snapshot.sites", site_names);
		reading->segments[i] = open_rows(comparison, i, "snapshot.segments", segment_names);
	}
	reading->is_one_device = only_device(reading, TSCOPE_SIDE_A, &a_device) &&
				 only_device(reading, TSCOPE_SIDE_B, &reading->device);
}

/* ---- sites --------------------------------------------------------------------------------- */

struct amounts {
	int64_t end_bytes, end_count, peak_bytes;
};

struct site {
	int64_t device;
	const char *text;
	bool is_there[TSCOPE_SIDE_COUNT];
	struct amounts of[TSCOPE_SIDE_COUNT];
	struct amounts change;
};

/* Of two figures that files chose: the nearest number that there is. */
static int64_t change_of(int64_t a, int64_t b)
{
	return tsi_narrow((tsi_wide)b - a);
}

static uint64_t size_of(int64_t change)
{
	return change < 0 ? 0 - (uint64_t)change : (uint64_t)change;
}

static int compare_places(const struct site *a, const struct site *b)
{
	int order = strcmp(a->text, b->text);
	return order ? order : (a->device > b->device) - (a->device < b->device);
}

static int by_place(const void *left, const void *right)
{
	return compare_places(left, right);
}

static int by_change(const void *left, const void *right)
{
	const struct site *a = left, *b = right;
	uint64_t a_size = size_of(a->change.end_bytes), b_size = size_of(b->change.end_bytes);

	if (a_size == b_size) {
		a_size = size_of(a->change.peak_bytes);
		b_size = size_of(b->change.peak_bytes);
	}
	if (a_size != b_size)
		return a_size > b_size ? -1 : 1;
	return compare_places(a, b);
}

static void add_amounts(struct amounts *sum, const struct amounts *part)
{
	tsi_sum_signed(&sum->end_bytes, part->end_bytes);
	tsi_sum_signed(&sum->end_count, part->end_count);
	tsi_sum_signed(&sum->peak_bytes, part->peak_bytes);
}

static size_t collect_sites(struct site *sites, const struct reading *reading)
{
	size_t count = 0;

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		const struct rows *rows = &reading->sites[side];
		for (size_t row = 0; row < rows->view.row_count; row++) {
			struct site *site = &sites[count++];
			site->device = device_of(reading, rows, row);
			site->text = text_cell(rows, row, READ_SITE);
			site->is_there[side] = true;
			site->of[side] = (struct amounts){
				.end_bytes = int_cell(rows, row, READ_END_BYTES),
				.end_count = int_cell(rows, row, READ_END_COUNT),
				.peak_bytes = int_cell(rows, row, READ_PEAK_BYTES),
			};
		}
	}
	return count;
}

/* Makes one of those that have one place; how many there are then. */
static size_t join_sites(struct site *sites, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(sites, count, sizeof(*sites), by_place);
	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || compare_places(&sites[kept - 1], &sites[i]) != 0) {
			sites[kept++] = sites[i];
			continue;
		}
		for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
			sites[kept - 1].is_there[side] |= sites[i].is_there[side];
			add_amounts(&sites[kept - 1].of[side], &sites[i].of[side]);
		}
	}
	for (size_t i = 0; i < kept; i++) {
		const struct amounts *a = &sites[i].of[TSCOPE_SIDE_A];
		const struct amounts *b = &sites[i].of[TSCOPE_SIDE_B];
		sites[i].change = (struct amounts){
			.end_bytes = change_of(a->end_bytes, b->end_bytes),
			.end_count = change_of(a->end_count, b->end_count),
			.peak_bytes = change_of(a->peak_bytes, b->peak_bytes),
		};
	}
	return kept;
}

/* NULL: it is the same. */
static const char *change_word(const struct site *site)
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

static enum tscope_status put_site(const struct reading *reading, const struct site *site)
{
	const struct amounts *a = &site->of[TSCOPE_SIDE_A], *b = &site->of[TSCOPE_SIDE_B];
	const char *word = change_word(site);
	struct tscope_value *cells;

	if (tsi_table_add(reading->out, SITES_TABLE, &cells, reading->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
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
	return TSCOPE_OK;
}

static enum tscope_status put_sites(const struct reading *reading, struct site *sites, size_t count)
{
	enum tscope_status status = TSCOPE_OK;
	int64_t changed_count = 0;

	count = join_sites(sites, count);
	if (count)
		qsort(sites, count, sizeof(*sites), by_change);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		status = put_site(reading, &sites[i]);
		changed_count += change_word(&sites[i]) != NULL;
	}
	tsi_fact_int(reading->out, SITE_COUNT, changed_count);
	return status;
}

static enum tscope_status match_sites(const struct reading *reading)
{
	size_t count = reading->sites[TSCOPE_SIDE_A].view.row_count +
		       reading->sites[TSCOPE_SIDE_B].view.row_count;
	struct site *sites;

	if (tsi_array_new(&sites, count, sizeof(*sites), reading->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = put_sites(reading, sites, collect_sites(sites, reading));
	free(sites);
	return status;
}

/* ---- segments ------------------------------------------------------------------------------ */

struct segment {
	int64_t device, reserved_bytes;
	const char *address;
	size_t side, row;
};

static int compare_segments(const struct segment *a, const struct segment *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
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
	if (a->side != b->side)
		return a->side < b->side ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static size_t collect_segments(struct segment *segments, const struct reading *reading)
{
	size_t count = 0;

	for (size_t side = 0; side < TSCOPE_SIDE_COUNT; side++) {
		const struct rows *rows = &reading->segments[side];
		for (size_t row = 0; row < rows->view.row_count; row++)
			segments[count++] = (struct segment){
				.device = device_of(reading, rows, row),
				.reserved_bytes = int_cell(rows, row, READ_RESERVED),
				.address = text_cell(rows, row, READ_ADDRESS),
				.side = side,
				.row = row,
			};
	}
	if (count)
		qsort(segments, count, sizeof(*segments), by_address);
	return count;
}

/* Leaves those that have none like them on the other side; how many these are. */
static size_t drop_pairs(struct segment *segments, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		/* Of equal ones those of A come first: each of B takes the last that is left. */
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

static enum tscope_status put_segment(const struct reading *reading, const struct segment *segment)
{
	const struct rows *rows = &reading->segments[segment->side];
	size_t allocated = tsi_table_column(&rows->view, "allocated_bytes");
	struct tscope_value *cells;

	if (tsi_table_add(reading->out, SEGMENTS_TABLE, &cells, reading->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[SEGMENT_SIDE] = tsi_text(segment->side == TSCOPE_SIDE_A ? "a" : "b");
	cells[SEGMENT_DEVICE] = cell(rows, segment->row, READ_DEVICE);
	cells[SEGMENT_ADDRESS] = tsi_text(segment->address);
	cells[SEGMENT_POOL] = cell(rows, segment->row, READ_POOL);
	cells[SEGMENT_KIND] = cell(rows, segment->row, READ_KIND);
	cells[SEGMENT_RESERVED_BYTES] = tsi_int(segment->reserved_bytes);
	cells[SEGMENT_ALLOCATED_BYTES] = tsi_table_cell(&rows->view, segment->row, allocated);
	return TSCOPE_OK;
}

static enum tscope_status put_segments(const struct reading *reading, struct segment *segments,
				       size_t count)
{
	size_t left = drop_pairs(segments, count), common = (count - left) / 2;
	enum tscope_status status = TSCOPE_OK;
	int64_t only_a = 0;

	for (size_t i = 0; i < left; i++)
		only_a += segments[i].side == TSCOPE_SIDE_A;
	tsi_fact_int(reading->out, COMMON_SEGMENT_COUNT, (int64_t)common);
	tsi_fact_int(reading->out, ONLY_A_SEGMENT_COUNT, only_a);
	tsi_fact_int(reading->out, ONLY_B_SEGMENT_COUNT, (int64_t)left - only_a);
	for (size_t i = 0; status == TSCOPE_OK && common > 0 && i < left; i++)
		status = put_segment(reading, &segments[i]);
	return status;
}

static enum tscope_status match_segments(const struct reading *reading)
{
	size_t count = reading->segments[TSCOPE_SIDE_A].view.row_count +
		       reading->segments[TSCOPE_SIDE_B].view.row_count;
	struct segment *segments;

	if (tsi_array_new(&segments, count, sizeof(*segments), reading->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status =
		put_segments(reading, segments, collect_segments(segments, reading));
	free(segments);
	return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static const char peak_fact[] = "snapshot.peak_allocated_bytes";

/* What is said of one side: sums over its sites, so that what is said of these adds up. */
struct figures {
	int64_t bytes, count, peak_bytes;
	bool has_peak;
	const char *peak_doubt;
};

static struct figures figures_of(const struct tscope_analysis *analysis, const struct rows *sites)
{
	enum tscope_unit unit;
	struct tscope_value peak = tsi_lookup_fact(analysis, TSCOPE_WHOLE_TRACE, peak_fact, &unit);
	struct figures figures = { .peak_doubt = tsi_lookup_doubt(analysis, peak_fact) };

	for (size_t row = 0; row < sites->view.row_count; row++) {
		tsi_sum_signed(&figures.bytes, int_cell(sites, row, READ_END_BYTES));
		tsi_sum_signed(&figures.count, int_cell(sites, row, READ_END_COUNT));
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
	tsi_fact_int(out, CHANGE_BYTES, change_of(a->bytes, b->bytes));
	if (a->has_peak && b->has_peak)
		tsi_fact_int(out, PEAK_CHANGE_BYTES, change_of(a->peak_bytes, b->peak_bytes));
}

static enum tscope_status run(const struct analysis_scope *scope, struct fact_sheet *out,
			      struct tscope_error *err)
{
	size_t snapshot = tsi_lookup_analyzer("snapshot"), known_count = 0;
	struct reading reading = { .out = out, .err = err };
	struct figures figures[TSCOPE_SIDE_COUNT];

	open_reading(&reading, scope->comparison);
	for (size_t i = 0; i < TSCOPE_SIDE_COUNT; i++) {
		const struct tscope_analysis *analysis = scope->comparison->sides[i].analysis;
		if (!tscope_analysis_has(analysis, snapshot, TSCOPE_WHOLE_TRACE))
			continue;
		known_count++;
		figures[i] = figures_of(analysis, &reading.sites[i]);
		put_figures(out, &figures[i], i);
	}
	if (known_count < TSCOPE_SIDE_COUNT)
		return TSCOPE_OK;
	put_changes(out, &figures[TSCOPE_SIDE_A], &figures[TSCOPE_SIDE_B]);
	enum tscope_status status = match_sites(&reading);
	return status == TSCOPE_OK ? match_segments(&reading) : status;
}

const struct analyzer tsi_analyzer_allocation_changes = {
	.def = {
		.id = "allocation_changes",
		.summary = "memory by allocation site, and segments",
		.facts = facts,
		.fact_count = TSI_COUNT_OF(facts),
		.tables = tables,
		.table_count = TSI_COUNT_OF(tables),
		.needs = "a comparison of memory snapshots",
	},
	.levels = LEVEL_DIFF,
	.run = run,
};
