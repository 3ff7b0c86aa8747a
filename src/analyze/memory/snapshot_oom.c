/* SPDX-License-Identifier: MIT */
/*
 * Requests that failed, and what would have let them pass, with the arithmetic. The effect of
 * expandable segments was tried on 460 simulated OOMs: where the request fits into whole pages they
 * helped in 143 of 152 (likely), where it fits if gaps begin where pages do in 43 of 91 (perhaps),
 * where it fits into all that was free in 6 of 103 (hardly). These rates are of the worlds that the
 * classes were made with: in fresh ones "likely" helped in 28 of 39. Some max_split_size_mb helped
 * in 301 of 370 where the request fits into what a limit would have kept whole (perhaps: the limit
 * is not named), and where it does not in 1 of 347 all the same (no).
 */
#include "analyze/memory/snapshot_oom_case.h"

#include <inttypes.h>

#include "base/arena.h"
#include "base/scaled_text.h"
#include "base/sort.h"
#include "base/sum.h"

enum { MAX_REMEDIED = 8 }; /* the last OOMs have remedies */

/* The OOMs of all devices; a row of the table each. */
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
static const char *say_all_free(struct fact_sheet *out, const struct snapshot_oom *oom)
{
	return tsi_sheet_print(
		out, "%s asked %s %s left by the driver + %s free in %" PRId64 " %s, largest %s",
		tsi_size_text(oom->size_bytes).chars,
		oom->size_bytes > oom->unfragmented_free_bytes ? ">" : "≤",
		tsi_size_text(oom->device_free_bytes).chars, tsi_size_text(oom->free_bytes).chars,
		oom->gap_count, oom->gap_count == 1 ? "piece" : "pieces",
		tsi_size_text(oom->largest_free_bytes).chars);
}

/* "2.0 GiB asked", "4.0 MiB asked, for which torch asks the driver for 20.0 MiB," */
static const char *say_asked(struct fact_sheet *out, const struct oom_case *c)
{
	const struct scaled_text size = tsi_size_text(c->oom->size_bytes);

	if (c->driver_bytes == c->oom->size_bytes)
		return tsi_sheet_print(out, "%s asked", size.chars);
	return tsi_sheet_print(out, "%s asked, for which torch asks the driver for %s,", size.chars,
			       tsi_size_text(c->driver_bytes).chars);
}

/* For settings that change how segments are cut, where something else was lacking. */
static const char *say_cause(struct fact_sheet *out, const struct oom_case *c)
{
	const struct scaled_text left = tsi_size_text(c->oom->device_free_bytes);
	const char *asked = say_asked(out, c);

	if (c->cause == OOM_CAUSE_LIMIT)
		return tsi_sheet_print(out,
				       "%s ≤ %s left by the driver: a limit of the process, such "
				       "as set_per_process_memory_fraction, refused it, unless the "
				       "driver had less just before",
				       asked, left.chars);
	return tsi_sheet_print(out, "%s > %s left by the driver + %s free in pieces", asked,
			       left.chars, tsi_size_text(c->oom->free_bytes).chars);
}

/* Adds what makes a verdict less sure. */
static const char *qualify(struct fact_sheet *out, const struct oom_case *c, const char *text)
{
	if (c->cause == OOM_CAUSE_LIMIT || (!c->is_private && !c->doubt))
		return text;
	return tsi_sheet_print(
		out, "%s%s%s", text,
		c->is_private ? "; the request was for a private pool, whose own pieces are not "
				"counted"
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

/* Bytes that pages must provide: a middling request needs a whole page. */
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
static const char *say_pages(struct fact_sheet *out, const struct oom_case *c)
{
	const struct snapshot_oom *oom = c->oom;
	const struct scaled_text low = tsi_size_text(oom->pages_low_bytes);
	const struct scaled_text high = tsi_size_text(oom->pages_high_bytes);
	const char *asked = tsi_sheet_print(
		out, paged_bytes(c) == oom->size_bytes ? "%s asked" : "%s asked (a page: %s)",
		tsi_size_text(oom->size_bytes).chars, tsi_size_text(paged_bytes(c)).chars);

	if (paged_bytes(c) <= oom->pages_low_bytes)
		return tsi_sheet_print(
			out, "%s ≤ %s left by the driver and in whole pages of the free pieces",
			asked, low.chars);
	if (paged_bytes(c) <= oom->pages_high_bytes)
		return tsi_sheet_print(out,
				       "%s ≤ %s left by the driver and in whole pages of the free "
				       "pieces, where these begin with a page; else %s",
				       asked, high.chars, low.chars);
	return tsi_sheet_print(out,
			       "%s ≤ %s free in all, but > %s left by the driver and in whole "
			       "pages of the free pieces",
			       asked, tsi_size_text(oom->unfragmented_free_bytes).chars,
			       high.chars);
}

static struct remedy judge_expandable(struct fact_sheet *out, const struct oom_case *c)
{
	const char *text;

	if (!is_cut_to_blame(c))
		text = say_cause(out, c);
	else if (c->settings.is_expandable || !tsi_fits_unfragmented(c->oom))
		text = say_all_free(out, c->oom);
	else
		text = say_pages(out, c);
	return (struct remedy){ expandable_verdict(c), qualify(out, c, text) };
}

static struct remedy judge_collection(struct fact_sheet *out, const struct oom_case *c)
{
	return (struct remedy){
		c->settings.is_collecting ? "in_use" : "no",
		tsi_sheet_print(out,
				"not at that moment: a request fails only after every whole free "
				"segment was given back, which is all that it frees earlier, and "
				"only where a memory fraction is set: %s of these were left",
				tsi_size_text(c->oom->whole_bytes).chars),
	};
}

static struct remedy judge_split_limit(struct fact_sheet *out, const struct oom_case *c)
{
	const struct snapshot_oom *oom = c->oom;
	int64_t free_bytes = oom->device_free_bytes;
	const char *text;

	tsi_sum(&free_bytes, oom->split_bytes);
	bool fits = oom->size_bytes <= free_bytes;
	if (is_cut_to_blame(c))
		text = tsi_sheet_print(
			out,
			"%s asked %s %s left by the driver + %s free beside other blocks in "
			"segments above 20 MiB, which a limit keeps whole",
			tsi_size_text(oom->size_bytes).chars, fits ? "≤" : ">",
			tsi_size_text(oom->device_free_bytes).chars,
			tsi_size_text(oom->split_bytes).chars);
	else
		text = say_cause(out, c);
	return (struct remedy){
		c->settings.is_split_limited ? "in_use"
		: fits && is_cut_to_blame(c) ? "perhaps"
					     : "no",
		qualify(out, c, text),
	};
}

/* "6.6 MiB": so much less at the peak, and it would have passed with the pieces as they were. */
struct step_down {
	int64_t bytes;
	const char *words;
};

/* By a piece that grows to hold it, or by the driver, whichever takes less. */
static struct step_down find_step_down(struct fact_sheet *out, const struct oom_case *c)
{
	const struct snapshot_oom *oom = c->oom;
	/* Pieces of a private pool are not known. */
	int64_t by_piece =
		c->is_private ? INT64_MAX : missing(oom->size_bytes, oom->largest_free_bytes);
	int64_t by_driver = missing(c->driver_bytes, oom->device_free_bytes);
	struct step_down step = { .bytes = by_piece < by_driver ? by_piece : by_driver };

	if (by_piece < by_driver || (c->driver_bytes == oom->size_bytes && !c->is_private)) {
		int64_t largest_bytes =
			by_piece < by_driver ? oom->largest_free_bytes : oom->device_free_bytes;
		step.words = tsi_sheet_print(out, "%s asked - %s, the largest piece",
					     tsi_size_text(oom->size_bytes).chars,
					     tsi_size_text(largest_bytes).chars);
	} else {
		step.words =
			tsi_sheet_print(out, "%s that torch asks the driver for - %s left by it",
					tsi_size_text(c->driver_bytes).chars,
					tsi_size_text(oom->device_free_bytes).chars);
	}
	return step;
}

static const char *say_peak(struct fact_sheet *out, const struct oom_case *c)
{
	const struct snapshot_oom *oom = c->oom;
	const struct scaled_text all = tsi_size_text(oom->unfragmented_free_bytes);
	int64_t least = missing(oom->size_bytes, oom->unfragmented_free_bytes);
	struct step_down step = find_step_down(out, c);
	const struct scaled_text step_size = tsi_size_text(step.bytes);

	if (c->cause == OOM_CAUSE_LIMIT)
		return tsi_sheet_print(out,
				       "by at most %s, below that limit, which is not recorded",
				       tsi_size_text(c->driver_bytes).chars);
	if (c->cause == OOM_CAUSE_ROUNDING)
		return tsi_sheet_print(out, "by up to %s (%s)", step_size.chars, step.words);
	if (step.bytes == 0)
		return tsi_sheet_print(out,
				       "by how much is not known: %s seem to lie free in one piece",
				       tsi_size_text(oom->largest_free_bytes).chars);
	if (least == 0)
		return tsi_sheet_print(
			out, "by up to %s (%s); %s free in all would have done in one piece",
			step_size.chars, step.words, all.chars);
	return tsi_sheet_print(out,
			       "by at least %s (%s asked - %s free in all); by %s with the pieces "
			       "as they were (%s)",
			       tsi_size_text(least).chars, tsi_size_text(oom->size_bytes).chars,
			       all.chars, step_size.chars, step.words);
}

static struct remedy judge_peak(struct fact_sheet *out, const struct oom_case *c)
{
	return (struct remedy){ "yes", say_peak(out, c) };
}

static const struct {
	const char *name;
	struct remedy (*judge)(struct fact_sheet *out, const struct oom_case *c);
} remedies[] = {
	{ "expandable_segments", judge_expandable },
	{ "garbage_collection_threshold", judge_collection },
	{ "max_split_size_mb", judge_split_limit },
	{ "smaller_peak", judge_peak },
};

static void put_remedies(const struct snapshot_view *view, struct fact_sheet *out,
			 const struct oom_rows *list, size_t row)
{
	const struct oom_case c = tsi_oom_case(view, &list->rows[row]);

	for (size_t i = 0; i < TSI_COUNT_OF(remedies); i++) {
		struct remedy remedy = remedies[i].judge(out, &c);
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_OOM_REMEDIES);

		cells[REMEDIES_OOM] = tsi_int((int64_t)row);
		cells[REMEDIES_REMEDY] = tsi_text(remedies[i].name);
		cells[REMEDIES_VERDICT] = tsi_text(remedy.verdict);
		cells[REMEDIES_ARITHMETIC] = tsi_text(remedy.arithmetic);
	}
}

/* ---- facts and tables --------------------------------------------------------------------- */

static struct tscope_value known_bytes(int64_t bytes)
{
	return bytes == UNKNOWN_BYTES ? (struct tscope_value){ 0 } : tsi_int(bytes);
}

static struct tscope_value site_of(const struct snapshot_view *view, struct fact_sheet *out,
				   struct plain_value stack)
{
	uint32_t site = tsi_stack_site(view->sites, stack);

	return tsi_text(tsi_sheet_copy(out, tsi_stack_site_text(view->sites, site)));
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

static void put_table(const struct snapshot_view *view, struct fact_sheet *out,
		      const struct oom_rows *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct oom_row *row = &list->rows[i];
		struct tscope_value *cells = tsi_table_row(out, SNAPSHOT_OOMS);

		cells[OOMS_DEVICE] = tsi_int(view->snapshot->devices[row->device].ordinal);
		cells[OOMS_SITE] = site_of(view, out, row->oom.stack);
		put_cells(cells, &row->oom);
	}
	for (size_t i = 0; i < list->remedied_count; i++)
		if (tsi_is_laid_out(&list->rows[list->remedied[i]].oom))
			put_remedies(view, out, list, list->remedied[i]);
}

static const char *const cause_names[] = { OOM_CAUSES(TSI_NAMED_TEXT) };

static void put_bytes(struct fact_sheet *out, enum snapshot_fact fact, int64_t bytes)
{
	if (bytes != UNKNOWN_BYTES)
		tsi_fact_int(out, fact, bytes);
}

/* Facts that depend on the layout. */
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

static void put_last(const struct snapshot_view *view, struct fact_sheet *out,
		     const struct oom_row *row)
{
	const struct snapshot_oom *oom = &row->oom;
	struct tscope_value time = tsi_snapshot_ns(oom->time_us);
	const struct oom_case c = tsi_oom_case(view, row);

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
	tsi_fact_text(out, SNAPSHOT_OOM_SITE, site_of(view, out, oom->stack).text);
	put_layout(out, &c);
	tsi_snapshot_put_oom_roles(view, out, row->device, oom->index);
}

/* ---- putting it together ------------------------------------------------------------------ */

static void add_rows(struct oom_rows *list, const struct snapshot_view *view, uint32_t device,
		     struct arena *scratch)
{
	size_t count;
	const struct snapshot_oom *ooms =
		tsi_snapshot_ooms(view->snapshot, device, &view->replays[device], scratch, &count);

	for (size_t i = 0; i < count; i++) {
		struct oom_row *row = tsi_arena_push(scratch, &list->rows, &list->count,
						     &list->capacity, sizeof(*row));
		if (row)
			*row = (struct oom_row){ device, ooms[i] };
	}
}

/* The last OOMs by time; those of one time, or without one, in the order of devices and entries. */
static void choose_remedied(struct oom_rows *list, struct arena *scratch)
{
	struct sort_pair *pairs = tsi_arena_new(scratch, list->count, 2 * sizeof(*pairs));

	if (!pairs)
		return;
	for (size_t i = 0; i < list->count; i++)
		pairs[i] =
			(struct sort_pair){ tsi_sort_key_of_int64(list->rows[i].oom.time_us), i };
	tsi_sort_pairs(pairs, pairs + list->count, list->count);
	list->remedied_count = list->count < MAX_REMEDIED ? list->count : MAX_REMEDIED;
	for (size_t i = 0; i < list->remedied_count; i++)
		list->remedied[i] = (size_t)pairs[list->count - list->remedied_count + i].value;
}

void tsi_snapshot_put_ooms(const struct snapshot_view *view, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	struct oom_rows list = { 0 };

	for (uint32_t i = 0; i < view->snapshot->device_count; i++)
		add_rows(&list, view, i, scratch);
	choose_remedied(&list, scratch);
	if (scratch->has_failed)
		return;
	put_table(view, out, &list);
	if (list.count)
		put_last(view, out, &list.rows[list.remedied[list.remedied_count - 1]]);
	if (view->snapshot->entry_count)
		tsi_fact_int(out, SNAPSHOT_OOM_COUNT, (int64_t)list.count);
	else
		tsi_fact_doubt(out, SNAPSHOT_OOM_COUNT, tsi_snapshot_no_entries);
}
