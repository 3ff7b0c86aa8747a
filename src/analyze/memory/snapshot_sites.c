/* SPDX-License-Identifier: MIT */
/* Who asked for memory: lives of a snapshot by the site of their stack, for each device. */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

/* The sums of one device after the other. */
struct site_sums {
	struct arena *arena;
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

/* Makes room in row_of for a site; false without memory. */
static bool know_site(struct site_sums *sums, uint32_t site)
{
	if (site < sums->site_count)
		return true;
	uint32_t *row_of = tsi_arena_reserve(sums->arena, sums->row_of, &sums->site_capacity,
					     (size_t)site + 1, sizeof(*row_of));
	if (!row_of)
		return false;
	memset(&row_of[sums->site_count], 0, (site + 1 - sums->site_count) * sizeof(*row_of));
	sums->row_of = row_of;
	sums->site_count = (size_t)site + 1;
	return true;
}

/* The row of a stack, valid until the next one; NULL without memory. */
static struct site_sum *find_sum(struct site_sums *sums, struct stack_sites *sites,
				 struct plain_value stack)
{
	uint32_t site = tsi_stack_site(sites, stack);

	if (!know_site(sums, site))
		return NULL;
	if (sums->row_of[site])
		return &sums->rows[sums->row_of[site] - 1];
	struct site_sum *sum = tsi_arena_push(sums->arena, &sums->rows, &sums->count,
					      &sums->capacity, sizeof(*sum));
	if (!sum)
		return NULL;
	sum->site = site;
	sums->row_of[site] = (uint32_t)sums->count;
	return sum;
}

/* Forgets the sums of a device. */
static void clear(struct site_sums *sums)
{
	for (size_t i = 0; i < sums->count; i++)
		sums->row_of[sums->rows[i].site] = 0;
	sums->count = 0;
}

/* ---- the table ---------------------------------------------------------------------------- */

static int by_bytes(const void *left, const void *right)
{
	const struct site_sum *a = left, *b = right;

	TSI_DESCENDING(a->at_peak.bytes, b->at_peak.bytes);
	TSI_DESCENDING(a->at_end.bytes, b->at_end.bytes);
	return tsi_str_compare(a->text, b->text);
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

static void put_sum(const struct snapshot_view *view, struct fact_sheet *out, uint32_t device,
		    const struct site_sum *sum)
{
	/* Only blocks that were there before the entries and were gone by the peak. */
	if (!sum->at_peak.count && !sum->at_end.count && !sum->allocated.count)
		return;
	struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_SITES);
	cells[SITES_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
	cells[SITES_SITE] = tsi_text(tsi_sheet_copy(out, sum->text));
	cells[SITES_PEAK_BYTES] = tsi_int(sum->at_peak.bytes);
	cells[SITES_PEAK_COUNT] = tsi_int(sum->at_peak.count);
	cells[SITES_END_BYTES] = tsi_int(sum->at_end.bytes);
	cells[SITES_END_COUNT] = tsi_int(sum->at_end.count);
	cells[SITES_NEVER_FREED_BYTES] = tsi_int(sum->never_freed.bytes);
	cells[SITES_NEVER_FREED_COUNT] = tsi_int(sum->never_freed.count);
	cells[SITES_ALLOC_BYTES] = tsi_int(sum->allocated.bytes);
	cells[SITES_ALLOC_COUNT] = tsi_int(sum->allocated.count);
	put_lifetimes(cells, sum, view->replays[device].has_times);
}

/* Sites that held anything at the peak come first; what only others held is with the rest. */
static void put_history(const struct snapshot_view *view, const struct site_sums *sums,
			struct fact_sheet *out, uint32_t device)
{
	uint32_t *sites = tsi_arena_new(sums->arena, sums->count + 1, sizeof(*sites));

	if (!sites)
		return;
	for (size_t i = 0; i < sums->count; i++)
		sites[i] = sums->rows[i].site;
	tsi_snapshot_put_site_history(view, out, device, sites, sums->count);
}

static void put_device(const struct snapshot_view *view, struct site_sums *sums,
		       struct fact_sheet *out, uint32_t device)
{
	const struct snapshot_replay *replay = &view->replays[device];
	int64_t peak_index = replay->curves[CURVE_ACTIVE].peak_index;

	clear(sums);
	for (size_t i = 0; i < replay->life_count; i++) {
		struct site_sum *sum = find_sum(sums, view->sites, replay->lives[i].stack);
		if (!sum)
			return;
		add_life(sum, &replay->lives[i], peak_index);
	}
	for (size_t i = 0; i < sums->count; i++)
		sums->rows[i].text = tsi_stack_site_text(view->sites, sums->rows[i].site);
	if (sums->count)
		qsort(sums->rows, sums->count, sizeof(*sums->rows), by_bytes);
	for (size_t i = 0; i < sums->count; i++)
		put_sum(view, out, device, &sums->rows[i]);
	put_history(view, sums, out, device);
}

void tsi_snapshot_put_sites(const struct snapshot_view *view, struct fact_sheet *out)
{
	struct site_sums sums = { .arena = tsi_sheet_scratch(out) };

	for (uint32_t i = 0; i < view->snapshot->device_count; i++)
		put_device(view, &sums, out, i);
}
