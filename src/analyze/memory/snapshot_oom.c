/* SPDX-License-Identifier: MIT */
/*
 * Requests that failed, and what would have let them pass, with the arithmetic. What
 * expandable segments would have done was tried on 460 simulated OOMs: where the request fits
 * into whole pages they helped in 143 of 152 (likely), where it fits if gaps begin where pages
 * do in 43 of 91 (perhaps), where it fits into all that was free in 6 of 103 (hardly). These
 * rates are of the worlds that the classes were made with: in fresh ones "likely" helped in 28 of
 * 39. Some max_split_size_mb helped in 301 of 370 where the request fits into what a limit would
 * have kept whole (perhaps: which limit is not told), and where it does not in 1 of 347 all the
 * same (no).
 */
#include "analyze/memory/snapshot_oom_case.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/size_text.h"
#include "base/sort.h"
#include "base/sum.h"

enum { MAX_REMEDIED = 8 }; /* the last OOMs have remedies */

/* Of all devices; a row of the table each. */
struct oom_rows {
	struct oom_row *rows;
	size_t count, capacity;
	size_t remedied[MAX_REMEDIED]; /* rows; the one that came last is the last */
	size_t remedied_count;
};

/* Sizes are not negative. */
static int64_t missing(int64_t asked_bytes, int64_t there_bytes)
{
	return asked_bytes > there_bytes ? asked_bytes - there_bytes : 0;
}

/* ---- words -------------------------------------------------------------------------------- */

/* "2.0 GiB asked > 91.2 MiB left by the driver + 1.3 GiB free in 14 pieces, largest 300.0 MiB" */
static enum tscope_status say_all_free(const struct analysis_scope *scope,
				       const struct snapshot_oom *oom, const char **text,
				       struct tscope_error *err)
{
	return tsi_make_text(
		scope, text, err,
		"%s asked %s %s left by the driver + %s free in %" PRId64 " %s, largest %s",
		tsi_size_text(oom->size_bytes).chars,
		oom->size_bytes > oom->unfragmented_free_bytes ? ">" : "≤",
		tsi_size_text(oom->device_free_bytes).chars, tsi_size_text(oom->free_bytes).chars,
		oom->gap_count, oom->gap_count == 1 ? "piece" : "pieces",
		tsi_size_text(oom->largest_free_bytes).chars);
}

/* "2.0 GiB asked", "4.0 MiB asked, for which torch asks the driver for 20.0 MiB," */
static enum tscope_status say_asked(const struct analysis_scope *scope, const struct oom_case *c,
				    const char **text, struct tscope_error *err)
{
	const struct size_text size = tsi_size_text(c->oom->size_bytes);

	if (c->driver_bytes == c->oom->size_bytes)
		return tsi_make_text(scope, text, err, "%s asked", size.chars);
	return tsi_make_text(scope, text, err, "%s asked, for which torch asks the driver for %s,",
			     size.chars, tsi_size_text(c->driver_bytes).chars);
}

/* For settings that change how segments are cut, where that was not what was lacking. */
static enum tscope_status say_cause(const struct analysis_scope *scope, const struct oom_case *c,
				    const char **text, struct tscope_error *err)
{
	const struct size_text left = tsi_size_text(c->oom->device_free_bytes);
	const char *asked;
	enum tscope_status status = say_asked(scope, c, &asked, err);

	if (status != TSCOPE_OK)
		return status;
	if (c->cause == OOM_CAUSE_LIMIT)
		return tsi_make_text(scope, text, err,
				     "%s ≤ %s left by the driver: a limit of the process, such as "
				     "set_per_process_memory_fraction, refused it, unless the "
				     "driver had less just before",
				     asked, left.chars);
	return tsi_make_text(scope, text, err, "%s > %s left by the driver + %s free in pieces",
			     asked, left.chars, tsi_size_text(c->oom->free_bytes).chars);
}

/* Adds what makes a verdict less sure. */
static enum tscope_status qualify(const struct analysis_scope *scope, const struct oom_case *c,
				  const char **text, struct tscope_error *err)
{
	if (c->cause == OOM_CAUSE_LIMIT || (!c->is_private && !c->doubt))
		return TSCOPE_OK;
	return tsi_make_text(scope, text, err, "%s%s%s", *text,
			     c->is_private ? "; the request was for a private pool, whose own "
					     "pieces are not counted"
					   : "",
			     c->doubt ? "; gaps may be smaller, the layout is not certain" : "");
}

/* ---- remedies ----------------------------------------------------------------------------- */

struct remedy {
	const char *verdict, *arithmetic;
};

static bool is_cut_to_blame(const struct oom_case *c)
{
	return c->cause != OOM_CAUSE_LIMIT && c->cause != OOM_CAUSE_ROUNDING;
}

/* What must be there in pages: a middling request needs a whole one. */
static int64_t paged_bytes(const struct oom_case *c)
{
	const int64_t least_large = INT64_C(10) << 20;

	return c->oom->size_bytes < least_large ? c->driver_bytes : c->oom->size_bytes;
}

static const char *expandable_verdict(const struct oom_case *c)
{
	const struct snapshot_oom *oom = c->oom;

	if (c->settings.is_expandable)
		return "in_use";
	if (!is_cut_to_blame(c) || !tsi_fits_unfragmented(oom))
		return "no";
	if (paged_bytes(c) <= oom->pages_low_bytes)
		return c->is_private || c->doubt ? "perhaps" : "likely";
	return paged_bytes(c) <= oom->pages_high_bytes ? "perhaps" : "hardly";
}

/* Where the request fits into all that was free. */
static enum tscope_status say_pages(const struct analysis_scope *scope, const struct oom_case *c,
				    const char **text, struct tscope_error *err)
{
	const struct snapshot_oom *oom = c->oom;
	const struct size_text size = tsi_size_text(oom->size_bytes);
	const struct size_text low = tsi_size_text(oom->pages_low_bytes);
	const struct size_text high = tsi_size_text(oom->pages_high_bytes);
	const struct size_text paged = tsi_size_text(paged_bytes(c));
	const char *asked;
	enum tscope_status status = tsi_make_text(
		scope, &asked, err,
		paged_bytes(c) == oom->size_bytes ? "%s asked" : "%s asked (a page: %s)",
		size.chars, paged.chars);

	if (status != TSCOPE_OK)
		return status;
	if (paged_bytes(c) <= oom->pages_low_bytes)
		return tsi_make_text(scope, text, err,
				     "%s ≤ %s left by the driver and in whole pages of the "
				     "free pieces",
				     asked, low.chars);
	if (paged_bytes(c) <= oom->pages_high_bytes)
		return tsi_make_text(scope, text, err,
				     "%s ≤ %s left by the driver and in whole pages of the "
				     "free pieces, where these begin with a page; else %s",
				     asked, high.chars, low.chars);
	return tsi_make_text(scope, text, err,
			     "%s ≤ %s free in all, but > %s left by the driver and in whole "
			     "pages of the free pieces",
			     asked, tsi_size_text(oom->unfragmented_free_bytes).chars, high.chars);
}

static enum tscope_status judge_expandable(const struct analysis_scope *scope,
					   const struct oom_case *c, struct remedy *remedy,
					   struct tscope_error *err)
{
	const char **text = &remedy->arithmetic;
	enum tscope_status status;

	remedy->verdict = expandable_verdict(c);
	if (!is_cut_to_blame(c))
		status = say_cause(scope, c, text, err);
	else if (c->settings.is_expandable || !tsi_fits_unfragmented(c->oom))
		status = say_all_free(scope, c->oom, text, err);
	else
		status = say_pages(scope, c, text, err);
	return status == TSCOPE_OK ? qualify(scope, c, text, err) : status;
}

static enum tscope_status judge_collection(const struct analysis_scope *scope,
					   const struct oom_case *c, struct remedy *remedy,
					   struct tscope_error *err)
{
	remedy->verdict = c->settings.is_collecting ? "in_use" : "no";
	return tsi_make_text(scope, &remedy->arithmetic, err,
			     "not at that moment: a request fails only after every whole free "
			     "segment was given back, which is all that it frees earlier, and only "
			     "where a memory fraction is set: %s of these were left",
			     tsi_size_text(c->oom->whole_bytes).chars);
}

static enum tscope_status judge_split_limit(const struct analysis_scope *scope,
					    const struct oom_case *c, struct remedy *remedy,
					    struct tscope_error *err)
{
	const struct snapshot_oom *oom = c->oom;
	int64_t free_bytes = oom->device_free_bytes;
	enum tscope_status status;

	tsi_sum(&free_bytes, oom->split_bytes);
	bool fits = oom->size_bytes <= free_bytes;
	remedy->verdict = c->settings.is_split_limited ? "in_use"
			  : fits && is_cut_to_blame(c) ? "perhaps"
						       : "no";
	if (is_cut_to_blame(c))
		status = tsi_make_text(
			scope, &remedy->arithmetic, err,
			"%s asked %s %s left by the driver + %s free beside other blocks in "
			"segments above 20 MiB, which a limit keeps whole",
			tsi_size_text(oom->size_bytes).chars, fits ? "≤" : ">",
			tsi_size_text(oom->device_free_bytes).chars,
			tsi_size_text(oom->split_bytes).chars);
	else
		status = say_cause(scope, c, &remedy->arithmetic, err);
	return status == TSCOPE_OK ? qualify(scope, c, &remedy->arithmetic, err) : status;
}

/* "6.6 MiB": so much less at the peak, and it would have passed with the pieces as they were. */
struct step_down {
	int64_t bytes;
	const char *words;
};

/* By a piece that grows to hold it, or by the driver, whichever takes less. */
static enum tscope_status find_step_down(const struct analysis_scope *scope,
					 const struct oom_case *c, struct step_down *step,
					 struct tscope_error *err)
{
	const struct snapshot_oom *oom = c->oom;
	/* Pieces of a private pool are not known. */
	int64_t by_piece =
		c->is_private ? INT64_MAX : missing(oom->size_bytes, oom->largest_free_bytes);
	int64_t by_driver = missing(c->driver_bytes, oom->device_free_bytes);

	step->bytes = by_piece < by_driver ? by_piece : by_driver;
	if (by_piece < by_driver || (c->driver_bytes == oom->size_bytes && !c->is_private))
		return tsi_make_text(scope, &step->words, err, "%s asked - %s, the largest piece",
				     tsi_size_text(oom->size_bytes).chars,
				     tsi_size_text(by_piece < by_driver ? oom->largest_free_bytes
									: oom->device_free_bytes)
					     .chars);
	return tsi_make_text(
		scope, &step->words, err, "%s that torch asks the driver for - %s left by it",
		tsi_size_text(c->driver_bytes).chars, tsi_size_text(oom->device_free_bytes).chars);
}

static enum tscope_status judge_peak(const struct analysis_scope *scope, const struct oom_case *c,
				     struct remedy *remedy, struct tscope_error *err)
{
	const struct snapshot_oom *oom = c->oom;
	const struct size_text all = tsi_size_text(oom->unfragmented_free_bytes);
	int64_t least = missing(oom->size_bytes, oom->unfragmented_free_bytes);
	struct step_down step;
	enum tscope_status status = find_step_down(scope, c, &step, err);

	if (status != TSCOPE_OK)
		return status;
	remedy->verdict = "yes";
	if (c->cause == OOM_CAUSE_LIMIT)
		return tsi_make_text(scope, &remedy->arithmetic, err,
				     "by at most %s, below that limit, which is not recorded",
				     tsi_size_text(c->driver_bytes).chars);
	if (c->cause == OOM_CAUSE_ROUNDING)
		return tsi_make_text(scope, &remedy->arithmetic, err, "by up to %s (%s)",
				     tsi_size_text(step.bytes).chars, step.words);
	if (step.bytes == 0)
		return tsi_make_text(scope, &remedy->arithmetic, err,
				     "by how much is not known: %s seem to lie free in one piece",
				     tsi_size_text(oom->largest_free_bytes).chars);
	if (least == 0)
		return tsi_make_text(
			scope, &remedy->arithmetic, err,
			"by up to %s (%s); %s free in all would have done in one piece",
			tsi_size_text(step.bytes).chars, step.words, all.chars);
	return tsi_make_text(scope, &remedy->arithmetic, err,
			     "by at least %s (%s asked - %s free in all); by %s with the pieces as "
			     "they were (%s)",
			     tsi_size_text(least).chars, tsi_size_text(oom->size_bytes).chars,
			     all.chars, tsi_size_text(step.bytes).chars, step.words);
}

static const struct {
	const char *name;
	enum tscope_status (*judge)(const struct analysis_scope *scope, const struct oom_case *c,
				    struct remedy *remedy, struct tscope_error *err);
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
	const struct oom_case c = tsi_oom_case(view, &list->rows[row]);

	for (size_t i = 0; i < TSI_COUNT_OF(remedies); i++) {
		struct tscope_value *cells;
		struct remedy remedy;
		enum tscope_status status = remedies[i].judge(view->scope, &c, &remedy, err);
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
	if (tsi_is_laid_out(oom))
		cells[OOMS_FITS_UNFRAGMENTED] = tsi_flag(tsi_fits_unfragmented(oom));
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
		if (tsi_is_laid_out(&list->rows[list->remedied[i]].oom))
			status = put_remedies(view, out, list, list->remedied[i], err);
	return status;
}

static const char *const cause_names[] = {
	[OOM_CAUSE_LIMIT] = "limit",
	[OOM_CAUSE_ROUNDING] = "rounding",
	[OOM_CAUSE_FRAGMENTATION] = "fragmentation",
	[OOM_CAUSE_SHORTAGE] = "shortage",
};

static void put_bytes(struct fact_sheet *out, enum snapshot_fact fact, int64_t bytes)
{
	if (bytes != UNKNOWN_BYTES)
		tsi_fact_int(out, fact, bytes);
}

/* What hangs on the layout. */
static void put_layout(struct fact_sheet *out, const struct oom_case *c)
{
	static const enum snapshot_fact facts[] = {
		SNAPSHOT_OOM_FREE_BYTES,          SNAPSHOT_OOM_LARGEST_FREE_BYTES,
		SNAPSHOT_OOM_SHORTFALL_BYTES,     SNAPSHOT_OOM_FITS_UNFRAGMENTED,
		SNAPSHOT_OOM_EXPANDABLE_SEGMENTS,
	};
	const struct snapshot_oom *oom = c->oom;

	put_bytes(out, SNAPSHOT_OOM_FREE_BYTES, oom->free_bytes);
	put_bytes(out, SNAPSHOT_OOM_LARGEST_FREE_BYTES, oom->largest_free_bytes);
	if (tsi_is_laid_out(oom) || c->cause == OOM_CAUSE_LIMIT)
		tsi_fact_text(out, SNAPSHOT_OOM_CAUSE, cause_names[c->cause]);
	if (!tsi_is_laid_out(oom))
		return;
	tsi_fact_int(out, SNAPSHOT_OOM_SHORTFALL_BYTES,
		     missing(oom->size_bytes, oom->unfragmented_free_bytes));
	tsi_fact_flag(out, SNAPSHOT_OOM_FITS_UNFRAGMENTED, tsi_fits_unfragmented(oom));
	tsi_fact_text(out, SNAPSHOT_OOM_EXPANDABLE_SEGMENTS, expandable_verdict(c));
	for (size_t i = 0; c->doubt && i < TSI_COUNT_OF(facts); i++)
		tsi_fact_doubt(out, facts[i], c->doubt);
	if (c->doubt && c->cause != OOM_CAUSE_LIMIT)
		tsi_fact_doubt(out, SNAPSHOT_OOM_CAUSE, c->doubt);
	if (c->is_private)
		tsi_fact_doubt(out, SNAPSHOT_OOM_LARGEST_FREE_BYTES,
			       "the request was for a private pool, whose own pieces are not "
			       "counted");
}

static enum tscope_status put_last(const struct snapshot_view *view, struct fact_sheet *out,
				   const struct oom_row *row, struct tscope_error *err)
{
	const struct snapshot_oom *oom = &row->oom;
	struct tscope_value time = tsi_snapshot_ns(oom->time_us);
	const struct oom_case c = tsi_oom_case(view, row);
	const char *site;
	enum tscope_status status = keep_site(view, oom->stack, &site, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_fact_int(out, SNAPSHOT_OOM_DEVICE, view->snapshot->devices[row->device].ordinal);
	if (time.kind == TSCOPE_VALUE_INT)
		tsi_fact_int(out, SNAPSHOT_OOM_TIME_NS, time.integer);
	tsi_fact_int(out, SNAPSHOT_OOM_SIZE_BYTES, oom->size_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_DRIVER_BYTES, c.driver_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_DEVICE_FREE_BYTES, oom->device_free_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_RESERVED_BYTES, oom->reserved_bytes);
	tsi_fact_int(out, SNAPSHOT_OOM_LIVE_BYTES, oom->live_bytes);
	if (c.doubt == tsi_snapshot_missing_entries)
		tsi_fact_doubt(out, SNAPSHOT_OOM_LIVE_BYTES, c.doubt);
	tsi_fact_text(out, SNAPSHOT_OOM_SITE, site);
	put_layout(out, &c);
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
