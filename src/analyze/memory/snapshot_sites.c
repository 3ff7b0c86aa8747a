/* SPDX-License-Identifier: MIT */
/* Who asked for memory: lives of a snapshot by the site of their stack, for each device. */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/sum.h"

/* Bytes and how many blocks. */
struct amount {
	int64_t bytes, count;
};

/* A site of a device. */
struct site_sum {
	struct str text;
	uint32_t site;
	struct amount at_peak, at_end, never_freed, allocated;
	int64_t freed_count;
	int64_t lived_us, longest_us;
	int64_t lived_entries, longest_entries;
};

/* Of one device after the other. */
struct site_sums {
	struct site_sum *rows;
	size_t count, capacity;
	uint32_t *row_of; /* by site: its row + 1, or 0 */
	size_t site_capacity, site_count;
};

static void add_amount(struct amount *amount, int64_t bytes)
{
	amount->count++;
	tsi_sum(&amount->bytes, bytes);
}

static void add_lifetime(struct site_sum *sum, const struct snapshot_life *life)
{
	int64_t entries = life->asked - life->born;

	sum->freed_count++;
	tsi_sum(&sum->lived_entries, entries);
	if (entries > sum->longest_entries)
		sum->longest_entries = entries;
	if (life->lived_us == NO_TIME_US)
		return;
	tsi_sum_signed(&sum->lived_us, life->lived_us);
	if (life->lived_us > sum->longest_us)
		sum->longest_us = life->lived_us;
}

static void add_life(struct site_sum *sum, const struct snapshot_life *life, int64_t peak_index)
{
	if (tsi_is_live(life, peak_index))
		add_amount(&sum->at_peak, life->requested_bytes);
	if (life->died == AFTER_WINDOW)
		add_amount(&sum->at_end, life->requested_bytes);
	if (tsi_is_never_freed(life))
		add_amount(&sum->never_freed, life->requested_bytes);
	if (life->born == BEFORE_WINDOW)
		return;
	add_amount(&sum->allocated, life->requested_bytes);
	if (life->asked != AFTER_WINDOW)
		add_lifetime(sum, life);
}

/* Makes room in row_of for a site. */
static enum tscope_status know_site(struct site_sums *sums, uint32_t site, struct tscope_error *err)
{
	size_t count = (size_t)site + 1;

	if (count <= sums->site_count)
		return TSCOPE_OK;
	if (tsi_array_reserve(&sums->row_of, &sums->site_capacity, count, sizeof(*sums->row_of),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memset(&sums->row_of[sums->site_count], 0,
	       (count - sums->site_count) * sizeof(*sums->row_of));
	sums->site_count = count;
	return TSCOPE_OK;
}

/* The row of a stack. *sum is valid until the next one. */
static enum tscope_status find_sum(struct site_sums *sums, struct stack_sites *sites,
				   struct plain_value stack, struct site_sum **sum,
				   struct tscope_error *err)
{
	uint32_t site;
	enum tscope_status status = tsi_stack_site(sites, stack, &site, err);

	if (status == TSCOPE_OK)
		status = know_site(sums, site, err);
	if (status != TSCOPE_OK)
		return status;
	if (!sums->row_of[site]) {
		if (tsi_array_reserve(&sums->rows, &sums->capacity, sums->count + 1,
				      sizeof(*sums->rows), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		sums->rows[sums->count++] = (struct site_sum){ .site = site };
		sums->row_of[site] = (uint32_t)sums->count;
	}
	*sum = &sums->rows[sums->row_of[site] - 1];
	return TSCOPE_OK;
}

/* Begins anew for the next device. */
static void clear(struct site_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		sums->row_of[sums->rows[i].site] = 0;
	sums->count = 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int compare_text(struct str a, struct str b)
{
	size_t shared = a.length < b.length ? a.length : b.length;
	int order = shared ? memcmp(a.data, b.data, shared) : 0;

	return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int by_bytes(const void *left, const void *right)
{
	const struct site_sum *a = left, *b = right;

	if (a->at_peak.bytes != b->at_peak.bytes)
		return a->at_peak.bytes > b->at_peak.bytes ? -1 : 1;
	if (a->at_end.bytes != b->at_end.bytes)
		return a->at_end.bytes > b->at_end.bytes ? -1 : 1;
	return compare_text(a->text, b->text);
}

static void put_lifetimes(struct tscope_value *cells, const struct site_sum *sum, bool has_times)
{
	cells[SITES_FREED_COUNT] = tsi_int(sum->freed_count);
	cells[SITES_LIFETIME_ENTRIES] = tsi_int(sum->lived_entries);
	cells[SITES_LONGEST_ENTRIES] = tsi_int(sum->longest_entries);
	if (!has_times)
		return;
	cells[SITES_LIFETIME_NS] = tsi_snapshot_ns(sum->lived_us);
	cells[SITES_LONGEST_NS] = tsi_snapshot_ns(sum->longest_us);
}

static enum tscope_status put_sum(const struct snapshot_view *view, struct fact_sheet *out,
				  uint32_t device, const struct site_sum *sum,
				  struct tscope_error *err)
{
	struct tscope_value *cells;
	const char *text;

	/* Only blocks that were there before the entries and were gone by the peak. */
	if (!sum->at_peak.count && !sum->at_end.count && !sum->allocated.count)
		return TSCOPE_OK;
	if (tsi_keep_text(view->scope, sum->text, &text, err) != TSCOPE_OK ||
	    tsi_table_add(out, SNAPSHOT_SITES, &cells, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	cells[SITES_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
	cells[SITES_SITE] = tsi_text(text);
	cells[SITES_PEAK_BYTES] = tsi_int(sum->at_peak.bytes);
	cells[SITES_PEAK_COUNT] = tsi_int(sum->at_peak.count);
	cells[SITES_END_BYTES] = tsi_int(sum->at_end.bytes);
	cells[SITES_END_COUNT] = tsi_int(sum->at_end.count);
	cells[SITES_NEVER_FREED_BYTES] = tsi_int(sum->never_freed.bytes);
	cells[SITES_NEVER_FREED_COUNT] = tsi_int(sum->never_freed.count);
	cells[SITES_ALLOC_BYTES] = tsi_int(sum->allocated.bytes);
	cells[SITES_ALLOC_COUNT] = tsi_int(sum->allocated.count);
	put_lifetimes(cells, sum, view->replays[device].has_times);
	return TSCOPE_OK;
}

static enum tscope_status put_device(const struct snapshot_view *view, struct site_sums *sums,
				     struct fact_sheet *out, uint32_t device,
				     struct tscope_error *err)
{
	const struct snapshot_replay *replay = &view->replays[device];
	int64_t peak_index = replay->curves[CURVE_ACTIVE].peak_index;
	enum tscope_status status = TSCOPE_OK;
	struct site_sum *sum;

	clear(sums);
	for (size_t i = 0; status == TSCOPE_OK && i < replay->life_count; i++) {
		status = find_sum(sums, view->sites, replay->lives[i].stack, &sum, err);
		if (status == TSCOPE_OK)
			add_life(sum, &replay->lives[i], peak_index);
	}
	for (size_t i = 0; i < sums->count; i++)
		sums->rows[i].text = tsi_stack_site_text(view->sites, sums->rows[i].site);
	if (sums->count)
		qsort(sums->rows, sums->count, sizeof(*sums->rows), by_bytes);
	for (size_t i = 0; status == TSCOPE_OK && i < sums->count; i++)
		status = put_sum(view, out, device, &sums->rows[i], err);
	return status;
}

enum tscope_status tsi_snapshot_put_sites(const struct snapshot_view *view, struct fact_sheet *out,
					  struct tscope_error *err)
{
	struct site_sums sums = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t i = 0; status == TSCOPE_OK && i < view->snapshot->device_count; i++)
		status = put_device(view, &sums, out, i, err);
	free(sums.row_of);
	free(sums.rows);
	return status;
}
