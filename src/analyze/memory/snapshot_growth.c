/* SPDX-License-Identifier: MIT */
/*
 * What became more, or less, since an earlier snapshot of the same process: by allocation site,
 * of the blocks that were active at the end of each. The site of a leak is among the first rows.
 */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sum.h"

/* What was live at a site then and now. */
struct site_growth {
	const char *site;
	int64_t earlier_bytes, bytes;
	int64_t earlier_count, count;
};

/* Rows by the id of the site's text. */
struct growth_list {
	struct intern sites;
	struct site_growth *rows;
	size_t count, capacity;
};

/* As asked for; of an unknown request the size of the block. */
static int64_t bytes_of(const struct snapshot_block *block)
{
	return block->requested_bytes == UNKNOWN_BYTES ? block->size_bytes : block->requested_bytes;
}

static enum tscope_status find_row(struct growth_list *list, struct str site, uint32_t *row,
				   struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = tsi_intern_add(&list->sites, site, &id, err);

	if (status == TSCOPE_OK)
		status = tsi_array_reserve(&list->rows, &list->capacity, (size_t)id + 1,
					   sizeof(*list->rows), err);
	if (status != TSCOPE_OK)
		return status;
	for (; list->count <= id; list->count++)
		list->rows[list->count] = (struct site_growth){ 0 };
	*row = id;
	return TSCOPE_OK;
}

static enum tscope_status add_block(struct growth_list *list, struct stack_sites *sites,
				    const struct snapshot_block *block, bool is_earlier,
				    struct tscope_error *err)
{
	uint32_t site, row;
	enum tscope_status status = tsi_stack_site(sites, block->stack, &site, err);

	if (status == TSCOPE_OK)
		status = find_row(list, tsi_stack_site_text(sites, site), &row, err);
	if (status != TSCOPE_OK)
		return status;
	struct site_growth *growth = &list->rows[row];
	tsi_sum(is_earlier ? &growth->earlier_bytes : &growth->bytes, bytes_of(block));
	(*(is_earlier ? &growth->earlier_count : &growth->count))++;
	return TSCOPE_OK;
}

static enum tscope_status add_blocks(struct growth_list *list, struct stack_sites *sites,
				     bool is_earlier, struct tscope_error *err)
{
	const struct snapshot *snapshot = sites->snapshot;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; i < snapshot->block_count && status == TSCOPE_OK; i++)
		if (snapshot->blocks[i].state != BLOCK_INACTIVE)
			status = add_block(list, sites, &snapshot->blocks[i], is_earlier, err);
	return status;
}

/* The blocks of the earlier snapshot, by sites that are made as those of this one. */
static enum tscope_status add_earlier(struct growth_list *list, const struct snapshot_view *view,
				      struct tscope_error *err)
{
	struct stack_sites sites;
	enum tscope_status status =
		tsi_stack_sites_init(&sites, &view->scope->earlier->snapshot, view->sites->depth,
				     view->sites->filter, err);

	if (status == TSCOPE_OK)
		status = add_blocks(list, &sites, true, err);
	tsi_stack_sites_deinit(&sites);
	return status;
}

/* Both are ≥ 0. */
static int64_t growth_of(const struct site_growth *row)
{
	return row->bytes - row->earlier_bytes;
}

/* By how much they changed, then by site. */
static int compare_rows(const void *left, const void *right)
{
	const struct site_growth *a = left, *b = right;
	int64_t growth_a = llabs(growth_of(a)), growth_b = llabs(growth_of(b));

	if (growth_a != growth_b)
		return growth_a > growth_b ? -1 : 1;
	return strcmp(a->site, b->site);
}

static enum tscope_status put_row(struct fact_sheet *out, const struct site_growth *row,
				  struct tscope_error *err)
{
	struct tscope_value *cells;

	if (row->bytes == row->earlier_bytes && row->count == row->earlier_count)
		return TSCOPE_OK;
	if (tsi_table_add(out, SNAPSHOT_GROWTH, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[GROWTH_SITE] = tsi_text(row->site);
	cells[GROWTH_GROWTH_BYTES] = tsi_int(growth_of(row));
	cells[GROWTH_EARLIER_BYTES] = tsi_int(row->earlier_bytes);
	cells[GROWTH_BYTES] = tsi_int(row->bytes);
	cells[GROWTH_EARLIER_COUNT] = tsi_int(row->earlier_count);
	cells[GROWTH_NUMBER] = tsi_int(row->count);
	return TSCOPE_OK;
}

static enum tscope_status put_rows(const struct snapshot_view *view, struct fact_sheet *out,
				   struct growth_list *list, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t id = 0; id < list->count && status == TSCOPE_OK; id++)
		status = tsi_keep_text(view->scope, tsi_intern_text(&list->sites, id),
				       &list->rows[id].site, err);
	if (status != TSCOPE_OK)
		return status;
	if (list->count)
		qsort(list->rows, list->count, sizeof(*list->rows), compare_rows);
	for (size_t i = 0; i < list->count && status == TSCOPE_OK; i++)
		status = put_row(out, &list->rows[i], err);
	return status;
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

enum tscope_status tsi_snapshot_put_growth(const struct snapshot_view *view, struct fact_sheet *out,
					   struct tscope_error *err)
{
	const struct snapshot *now = view->snapshot, *then = &view->scope->earlier->snapshot;
	struct growth_list list = { 0 };
	enum tscope_status status = tsi_intern_init(&list.sites, UINT32_MAX - 1, err);

	if (status == TSCOPE_OK)
		status = add_earlier(&list, view, err);
	if (status == TSCOPE_OK)
		status = add_blocks(&list, view->sites, false, err);
	if (status == TSCOPE_OK)
		status = put_rows(view, out, &list, err);
	tsi_fact_text(out, SNAPSHOT_EARLIER_PATH, view->scope->earlier->info.path);
	tsi_fact_int(out, SNAPSHOT_GROWTH_BYTES, live_bytes(now) - live_bytes(then));
	tsi_fact_int(out, SNAPSHOT_GROWTH_RESERVED_BYTES,
		     reserved_bytes(now) - reserved_bytes(then));
	free(list.rows);
	tsi_intern_deinit(&list.sites);
	return status;
}
