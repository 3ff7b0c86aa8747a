/* SPDX-License-Identifier: MIT */
/*
 * Who asked for memory: lives of a snapshot by the site of their stack, for each device, and what
 * was live at the peak by role, and when a request failed.
 */
#include "analyze/memory/snapshot_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sum.h"

/* Bytes and how many blocks. */
struct amount {
	int64_t bytes, count;
};

/* Roles of stacks, and what was there without one when the entries begin. */
enum { ROLE_EARLIER = STACK_ROLE_COUNT, ROLE_COUNT };

/* A site of a device. */
struct site_sum {
	struct str text;
	uint32_t site;
	struct amount at_peak, at_end, never_freed, allocated;
	struct amount by_role[ROLE_COUNT]; /* at the moment that is looked at, the peak mostly */
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

static size_t role_of(const struct snapshot_view *view, uint32_t device,
		      const struct snapshot_life *life)
{
	enum stack_role role = tsi_stack_role(view->sites, life->stack);
	bool has_entries = view->snapshot->devices[device].entry_count > 0;

	return role == STACK_UNKNOWN && life->born == BEFORE_WINDOW && has_entries ? ROLE_EARLIER
										   : role;
}

static void add_to_role(const struct snapshot_view *view, uint32_t device, struct site_sum *sum,
			const struct snapshot_life *life)
{
	add_amount(&sum->by_role[role_of(view, device, life)], life->requested_bytes);
}

static void add_to_peak(const struct snapshot_view *view, uint32_t device, struct site_sum *sum,
			const struct snapshot_life *life)
{
	add_amount(&sum->at_peak, life->requested_bytes);
	add_to_role(view, device, sum, life);
}

static void add_life(struct site_sum *sum, const struct snapshot_life *life)
{
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

static int by_text(const void *left, const void *right)
{
	const struct site_sum *a = left, *b = right;

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

/* ---- roles -------------------------------------------------------------------------------- */

/* Memory of a role at that moment, and where most of it was allocated. */
struct role_sum {
	const char *name;
	struct amount live;
	struct str site, file;
	int64_t site_bytes, file_bytes;
};

/* The file of "folder/file.py:83:name < …"; "" where the innermost frame is not Python's. */
static struct str file_of(struct str site)
{
	ptrdiff_t end = tsi_str_find(site, TSI_STR(".py:")), next;

	if (end < 0)
		return TSI_STR("");
	site.length = (size_t)end + 3;
	next = tsi_str_find(site, TSI_STR(" < "));
	return next < 0 ? site : TSI_STR("");
}

/* Rows are in the order of their texts: those of one file stand together. */
static struct role_sum sum_role(const struct site_sums *sums, size_t role)
{
	struct role_sum sum = {
		.name = role == ROLE_EARLIER ? "earlier"
					     : tsi_stack_role_name((enum stack_role)role),
	};
	struct str file = { 0 };
	int64_t file_bytes = 0;

	for (size_t i = 0; i < sums->count; i++) {
		const struct site_sum *row = &sums->rows[i];
		const struct amount *part = &row->by_role[role];
		struct str own = file_of(row->text);

		if (!tsi_str_equal(own, file))
			file_bytes = 0;
		file = own;
		tsi_sum(&file_bytes, part->bytes);
		tsi_sum(&sum.live.bytes, part->bytes);
		sum.live.count += part->count;
		if (part->bytes > sum.site_bytes) {
			sum.site = row->text;
			sum.site_bytes = part->bytes;
		}
		if (file.length && file_bytes > sum.file_bytes) {
			sum.file = file;
			sum.file_bytes = file_bytes;
		}
	}
	return sum;
}

static int by_live_bytes(const void *left, const void *right)
{
	const struct role_sum *a = left, *b = right;

	TSI_DESCENDING(a->live.bytes, b->live.bytes);
	return strcmp(a->name, b->name);
}

static void put_role(const struct snapshot_view *view, struct fact_sheet *out,
		     enum snapshot_table table, uint32_t device, const struct role_sum *sum)
{
	struct tscope_value *cells = tsi_table_row(out, table);

	cells[ROLE_DEVICE] = tsi_int(view->snapshot->devices[device].ordinal);
	cells[ROLE_ROLE] = tsi_text(sum->name);
	cells[ROLE_BYTES] = tsi_int(sum->live.bytes);
	cells[ROLE_NUMBER] = tsi_int(sum->live.count);
	cells[ROLE_SITE] = tsi_text(tsi_sheet_copy(out, sum->site));
	cells[ROLE_SITE_BYTES] = tsi_int(sum->site_bytes);
	cells[ROLE_FILE] = tsi_text(tsi_sheet_copy(out, sum->file));
	cells[ROLE_FILE_BYTES] = tsi_int(sum->file_bytes);
}

static void put_roles(const struct snapshot_view *view, struct site_sums *sums,
		      struct fact_sheet *out, enum snapshot_table table, uint32_t device)
{
	struct role_sum roles[ROLE_COUNT];

	for (size_t i = 0; i < sums->count; i++)
		sums->rows[i].text = tsi_stack_site_text(view->sites, sums->rows[i].site);
	if (sums->count)
		qsort(sums->rows, sums->count, sizeof(*sums->rows), by_text);
	for (size_t i = 0; i < ROLE_COUNT; i++)
		roles[i] = sum_role(sums, i);
	qsort(roles, ROLE_COUNT, sizeof(*roles), by_live_bytes);
	for (size_t i = 0; i < ROLE_COUNT; i++)
		if (roles[i].live.count)
			put_role(view, out, table, device, &roles[i]);
}

void tsi_snapshot_put_oom_roles(const struct snapshot_view *view, struct fact_sheet *out,
				uint32_t device, int64_t index)
{
	const struct snapshot_replay *replay = &view->replays[device];
	struct site_sums sums = { .arena = tsi_sheet_scratch(out) };

	for (size_t i = 0; i < replay->life_count; i++) {
		if (!tsi_is_live(&replay->lives[i], index))
			continue;
		struct site_sum *sum = find_sum(&sums, view->sites, replay->lives[i].stack);
		if (!sum)
			return;
		add_to_role(view, device, sum, &replay->lives[i]);
	}
	put_roles(view, &sums, out, SNAPSHOT_OOM_BY_ROLE, device);
}

/* ---- a device ----------------------------------------------------------------------------- */

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
		if (tsi_is_live(&replay->lives[i], peak_index))
			add_to_peak(view, device, sum, &replay->lives[i]);
		add_life(sum, &replay->lives[i]);
	}
	put_roles(view, sums, out, SNAPSHOT_BY_ROLE, device);
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
