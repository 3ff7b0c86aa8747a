/* SPDX-License-Identifier: MIT */
/*
 * Requests that failed, and what would have let them pass, with the arithmetic. What
 * expandable segments would have done was tried on 460 simulated OOMs: where the request fits
 * into whole pages they helped in 143 of 152 (yes), where it fits if gaps begin where pages
 * do in 43 of 91 (perhaps), where it fits into all that was free in 6 of 103 (hardly). Some
 * max_split_size_mb helped in 301 of 370 where the request fits into what a limit would have kept
 * whole (perhaps: which limit is not told), and in none of 294 where it does not.
 */
#include "analyze/snapshot_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/sum.h"

enum { MAX_REMEDIED = 8 }; /* the last OOMs have remedies */

struct oom_row {
	uint32_t device;
	struct snapshot_oom oom;
};

/* Of all devices; a row of the table each. */
struct oom_rows {
	struct oom_row *rows;
	size_t count, capacity;
	size_t remedied[MAX_REMEDIED]; /* rows; the one that came last is the last */
	size_t remedied_count;
};

/* How the allocator was set. */
struct oom_settings {
	bool is_expandable, is_split_limited;
};

static struct oom_settings settings_of(const struct snapshot *snapshot)
{
	const struct plain *plain = snapshot->plain;
	struct oom_settings settings = { 0 };
	int64_t max_split_size = -1; /* no limit */

	(void)tsi_plain_to_bool(
		tsi_plain_find(plain, snapshot->settings, TSI_STR("expandable_segments")),
		&settings.is_expandable);
	for (size_t i = 0; i < snapshot->segment_count; i++)
		settings.is_expandable |= snapshot->segments[i].is_expandable;
	(void)tsi_plain_to_int64(
		plain, tsi_plain_find(plain, snapshot->settings, TSI_STR("max_split_size")),
		&max_split_size);
	settings.is_split_limited = max_split_size > 0;
	return settings;
}

/* Sizes are not negative. */
static int64_t missing(int64_t asked_bytes, int64_t there_bytes)
{
	return asked_bytes > there_bytes ? asked_bytes - there_bytes : 0;
}

/* ---- words -------------------------------------------------------------------------------- */

struct size_text {
	char chars[32];
};

static struct size_text size_text(int64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB" };
	double size = (double)bytes / 1024;
	struct size_text text;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text.chars, sizeof(text.chars), "%" PRId64 " B", bytes);
		return text;
	}
	while (size >= 1024 && unit + 1 < TSI_COUNT_OF(units)) {
		size /= 1024;
		unit++;
	}
	snprintf(text.chars, sizeof(text.chars), "%.1f %s", size, units[unit]);
	return text;
}

/* "2.0 GiB asked > 91.2 MiB left by the driver + 1.3 GiB free in 14 pieces, largest 300.0 MiB" */
static enum tscope_status say_all_free(const struct analysis_scope *scope,
				       const struct snapshot_oom *oom, const char **text,
				       struct tscope_error *err)
{
	return tsi_make_text(
		scope, text, err,
		"%s asked %s %s left by the driver + %s free in %" PRId64 " %s, largest %s",
		size_text(oom->size_bytes).chars,
		oom->size_bytes > oom->unfragmented_free_bytes ? ">" : "≤",
		size_text(oom->device_free_bytes).chars, size_text(oom->free_bytes).chars,
		oom->gap_count, oom->gap_count == 1 ? "piece" : "pieces",
		size_text(oom->largest_free_bytes).chars);
}

/* ---- remedies ----------------------------------------------------------------------------- */

struct remedy {
	const char *verdict, *arithmetic;
};

static const char *expandable_verdict(const struct snapshot_oom *oom,
				      const struct oom_settings *settings)
{
	if (settings->is_expandable)
		return "in_use";
	if (oom->size_bytes <= oom->pages_low_bytes)
		return "yes";
	if (oom->size_bytes <= oom->pages_high_bytes)
		return "perhaps";
	return oom->size_bytes <= oom->unfragmented_free_bytes ? "hardly" : "no";
}

static enum tscope_status judge_expandable(const struct analysis_scope *scope,
					   const struct snapshot_oom *oom,
					   const struct oom_settings *settings,
					   struct remedy *remedy, struct tscope_error *err)
{
	const struct size_text size = size_text(oom->size_bytes);
	const struct size_text low = size_text(oom->pages_low_bytes);
	const struct size_text high = size_text(oom->pages_high_bytes);
	const char **text = &remedy->arithmetic;

	remedy->verdict = expandable_verdict(oom, settings);
	if (settings->is_expandable || oom->size_bytes > oom->unfragmented_free_bytes)
		return say_all_free(scope, oom, text, err);
	if (oom->size_bytes <= oom->pages_low_bytes)
		return tsi_make_text(scope, text, err,
				     "%s asked ≤ %s left by the driver and in whole pages of the "
				     "free pieces",
				     size.chars, low.chars);
	if (oom->size_bytes <= oom->pages_high_bytes)
		return tsi_make_text(scope, text, err,
				     "%s asked ≤ %s left by the driver and in whole pages of the "
				     "free pieces, where these begin with a page; else %s",
				     size.chars, high.chars, low.chars);
	return tsi_make_text(scope, text, err,
			     "%s asked ≤ %s free in all, but > %s left by the driver and in whole "
			     "pages of the free pieces",
			     size.chars, size_text(oom->unfragmented_free_bytes).chars, high.chars);
}

static enum tscope_status judge_collection(const struct analysis_scope *scope,
					   const struct snapshot_oom *oom,
					   const struct oom_settings *settings,
					   struct remedy *remedy, struct tscope_error *err)
{
	(void)settings;
	remedy->verdict = "no";
	return tsi_make_text(scope, &remedy->arithmetic, err,
			     "a request fails only after every whole free segment was given back, "
			     "which is all that it frees earlier: %s of these were left",
			     size_text(oom->whole_bytes).chars);
}

static enum tscope_status judge_split_limit(const struct analysis_scope *scope,
					    const struct snapshot_oom *oom,
					    const struct oom_settings *settings,
					    struct remedy *remedy, struct tscope_error *err)
{
	int64_t free_bytes = oom->device_free_bytes;

	tsi_sum(&free_bytes, oom->split_bytes);
	bool fits = oom->size_bytes <= free_bytes;
	remedy->verdict = settings->is_split_limited ? "in_use" : fits ? "perhaps" : "no";
	return tsi_make_text(scope, &remedy->arithmetic, err,
			     "%s asked %s %s left by the driver + %s free beside other blocks in "
			     "segments above 20 MiB, which a limit keeps whole",
			     size_text(oom->size_bytes).chars, fits ? "≤" : ">",
			     size_text(oom->device_free_bytes).chars,
			     size_text(oom->split_bytes).chars);
}

static enum tscope_status judge_peak(const struct analysis_scope *scope,
				     const struct snapshot_oom *oom,
				     const struct oom_settings *settings, struct remedy *remedy,
				     struct tscope_error *err)
{
	int64_t piece = oom->largest_free_bytes > oom->device_free_bytes ? oom->largest_free_bytes
									 : oom->device_free_bytes;
	const struct size_text size = size_text(oom->size_bytes);
	const struct size_text all = size_text(oom->unfragmented_free_bytes);
	const struct size_text largest = size_text(piece);
	const struct size_text by_most = size_text(missing(oom->size_bytes, piece));
	int64_t least = missing(oom->size_bytes, oom->unfragmented_free_bytes);

	(void)settings;
	remedy->verdict = "yes";
	if (least == 0)
		return tsi_make_text(
			scope, &remedy->arithmetic, err,
			"by up to %s (%s asked - %s, the largest piece); %s free in all "
			"would have done in one piece",
			by_most.chars, size.chars, largest.chars, all.chars);
	return tsi_make_text(scope, &remedy->arithmetic, err,
			     "by at least %s (%s asked - %s free in all); by %s with the pieces as "
			     "they were (%s asked - %s, the largest)",
			     size_text(least).chars, size.chars, all.chars, by_most.chars,
			     size.chars, largest.chars);
}

static const struct {
	const char *name;
	enum tscope_status (*judge)(const struct analysis_scope *scope,
				    const struct snapshot_oom *oom,
				    const struct oom_settings *settings, struct remedy *remedy,
				    struct tscope_error *err);
} remedies[] = {
	{ "expandable_segments", judge_expandable },
	{ "garbage_collection_threshold", judge_collection },
	{ "max_split_size_mb", judge_split_limit },
	{ "smaller_peak", judge_peak },
};

static enum tscope_status put_remedies(const struct snapshot_view *view, struct fact_sheet *out,
				       const struct oom_rows *list, size_t row,
				       struct tscope_error *err)
{
	const struct oom_settings settings = settings_of(view->snapshot);

	for (size_t i = 0; i < TSI_COUNT_OF(remedies); i++) {
		struct tscope_value *cells;
		struct remedy remedy;
		enum tscope_status status = remedies[i].judge(view->scope, &list->rows[row].oom,
							      &settings, &remedy, err);
		if (status == TSCOPE_OK)
			status = tsi_table_add(out, SNAPSHOT_OOM_REMEDIES, &cells, err);
		if (status != TSCOPE_OK)
			return status;
		cells[REMEDIES_OOM] = tsi_int((int64_t)row);
		cells[REMEDIES_REMEDY] = tsi_text(remedies[i].name);
		cells[REMEDIES_VERDICT] = tsi_text(remedy.verdict);
		cells[REMEDIES_ARITHMETIC] = tsi_text(remedy.arithmetic);
	}
	return TSCOPE_OK;
}

/* ---- facts and tables --------------------------------------------------------------------- */

static struct tscope_value known_bytes(int64_t bytes)
{
	return bytes == UNKNOWN_BYTES ? (struct tscope_value){ 0 } : tsi_int(bytes);
}

static bool is_laid_out(const struct snapshot_oom *oom)
{
	return oom->free_bytes != UNKNOWN_BYTES;
}

static bool fits_unfragmented(const struct snapshot_oom *oom)
{
	return oom->size_bytes <= oom->unfragmented_free_bytes;
}

static enum tscope_status keep_site(const struct snapshot_view *view, struct plain_value stack,
				    const char **text, struct tscope_error *err)
{
	uint32_t site;
	enum tscope_status status = tsi_stack_site(view->sites, stack, &site, err);

	if (status != TSCOPE_OK)
		return status;
	return tsi_keep_text(view->scope, tsi_stack_site_text(view->sites, site), text, err);
}

static void put_cells(struct tscope_value *cells, const struct snapshot_oom *oom)
{
	cells[OOMS_INDEX] = tsi_int(oom->index);
	cells[OOMS_TIME_NS] = tsi_snapshot_ns(oom->time_us);
	cells[OOMS_SIZE_BYTES] = tsi_int(oom->size_bytes);
	cells[OOMS_DEVICE_FREE_BYTES] = tsi_int(oom->device_free_bytes);
	cells[OOMS_RESERVED_BYTES] = tsi_int(oom->reserved_bytes);
	cells[OOMS_LIVE_BYTES] = tsi_int(oom->live_bytes);
	cells[OOMS_LARGEST_FREE_BYTES] = known_bytes(oom->largest_free_bytes);
	cells[OOMS_FREE_BYTES] = known_bytes(oom->free_bytes);
	cells[OOMS_UNFRAGMENTED_FREE_BYTES] = known_bytes(oom->unfragmented_free_bytes);
	cells[OOMS_PAGES_LOW_BYTES] = known_bytes(oom->pages_low_bytes);
	cells[OOMS_PAGES_HIGH_BYTES] = known_bytes(oom->pages_high_bytes);
	cells[OOMS_IS_EXACT] = tsi_flag(oom->is_exact);
	if (is_laid_out(oom))
		cells[OOMS_FITS_UNFRAGMENTED] = tsi_flag(fits_unfragmented(oom));
}

static enum tscope_status put_table(const struct snapshot_view *view, struct fact_sheet *out,
				    const struct oom_rows *list, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < list->count; i++) {
		const struct oom_row *row = &list->rows[i];
		struct tscope_value *cells;
		const char *site;
		status = keep_site(view, row->oom.stack, &site, err);
		if (status == TSCOPE_OK)
			status = tsi_table_add(out, SNAPSHOT_OOMS, &cells, err);
		if (status != TSCOPE_OK)
			break;
		cells[OOMS_DEVICE] = tsi_int(view->snapshot->devices[row->device].ordinal);
		cells[OOMS_SITE] = tsi_text(site);
		put_cells(cells, &row->oom);
	}
	for (size_t i = 0; status == TSCOPE_OK && i < list->remedied_count; i++)
		if (is_laid_out(&list->rows[list->remedied[i]].oom))
			status = put_remedies(view, out, list, list->remedied[i], err);
	return status;
}

static void put_bytes(struct fact_sheet *out, enum snapshot_fact fact, int64_t bytes)
{
	if (bytes != UNKNOWN_BYTES)
		tsi_fact_int(out, fact, bytes);
}

static enum tscope_status put_last(const struct snapshot_view *view, struct fact_sheet *out,
				   const struct oom_row *row, struct tscope_error *err)
{
	const struct snapshot_oom *oom = &row->oom;
	struct tscope_value time = tsi_snapshot_ns(oom->time_us);
	const struct oom_settings settings = settings_of(view->snapshot);
	const char *site;
	enum tscope_status status = keep_site(view, oom->stack, &site, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_fact_int(out, SNAPSHOT_OOM_DEVICE, view->snapshot->devices[row->device].ordinal);
	if (time.kind == TSCOPE_VALUE_INT)
		tsi_fact_int(out, SNAPSHOT_OOM_TIME_NS, time.integer);
	tsi_fact_int(out, SNAPSHOT_OOM_SIZE_BYTES, oom->size_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_DEVICE_FREE_BYTES, oom->device_free_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_RESERVED_BYTES, oom->reserved_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_LIVE_BYTES, oom->live_bytes);
	put_bytes(out, SNAPSHOT_OOM_FREE_BYTES, oom->free_bytes);
	put_bytes(out, SNAPSHOT_OOM_LARGEST_FREE_BYTES, oom->largest_free_bytes);
	tsi_fact_text(out, SNAPSHOT_OOM_SITE, site);
	if (!is_laid_out(oom))
		return TSCOPE_OK;
	tsi_fact_int(out, SNAPSHOT_OOM_SHORTFALL_BYTES,
		     missing(oom->size_bytes, oom->unfragmented_free_bytes));
	tsi_fact_flag(out, SNAPSHOT_OOM_FITS_UNFRAGMENTED, fits_unfragmented(oom));
	tsi_fact_text(out, SNAPSHOT_OOM_EXPANDABLE_SEGMENTS, expandable_verdict(oom, &settings));
	return TSCOPE_OK;
}

/* ---- putting it together ------------------------------------------------------------------ */

static enum tscope_status add_rows(struct oom_rows *list, const struct snapshot_view *view,
				   uint32_t device, struct tscope_error *err)
{
	struct snapshot_oom *ooms;
	size_t count;
	enum tscope_status status = tsi_snapshot_ooms(&ooms, &count, view->snapshot, device,
						      &view->replays[device], err);

	if (status != TSCOPE_OK)
		return status;
	if (count)
		status = tsi_array_reserve(&list->rows, &list->capacity, list->count + count,
					   sizeof(*list->rows), err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		list->rows[list->count++] = (struct oom_row){ device, ooms[i] };
	free(ooms);
	return status;
}

/* The last OOMs by time; those of one time, or without one, in the order of devices and entries. */
static enum tscope_status choose_remedied(struct oom_rows *list, struct tscope_error *err)
{
	struct sort_pair *pairs;

	if (list->count == 0)
		return TSCOPE_OK;
	if (tsi_array_new(&pairs, list->count, 2 * sizeof(*pairs), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < list->count; i++)
		pairs[i] =
			(struct sort_pair){ tsi_sort_key_of_int64(list->rows[i].oom.time_us), i };
	tsi_sort_pairs(pairs, pairs + list->count, list->count);
	list->remedied_count = list->count < MAX_REMEDIED ? list->count : MAX_REMEDIED;
	for (size_t i = 0; i < list->remedied_count; i++)
		list->remedied[i] = (size_t)pairs[list->count - list->remedied_count + i].value;
	free(pairs);
	return TSCOPE_OK;
}

enum tscope_status tsi_snapshot_put_ooms(const struct snapshot_view *view, struct fact_sheet *out,
					 struct tscope_error *err)
{
	struct oom_rows list = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t i = 0; status == TSCOPE_OK && i < view->snapshot->device_count; i++)
		status = add_rows(&list, view, i, err);
	if (status == TSCOPE_OK)
		status = choose_remedied(&list, err);
	if (status == TSCOPE_OK)
		status = put_table(view, out, &list, err);
	if (status == TSCOPE_OK && list.count)
		status = put_last(view, out, &list.rows[list.remedied[list.remedied_count - 1]],
				  err);
	if (view->snapshot->entry_count)
		tsi_fact_int(out, SNAPSHOT_OOM_COUNT, (int64_t)list.count);
	else
		tsi_fact_doubt(out, SNAPSHOT_OOM_COUNT, tsi_snapshot_no_entries);
	free(list.rows);
	return status;
}
