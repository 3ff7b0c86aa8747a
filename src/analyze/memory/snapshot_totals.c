/* SPDX-License-Identifier: MIT */
/* The state at the end of a snapshot, added up: of all segments, of groups of them, of each. */
#include "analyze/memory/snapshot_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/sort.h"
#include "base/sum.h"
#include "model/memory/named_rows.h"

static const char unknown_request[] =
	"some blocks do not say how many bytes were asked for (torch before 2.0 without history)";

/* A row of totals; the columns are those of the tables by_…. */
struct totals {
	int64_t sums[TOTALS_COLUMN_COUNT];
	bool has_unknown_request;
};

/* Room for what segments are grouped by, as text. */
enum { KEY_BYTES = 48 };

static const struct tscope_value absent;

/* ---- adding up --------------------------------------------------------------------------- */

static enum totals_column free_column(const struct snapshot_segment *segment)
{
	if (segment->is_expandable)
		return TOTALS_INACTIVE_EXPANDABLE_BYTES;
	return segment->block_count > 1 ? TOTALS_INACTIVE_SPLIT_BYTES : TOTALS_FREE_SEGMENT_BYTES;
}

static void add_block(struct totals *totals, const struct snapshot_segment *segment,
		      const struct snapshot_block *block)
{
	static const struct {
		enum totals_column bytes, count;
	} columns[BLOCK_STATE_COUNT] = {
		[BLOCK_ALLOCATED] = { TOTALS_ALLOCATED_BYTES, TOTALS_ALLOCATED_COUNT },
		[BLOCK_PENDING] = { TOTALS_PENDING_BYTES, TOTALS_PENDING_COUNT },
		[BLOCK_INACTIVE] = { TOTALS_INACTIVE_BYTES, TOTALS_INACTIVE_COUNT },
	};
	int64_t *sums = totals->sums, bytes = block->size_bytes;

	sums[TOTALS_BLOCK_COUNT]++;
	sums[columns[block->state].count]++;
	tsi_sum(&sums[columns[block->state].bytes], bytes);
	if (block->state == BLOCK_INACTIVE) {
		tsi_sum(&sums[free_column(segment)], bytes);
		if (bytes > sums[TOTALS_LARGEST_FREE_BYTES])
			sums[TOTALS_LARGEST_FREE_BYTES] = bytes;
		return;
	}
	tsi_sum(&sums[TOTALS_ACTIVE_BYTES], bytes);
	if (block->requested_bytes == UNKNOWN_BYTES)
		totals->has_unknown_request = true;
	else
		tsi_sum(&sums[TOTALS_REQUESTED_BYTES], block->requested_bytes);
}

static struct totals totals_of(const struct snapshot *snapshot,
			       const struct snapshot_segment *segment)
{
	struct totals totals = { 0 };

	totals.sums[TOTALS_SEGMENT_COUNT] = 1;
	totals.sums[TOTALS_RESERVED_BYTES] = segment->size_bytes;
	for (size_t i = 0; i < segment->block_count; i++)
		add_block(&totals, segment, &snapshot->blocks[segment->first_block + i]);
	return totals;
}

static void add_totals(struct totals *sum, const struct totals *part)
{
	int64_t largest = sum->sums[TOTALS_LARGEST_FREE_BYTES];

	for (size_t i = TOTALS_KEY + 1; i < TOTALS_COLUMN_COUNT; i++)
		tsi_sum(&sum->sums[i], part->sums[i]);
	sum->sums[TOTALS_LARGEST_FREE_BYTES] = largest;
	if (part->sums[TOTALS_LARGEST_FREE_BYTES] > largest)
		sum->sums[TOTALS_LARGEST_FREE_BYTES] = part->sums[TOTALS_LARGEST_FREE_BYTES];
	sum->has_unknown_request = sum->has_unknown_request || part->has_unknown_request;
}

static int64_t rounding_of(const struct totals *totals)
{
	return totals->sums[TOTALS_ACTIVE_BYTES] - totals->sums[TOTALS_REQUESTED_BYTES];
}

/* 1 − largest free ÷ inactive. */
static struct tscope_value fragmentation_of(const struct totals *totals)
{
	int64_t inactive = totals->sums[TOTALS_INACTIVE_BYTES];

	if (inactive == 0)
		return (struct tscope_value){ 0 };
	return tsi_real(1 - (double)totals->sums[TOTALS_LARGEST_FREE_BYTES] / (double)inactive);
}

static void put_totals(struct tscope_value *cells, const struct totals *totals)
{
	for (size_t i = TOTALS_KEY + 1; i < TOTALS_COLUMN_COUNT; i++)
		cells[i] = tsi_int(totals->sums[i]);
	cells[TOTALS_ROUNDING_BYTES] = tsi_int(rounding_of(totals));
	if (totals->has_unknown_request) {
		cells[TOTALS_REQUESTED_BYTES] = absent;
		cells[TOTALS_ROUNDING_BYTES] = absent;
	}
}

/* ---- groups ------------------------------------------------------------------------------ */

static void pool_key(char key[KEY_BYTES], const struct snapshot_segment *segment)
{
	snprintf(key, KEY_BYTES, "%s", segment->is_small ? "small" : "large");
}

static void pool_id_key(char key[KEY_BYTES], const struct snapshot_segment *segment)
{
	const struct snapshot_pool *pool = &segment->pool;

	if (pool->is_known)
		snprintf(key, KEY_BYTES, "%" PRId64 ",%" PRId64, pool->high, pool->low);
	else
		snprintf(key, KEY_BYTES, "unknown");
}

static void stream_key(char key[KEY_BYTES], const struct snapshot_segment *segment)
{
	if (segment->stream == NO_STREAM)
		snprintf(key, KEY_BYTES, "unknown");
	else
		snprintf(key, KEY_BYTES, "%" PRId64, segment->stream);
}

static void kind_key(char key[KEY_BYTES], const struct snapshot_segment *segment)
{
	snprintf(key, KEY_BYTES, "%s", segment->is_expandable ? "expandable" : "plain");
}

/* Grouping of segments. Devices are in order anyway. */
enum grouping { BY_POOL, BY_POOL_ID, BY_STREAM, BY_KIND, GROUPING_COUNT };

static const struct {
	enum snapshot_table table;
	void (*key)(char key[KEY_BYTES], const struct snapshot_segment *segment);
} groupings[GROUPING_COUNT] = {
	[BY_POOL] = { SNAPSHOT_BY_POOL, pool_key },
	[BY_POOL_ID] = { SNAPSHOT_BY_POOL_ID, pool_id_key },
	[BY_STREAM] = { SNAPSHOT_BY_STREAM, stream_key },
	[BY_KIND] = { SNAPSHOT_BY_KIND, kind_key },
};

/* The rows of a table, sorted by their keys as text. */
static void put_groups(struct fact_sheet *out, enum snapshot_table table,
		       const struct named_rows *groups)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		const struct totals *totals = tsi_named_row_at(groups, i);

		if (totals->sums[TOTALS_SEGMENT_COUNT] == 0)
			continue; /* that of "" */
		struct tscope_value *cells = tsi_table_row(out, table);
		put_totals(cells, totals);
		cells[TOTALS_KEY] =
			tsi_text(tsi_sheet_copy(out, tsi_intern_text(&groups->names, i)));
	}
	tsi_table_order(out, table, TOTALS_KEY, TOTALS_KEY);
}

/* ---- all of it ---------------------------------------------------------------------------- */

struct all_totals {
	struct totals whole;
	struct totals *devices;
	struct named_rows groups[GROUPING_COUNT]; /* of struct totals */
};

static void add_segment(struct all_totals *all, const struct snapshot *snapshot,
			const struct snapshot_segment *segment)
{
	const struct totals totals = totals_of(snapshot, segment);
	char key[KEY_BYTES];

	add_totals(&all->whole, &totals);
	add_totals(&all->devices[segment->device], &totals);
	for (size_t i = 0; i < GROUPING_COUNT; i++) {
		groupings[i].key(key, segment);
		struct totals *group = tsi_named_row(&all->groups[i], tsi_str_of(key));
		if (group)
			add_totals(group, &totals);
	}
}

static void put_devices(const struct snapshot *snapshot, struct fact_sheet *out,
			const struct totals *devices)
{
	for (uint32_t i = 0; i < snapshot->device_count; i++) {
		if (snapshot->devices[i].segment_count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_BY_DEVICE);
		put_totals(cells, &devices[i]);
		cells[TOTALS_KEY] = tsi_int(snapshot->devices[i].ordinal);
	}
}

/* ---- segments ---------------------------------------------------------------------------- */

static void put_segment(const struct snapshot *snapshot, struct fact_sheet *out,
			const struct snapshot_segment *segment)
{
	static const enum totals_column columns[] = {
		[SEGMENTS_RESERVED_BYTES] = TOTALS_RESERVED_BYTES,
		[SEGMENTS_ALLOCATED_BYTES] = TOTALS_ALLOCATED_BYTES,
		[SEGMENTS_PENDING_BYTES] = TOTALS_PENDING_BYTES,
		[SEGMENTS_ACTIVE_BYTES] = TOTALS_ACTIVE_BYTES,
		[SEGMENTS_REQUESTED_BYTES] = TOTALS_REQUESTED_BYTES,
		[SEGMENTS_INACTIVE_BYTES] = TOTALS_INACTIVE_BYTES,
		[SEGMENTS_LARGEST_FREE_BYTES] = TOTALS_LARGEST_FREE_BYTES,
		[SEGMENTS_BLOCK_COUNT] = TOTALS_BLOCK_COUNT,
	};
	static const struct {
		enum segments_column column;
		enum grouping grouping;
	} keys[] = { { SEGMENTS_STREAM, BY_STREAM },
		     { SEGMENTS_POOL, BY_POOL },
		     { SEGMENTS_POOL_ID, BY_POOL_ID },
		     { SEGMENTS_KIND, BY_KIND } };
	const struct totals totals = totals_of(snapshot, segment);
	struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_SEGMENTS);
	char key[KEY_BYTES];

	cells[SEGMENTS_DEVICE] = tsi_int(snapshot->devices[segment->device].ordinal);
	cells[SEGMENTS_ADDRESS] = tsi_text(tsi_sheet_print(out, "0x%" PRIx64, segment->address));
	for (size_t i = SEGMENTS_RESERVED_BYTES; i <= SEGMENTS_BLOCK_COUNT; i++)
		cells[i] = tsi_int(totals.sums[columns[i]]);
	if (totals.has_unknown_request)
		cells[SEGMENTS_REQUESTED_BYTES] = absent;
	cells[SEGMENTS_FRAGMENTATION_RATIO] = fragmentation_of(&totals);
	for (size_t i = 0; i < TSI_COUNT_OF(keys); i++) {
		groupings[keys[i].grouping].key(key, segment);
		cells[keys[i].column] = tsi_text(tsi_sheet_copy(out, tsi_str_of(key)));
	}
}

/* By inactive bytes, largest first; then by address, then as in the file. */
static void order_segments(struct sort_pair *pairs, const struct snapshot *snapshot)
{
	size_t count = snapshot->segment_count;

	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct sort_pair){ snapshot->segments[i].address, i };
	tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++) {
		struct totals totals = totals_of(snapshot, &snapshot->segments[pairs[i].value]);
		pairs[i].key = UINT64_MAX - (uint64_t)totals.sums[TOTALS_INACTIVE_BYTES];
	}
	tsi_sort_pairs(pairs, pairs + count, count);
}

static void put_segments(const struct snapshot *snapshot, struct fact_sheet *out)
{
	struct sort_pair *pairs =
		tsi_arena_new(tsi_sheet_scratch(out), snapshot->segment_count, 2 * sizeof(*pairs));

	if (!pairs)
		return;
	order_segments(pairs, snapshot);
	for (size_t i = 0; i < snapshot->segment_count; i++)
		put_segment(snapshot, out, &snapshot->segments[pairs[i].value]);
}

/* ---- facts ------------------------------------------------------------------------------- */

/* The variable has another name since it is for all kinds of devices. */
static struct plain_value alloc_conf(const struct snapshot *snapshot)
{
	struct plain_value conf = tsi_plain_find(snapshot->plain, snapshot->settings,
						 TSI_STR("PYTORCH_CUDA_ALLOC_CONF"));

	if (conf.word)
		return conf;
	return tsi_plain_find(snapshot->plain, snapshot->settings, TSI_STR("PYTORCH_ALLOC_CONF"));
}

static void put_settings(const struct snapshot *snapshot, struct fact_sheet *out)
{
	const struct plain *plain = snapshot->plain;
	struct plain_value conf = alloc_conf(snapshot);
	bool is_said, is_expandable = tsi_snapshot_is_expandable(snapshot, &is_said);

	if (is_said)
		tsi_fact_flag(out, SNAPSHOT_EXPANDABLE_SEGMENTS, is_expandable);
	if (tsi_plain_kind(conf) == PLAIN_TEXT)
		tsi_fact_text(out, SNAPSHOT_ALLOC_CONF, tsi_plain_text(plain, conf).data);
}

static void put_sums(struct fact_sheet *out, const struct totals *totals)
{
	static const struct {
		enum snapshot_fact fact;
		enum totals_column column;
	} sums[] = {
		{ SNAPSHOT_RESERVED_BYTES, TOTALS_RESERVED_BYTES },
		{ SNAPSHOT_ALLOCATED_BYTES, TOTALS_ALLOCATED_BYTES },
		{ SNAPSHOT_PENDING_BYTES, TOTALS_PENDING_BYTES },
		{ SNAPSHOT_ACTIVE_BYTES, TOTALS_ACTIVE_BYTES },
		{ SNAPSHOT_INACTIVE_BYTES, TOTALS_INACTIVE_BYTES },
		{ SNAPSHOT_INACTIVE_SPLIT_BYTES, TOTALS_INACTIVE_SPLIT_BYTES },
		{ SNAPSHOT_FREE_SEGMENT_BYTES, TOTALS_FREE_SEGMENT_BYTES },
		{ SNAPSHOT_INACTIVE_EXPANDABLE_BYTES, TOTALS_INACTIVE_EXPANDABLE_BYTES },
		{ SNAPSHOT_LARGEST_FREE_BYTES, TOTALS_LARGEST_FREE_BYTES },
		{ SNAPSHOT_SEGMENT_COUNT, TOTALS_SEGMENT_COUNT },
		{ SNAPSHOT_BLOCK_COUNT, TOTALS_BLOCK_COUNT },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(sums); i++)
		tsi_fact_int(out, sums[i].fact, totals->sums[sums[i].column]);
}

/* Loss on one device is not made up by another: takes the worst one's ratios. */
static void put_worst_ratios(const struct snapshot *snapshot, struct fact_sheet *out,
			     const struct totals *devices)
{
	double split_ratio = -1, fragmentation = -1;

	for (uint32_t i = 0; i < snapshot->device_count; i++) {
		const int64_t *sums = devices[i].sums;
		struct tscope_value value = fragmentation_of(&devices[i]);

		if (value.kind == TSCOPE_VALUE_REAL && value.real > fragmentation) {
			fragmentation = value.real;
			tsi_fact_real(out, SNAPSHOT_FRAGMENTATION_RATIO, fragmentation);
		}
		if (sums[TOTALS_RESERVED_BYTES] <= 0)
			continue;
		double ratio = (double)sums[TOTALS_INACTIVE_SPLIT_BYTES] /
			       (double)sums[TOTALS_RESERVED_BYTES];
		if (ratio > split_ratio) {
			split_ratio = ratio;
			tsi_fact_real(out, SNAPSHOT_INACTIVE_SPLIT_RATIO, ratio);
		}
	}
}

static void put_facts(const struct snapshot_view *view, struct fact_sheet *out,
		      const struct totals *totals)
{
	const struct snapshot *snapshot = view->snapshot;
	const int64_t *sums = totals->sums;

	tsi_fact_text(out, SNAPSHOT_PATH, view->scope->memory->info.path);
	tsi_fact_int(out, SNAPSHOT_DEVICE_COUNT, snapshot->device_count);
	tsi_fact_int(out, SNAPSHOT_TRACE_ENTRY_COUNT, (int64_t)snapshot->entry_count);
	put_sums(out, totals);
	if (totals->has_unknown_request) {
		tsi_fact_doubt(out, SNAPSHOT_REQUESTED_BYTES, unknown_request);
		tsi_fact_doubt(out, SNAPSHOT_ROUNDING_BYTES, unknown_request);
	} else {
		tsi_fact_int(out, SNAPSHOT_REQUESTED_BYTES, sums[TOTALS_REQUESTED_BYTES]);
		tsi_fact_int(out, SNAPSHOT_ROUNDING_BYTES, rounding_of(totals));
	}
	tsi_fact_ratio(out, SNAPSHOT_INACTIVE_RATIO, sums[TOTALS_INACTIVE_BYTES],
		       sums[TOTALS_RESERVED_BYTES]);
	put_settings(snapshot, out);
}

void tsi_snapshot_put_totals(const struct snapshot_view *view, struct fact_sheet *out)
{
	const struct snapshot *snapshot = view->snapshot;
	struct arena *scratch = tsi_sheet_scratch(out);
	struct all_totals all = { 0 };

	all.devices = tsi_arena_new(scratch, snapshot->device_count, sizeof(*all.devices));
	if (!all.devices)
		return;
	for (size_t i = 0; i < GROUPING_COUNT; i++)
		tsi_named_rows_init(&all.groups[i], sizeof(struct totals), scratch);
	for (size_t i = 0; i < snapshot->segment_count; i++)
		add_segment(&all, snapshot, &snapshot->segments[i]);
	put_devices(snapshot, out, all.devices);
	for (size_t i = 0; i < GROUPING_COUNT; i++) {
		put_groups(out, groupings[i].table, &all.groups[i]);
		tsi_named_rows_deinit(&all.groups[i]);
	}
	put_segments(snapshot, out);
	put_facts(view, out, &all.whole);
	put_worst_ratios(snapshot, out, all.devices);
}
