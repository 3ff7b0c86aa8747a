/* SPDX-License-Identifier: MIT */
/*
 * Growth and shrinkage since an earlier snapshot of the same process: by allocation site, the
 * blocks that were active at the end of each. The site of a leak is among the first rows.
 */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/sum.h"
#include "model/memory/named_rows.h"

/* Live bytes at a site in both snapshots. */
struct site_growth {
	const char *site;
	int64_t earlier_bytes, bytes;
	int64_t earlier_count, count;
};

/* The requested size; if unknown, the block's. */
static int64_t bytes_of(const struct snapshot_block *block)
{
	return block->requested_bytes == UNKNOWN_BYTES ? block->size_bytes : block->requested_bytes;
}

/* Adds the blocks in use to rows of struct site_growth. */
static void add_blocks(struct named_rows *rows, struct stack_sites *sites, bool is_earlier)
{
	const struct snapshot *snapshot = sites->snapshot;

	for (size_t i = 0; i < snapshot->block_count && !sites->arena->has_failed; i++) {
		const struct snapshot_block *block = &snapshot->blocks[i];

		if (block->state == BLOCK_INACTIVE)
			continue;
		struct site_growth *growth = tsi_named_row(
			rows, tsi_stack_site_text(sites, tsi_stack_site(sites, block->stack)));
		if (!growth)
			return;
		tsi_sum(is_earlier ? &growth->earlier_bytes : &growth->bytes, bytes_of(block));
		(*(is_earlier ? &growth->earlier_count : &growth->count))++;
	}
}

/* The blocks of the earlier snapshot, by sites that are made as those of this one. */
static void add_earlier(struct named_rows *rows, const struct snapshot_view *view)
{
	struct stack_sites sites;
	struct arena arena = { 0 };

	tsi_stack_sites_init(&sites, &view->scope->earlier->snapshot, view->sites->depth,
			     view->sites->filter, &arena);
	add_blocks(rows, &sites, true);
	rows->arena->has_failed |= arena.has_failed;
	tsi_stack_sites_deinit(&sites);
	tsi_arena_deinit(&arena);
}

/* No overflow: both are ≥ 0. */
static int64_t growth_of(const struct site_growth *row)
{
	return row->bytes - row->earlier_bytes;
}

/* By how much they changed, then by site. */
static int compare_rows(const void *left, const void *right)
{
	const struct site_growth *a = left, *b = right;
	int64_t growth_a = llabs(growth_of(a)), growth_b = llabs(growth_of(b));

	TSI_DESCENDING(growth_a, growth_b);
	return strcmp(a->site, b->site);
}

static void put_row(struct fact_sheet *out, const struct site_growth *row)
{
	if (row->bytes == row->earlier_bytes && row->count == row->earlier_count)
		return;
	struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_GROWTH);
	cells[GROWTH_SITE] = tsi_text(tsi_sheet_copy(out, tsi_str_of(row->site)));
	cells[GROWTH_GROWTH_BYTES] = tsi_int(growth_of(row));
	cells[GROWTH_EARLIER_BYTES] = tsi_int(row->earlier_bytes);
	cells[GROWTH_BYTES] = tsi_int(row->bytes);
	cells[GROWTH_EARLIER_COUNT] = tsi_int(row->earlier_count);
	cells[GROWTH_NUMBER] = tsi_int(row->count);
}

static void put_rows(struct fact_sheet *out, const struct named_rows *rows)
{
	struct site_growth *sorted = rows->rows;

	for (uint32_t i = 0; i < rows->count; i++)
		sorted[i].site = tsi_intern_text(&rows->names, i).data;
	if (rows->count)
		qsort(sorted, rows->count, sizeof(*sorted), compare_rows);
	for (size_t i = 0; i < rows->count; i++)
		put_row(out, &sorted[i]);
}

static int64_t live_bytes(const struct snapshot *snapshot)
{
	int64_t sum = 0;

	for (size_t i = 0; i < snapshot->block_count; i++)
		if (snapshot->blocks[i].state != BLOCK_INACTIVE)
			tsi_sum(&sum, bytes_of(&snapshot->blocks[i]));
	return sum;
}

static int64_t reserved_bytes(const struct snapshot *snapshot)
{
	int64_t sum = 0;

	for (size_t i = 0; i < snapshot->segment_count; i++)
		tsi_sum(&sum, snapshot->segments[i].size_bytes);
	return sum;
}

void tsi_snapshot_put_growth(const struct snapshot_view *view, struct fact_sheet *out)
{
	const struct snapshot *now = view->snapshot, *then = &view->scope->earlier->snapshot;
	struct named_rows rows;

	tsi_named_rows_init(&rows, sizeof(struct site_growth), tsi_sheet_scratch(out));
	add_earlier(&rows, view);
	add_blocks(&rows, view->sites, false);
	put_rows(out, &rows);
	tsi_named_rows_deinit(&rows);
	tsi_fact_text(out, SNAPSHOT_EARLIER_PATH, view->scope->earlier->info.path);
	tsi_fact_int(out, SNAPSHOT_GROWTH_BYTES, live_bytes(now) - live_bytes(then));
	tsi_fact_int(out, SNAPSHOT_GROWTH_RESERVED_BYTES,
		     reserved_bytes(now) - reserved_bytes(then));
}
