/* SPDX-License-Identifier: MIT */
/*
 * What was free when a request failed. Segments are laid out as at the end, and what came later
 * is undone, the last first: each is an edit, and of two that concern the same memory the later
 * edit holds. A segment is known by its address; expandable ones are mapped piece by piece, so
 * that for them each address counts by itself. No loop goes over pages: a file may map 2^60 bytes.
 */
#include "analyze/memory/snapshot_replay.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "base/sum.h"

/* torch's allocator, c10/cuda/CUDACachingAllocator.cpp. */
#define ROUNDING UINT64_C(512)
#define SMALL_REQUEST_MAX (INT64_C(1) << 20)
#define SMALL_SEGMENT (INT64_C(2) << 20)
#define LARGE_SEGMENT (INT64_C(20) << 20) /* max_split_size_mb must be more */

/* Lives that are looked at for all OOMs of a device; those that are sorted, and edits, are dear. */
enum { WORK_MAX = 1 << 26, WORK_OF_SORTED = 8 };

/* Memory of one of these is of no use to a request for another one. */
struct place {
	int64_t stream;
	struct snapshot_pool pool;
	bool is_small, is_expandable;
};

struct edit {
	int64_t index; /* of the entry that it undoes; AFTER_WINDOW: a segment of the end */
	uint64_t start, end;
	struct place place;
	bool is_there;   /* or gone */
	bool is_release; /* undoes one: what was released is known from that entry alone */
};

/* A segment, or a stretch of expandable ones. */
struct piece {
	uint64_t start, end;
	struct place place;
};

struct layout {
	const struct snapshot_replay *replay;
	struct edit *edits;
	size_t edit_count, edit_capacity;
	/* At one OOM: the edits up to edit_end are made. */
	size_t edit_end;
	bool has_release;
	struct piece *pieces; /* by address */
	size_t piece_count, piece_capacity;
	struct sort_pair *live; /* address, life; by address */
	size_t live_count;
};

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
	uint64_t end;
	return tsi_ckd_add(&end, start, bytes) ? UINT64_MAX : end;
}

static bool is_default(const struct place *place)
{
	return place->pool.high == 0 && place->pool.low == 0; /* so it is if not known */
}

static bool is_same_place(const struct place *a, const struct place *b)
{
	return a->stream == b->stream && a->is_small == b->is_small &&
	       a->pool.high == b->pool.high && a->pool.low == b->pool.low;
}

/* ---- edits -------------------------------------------------------------------------------- */

static enum tscope_status add_edit(struct layout *layout, const struct edit *edit,
				   struct tscope_error *err)
{
	if (tsi_array_reserve(&layout->edits, &layout->edit_capacity, layout->edit_count + 1,
			      sizeof(*layout->edits), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	layout->edits[layout->edit_count++] = *edit;
	return TSCOPE_OK;
}

static struct edit edit_of_entry(const struct snapshot_entry *entry, size_t index)
{
	bool is_release = tsi_curve_sign(entry->action, CURVE_RESERVED) < 0;

	return (struct edit){
		.index = (int64_t)index,
		.start = entry->address,
		.end = end_of(entry->address, (uint64_t)entry->size_bytes),
		.place = { .stream = entry->stream,
			   .pool = entry->pool,
			   .is_small = entry->size_bytes == SMALL_SEGMENT,
			   .is_expandable = entry->action == ACTION_SEGMENT_MAP ||
					    entry->action == ACTION_SEGMENT_UNMAP },
		.is_there = is_release,
		.is_release = is_release,
	};
}

static enum tscope_status add_segments(struct layout *layout, const struct snapshot *snapshot,
				       uint32_t device, struct tscope_error *err)
{
	size_t first = snapshot->devices[device].first_segment;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < snapshot->devices[device].segment_count;
	     i++) {
		const struct snapshot_segment *segment = &snapshot->segments[first + i];
		const struct edit edit = {
			.index = AFTER_WINDOW,
			.start = segment->address,
			.end = end_of(segment->address, (uint64_t)segment->size_bytes),
			.place = { segment->stream, segment->pool, segment->is_small,
				   segment->is_expandable },
			.is_there = true,
		};
		status = add_edit(layout, &edit, err);
	}
	return status;
}

/* From `first` on. */
static void reverse_edits(struct layout *layout, size_t first)
{
	for (size_t end = layout->edit_count; first + 1 < end; first++) {
		struct edit swap = layout->edits[first];
		layout->edits[first] = layout->edits[--end];
		layout->edits[end] = swap;
	}
}

/* ---- OOMs --------------------------------------------------------------------------------- */

struct oom_list {
	struct snapshot_oom *ooms;
	size_t count, capacity;
	tsi_wide reserved_bytes, live_bytes; /* after the entry at hand */
};

static enum tscope_status add_oom(struct oom_list *list, const struct snapshot_entry *entry,
				  size_t index, struct tscope_error *err)
{
	if (tsi_array_reserve(&list->ooms, &list->capacity, list->count + 1, sizeof(*list->ooms),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	list->ooms[list->count++] = (struct snapshot_oom){
		.index = (int64_t)index,
		.time_us = entry->time_us,
		.size_bytes = entry->size_bytes,
		.device_free_bytes = tsi_narrow(entry->address),
		.reserved_bytes = tsi_narrow(list->reserved_bytes),
		.live_bytes = tsi_narrow(list->live_bytes),
		.stream = entry->stream,
		.pool = entry->pool,
		.stack = entry->stack,
		.largest_free_bytes = UNKNOWN_BYTES,
		.free_bytes = UNKNOWN_BYTES,
		.gap_count = UNKNOWN_BYTES,
		.whole_bytes = UNKNOWN_BYTES,
		.split_bytes = UNKNOWN_BYTES,
		.unfragmented_free_bytes = UNKNOWN_BYTES,
		.pages_low_bytes = UNKNOWN_BYTES,
		.pages_high_bytes = UNKNOWN_BYTES,
	};
	return TSCOPE_OK;
}

/* The OOMs, and the edits that undo what came after the first of them. */
static enum tscope_status read_entries(struct layout *layout, struct oom_list *list,
				       const struct snapshot *snapshot, uint32_t device,
				       struct tscope_error *err)
{
	struct entry_cursor cursor = { .snapshot = snapshot, .device = device };
	const struct snapshot_entry *entry;
	size_t first = layout->edit_count;
	enum tscope_status status = TSCOPE_OK;

	list->reserved_bytes = layout->replay->curves[CURVE_RESERVED].start_bytes;
	list->live_bytes = layout->replay->curves[CURVE_ACTIVE].start_bytes;
	while (status == TSCOPE_OK && (entry = tsi_next_entry(&cursor))) {
		int reserved_sign = tsi_curve_sign(entry->action, CURVE_RESERVED);
		int live_sign = tsi_curve_sign(entry->action, CURVE_ACTIVE);
		list->reserved_bytes += (tsi_wide)reserved_sign * entry->size_bytes;
		list->live_bytes += (tsi_wide)live_sign * entry->size_bytes;
		if (entry->action == ACTION_OOM) {
			status = add_oom(list, entry, cursor.index, err);
		} else if (reserved_sign != 0 && list->count) {
			const struct edit edit = edit_of_entry(entry, cursor.index);
			status = add_edit(layout, &edit, err);
		}
	}
	reverse_edits(layout, first);
	return status;
}

/* ---- segments at an OOM ------------------------------------------------------------------- */

static enum tscope_status add_piece(struct layout *layout, const struct piece *piece,
				    struct tscope_error *err)
{
	if (tsi_array_reserve(&layout->pieces, &layout->piece_capacity, layout->piece_count + 1,
			      sizeof(*layout->pieces), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	layout->pieces[layout->piece_count++] = *piece;
	return TSCOPE_OK;
}

/* Segments that are no expandable ones: the last edit of an address holds. */
static enum tscope_status lay_out_plain(struct layout *layout, struct tscope_error *err)
{
	struct sort_pair *pairs;
	size_t count = 0;
	enum tscope_status status =
		tsi_array_new(&pairs, layout->edit_end, 2 * sizeof(*pairs), err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < layout->edit_end; i++)
		if (!layout->edits[i].place.is_expandable)
			pairs[count++] = (struct sort_pair){ layout->edits[i].start, i };
	if (count)
		tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		const struct edit *edit = &layout->edits[pairs[i].value];
		bool is_last = i + 1 == count || pairs[i + 1].key != pairs[i].key;
		if (is_last && edit->is_there)
			status = add_piece(layout,
					   &(struct piece){ edit->start, edit->end, edit->place },
					   err);
	}
	free(pairs);
	return status;
}

/* Edits of expandable segments, cut where one of them begins or ends. */
struct ranges {
	size_t count;           /* edits */
	size_t *edits;          /* which they are */
	size_t *first, *last;   /* of each edit: its first cell, and the one behind its last */
	struct sort_pair *ends; /* of each edit two: address, edit and which end it is */
	uint64_t *cells;        /* where each begins; the next one's beginning is its end */
	size_t cell_count;
	size_t *owner; /* of each cell: the edit that holds there + 1; 0: none */
	size_t *next;  /* of each cell: one further on, or itself while it has no owner */
};

static void ranges_deinit(struct ranges *ranges)
{
	free(ranges->edits);
	free(ranges->first);
	free(ranges->last);
	free(ranges->ends);
	free(ranges->cells);
	free(ranges->owner);
	free(ranges->next);
}

static enum tscope_status ranges_init(struct ranges *ranges, const struct layout *layout,
				      struct tscope_error *err)
{
	size_t room = layout->edit_end;

	*ranges = (struct ranges){ 0 };
	if (tsi_array_new(&ranges->edits, room, sizeof(size_t), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->first, room, sizeof(size_t), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->last, room, sizeof(size_t), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->ends, room, 4 * sizeof(*ranges->ends), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->cells, room, 2 * sizeof(uint64_t), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->owner, room, 2 * sizeof(size_t), err) != TSCOPE_OK ||
	    tsi_array_new(&ranges->next, room, 2 * sizeof(size_t), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < layout->edit_end; i++)
		if (layout->edits[i].place.is_expandable)
			ranges->edits[ranges->count++] = i;
	return TSCOPE_OK;
}

static void cut_into_cells(struct ranges *ranges, const struct layout *layout)
{
	size_t end_count = 2 * ranges->count;

	for (size_t i = 0; i < ranges->count; i++) {
		const struct edit *edit = &layout->edits[ranges->edits[i]];
		ranges->ends[2 * i] = (struct sort_pair){ edit->start, 2 * i };
		ranges->ends[2 * i + 1] = (struct sort_pair){ edit->end, 2 * i + 1 };
	}
	tsi_sort_pairs(ranges->ends, ranges->ends + end_count, end_count);
	for (size_t i = 0; i < end_count; i++) {
		const struct sort_pair *end = &ranges->ends[i];
		if (i == 0 || end->key != end[-1].key) {
			ranges->next[ranges->cell_count] = ranges->cell_count;
			ranges->cells[ranges->cell_count++] = end->key;
		}
		size_t *side = end->value % 2 ? ranges->last : ranges->first;
		side[end->value / 2] = ranges->cell_count - 1;
	}
}

/* The first cell from `at` on that has no owner. */
static size_t next_cell(size_t *next, size_t at)
{
	while (next[at] != at) {
		next[at] = next[next[at]];
		at = next[at];
	}
	return at;
}

/* The last edit comes first, so that a cell is taken once. */
static void give_cells(struct ranges *ranges)
{
	for (size_t i = ranges->count; i-- > 0;) {
		size_t cell = next_cell(ranges->next, ranges->first[i]);
		while (cell < ranges->last[i]) {
			ranges->owner[cell] = i + 1;
			ranges->next[cell] = cell + 1;
			cell = next_cell(ranges->next, cell);
		}
	}
}

/* Neighbours of one place are one piece. */
static enum tscope_status join_cells(struct layout *layout, const struct ranges *ranges,
				     struct tscope_error *err)
{
	struct piece *before = NULL;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i + 1 < ranges->cell_count; i++) {
		if (!ranges->owner[i])
			continue;
		const struct edit *edit = &layout->edits[ranges->edits[ranges->owner[i] - 1]];
		struct piece piece = { ranges->cells[i], ranges->cells[i + 1], edit->place };
		if (!edit->is_there)
			continue;
		if (before && before->end == piece.start &&
		    is_same_place(&before->place, &piece.place)) {
			before->end = piece.end;
			continue;
		}
		status = add_piece(layout, &piece, err);
		before = &layout->pieces[layout->piece_count - 1];
	}
	return status;
}

static enum tscope_status lay_out_expandable(struct layout *layout, struct tscope_error *err)
{
	struct ranges ranges;
	enum tscope_status status = ranges_init(&ranges, layout, err);

	if (status == TSCOPE_OK && ranges.count) {
		cut_into_cells(&ranges, layout);
		give_cells(&ranges);
		status = join_cells(layout, &ranges, err);
	}
	ranges_deinit(&ranges);
	return status;
}

/* Puts pieces in order; an expandable one takes the place of another at its address. */
static enum tscope_status order_pieces(struct layout *layout, struct tscope_error *err)
{
	struct sort_pair *pairs = NULL;
	struct piece *ordered = NULL;
	size_t count = layout->piece_count, kept = 0;

	if (tsi_array_new(&pairs, count, 2 * sizeof(*pairs), err) != TSCOPE_OK ||
	    tsi_array_new(&ordered, count, sizeof(*ordered), err) != TSCOPE_OK) {
		free(pairs);
		return TSCOPE_E_NOMEM;
	}
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct sort_pair){ layout->pieces[i].start, i };
	if (count)
		tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || pairs[i + 1].key != pairs[i].key)
			ordered[kept++] = layout->pieces[pairs[i].value];
	free(pairs);
	free(layout->pieces);
	layout->pieces = ordered;
	layout->piece_capacity = count;
	layout->piece_count = kept;
	return TSCOPE_OK;
}

static enum tscope_status lay_out(struct layout *layout, int64_t index, struct tscope_error *err)
{
	enum tscope_status status;

	for (; layout->edit_end < layout->edit_count; layout->edit_end++) {
		const struct edit *edit = &layout->edits[layout->edit_end];
		if (edit->index <= index)
			break;
		layout->has_release |= edit->is_release;
	}
	layout->piece_count = 0;
	status = lay_out_plain(layout, err);
	if (status == TSCOPE_OK)
		status = lay_out_expandable(layout, err);
	if (status == TSCOPE_OK)
		status = order_pieces(layout, err);
	return status;
}

/* ---- gaps --------------------------------------------------------------------------------- */

static uint64_t block_end(const struct snapshot_life *life)
{
	uint64_t bytes = (uint64_t)life->block_bytes;

	if (life->block_bytes == UNKNOWN_BYTES) {
		bytes = ((uint64_t)life->requested_bytes + ROUNDING - 1) / ROUNDING * ROUNDING;
		bytes = bytes ? bytes : ROUNDING;
	}
	return end_of(life->address, bytes);
}

/* Fills live, and says whether the sizes of all of them are known. */
static enum tscope_status find_live(struct layout *layout, int64_t index, bool *is_exact,
				    struct tscope_error *err)
{
	const struct snapshot_replay *replay = layout->replay;
	size_t count = 0;

	*is_exact = true;
	for (size_t i = 0; i < replay->life_count; i++)
		count += tsi_is_live(&replay->lives[i], index);
	if (tsi_array_new(&layout->live, count, 2 * sizeof(*layout->live), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	layout->live_count = 0;
	for (size_t i = 0; layout->live_count < count; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		if (!tsi_is_live(life, index))
			continue;
		layout->live[layout->live_count++] = (struct sort_pair){ life->address, i };
		*is_exact &= life->block_bytes != UNKNOWN_BYTES;
	}
	if (count)
		tsi_sort_pairs(layout->live, layout->live + count, count);
	return TSCOPE_OK;
}

/* A gap may begin anywhere in a page: what fits less one is sure. */
static void add_pages(struct snapshot_oom *oom, int64_t bytes, bool is_small)
{
	int64_t page = is_small ? SMALL_SEGMENT : LARGE_SEGMENT, count = bytes / page;

	tsi_sum(&oom->pages_high_bytes, count * page);
	tsi_sum(&oom->pages_low_bytes, count ? (count - 1) * page : 0);
}

static void add_gap(struct snapshot_oom *oom, const struct piece *piece, uint64_t start,
		    uint64_t end)
{
	bool is_for_small = oom->size_bytes <= SMALL_REQUEST_MAX;
	const struct place *place = &piece->place;
	int64_t bytes = tsi_narrow(end - start);

	if (start >= end || !is_default(place))
		return;
	oom->gap_count++;
	tsi_sum(&oom->free_bytes, bytes);
	add_pages(oom, bytes, place->is_small);
	if (place->stream == oom->stream && place->is_small == is_for_small &&
	    bytes > oom->largest_free_bytes)
		oom->largest_free_bytes = bytes;
	if (place->is_expandable)
		return;
	if (end - start == piece->end - piece->start)
		tsi_sum(&oom->whole_bytes, bytes);
	else if (!place->is_small && piece->end - piece->start > (uint64_t)LARGE_SEGMENT)
		tsi_sum(&oom->split_bytes, bytes);
}

static void find_gaps(const struct layout *layout, struct snapshot_oom *oom)
{
	size_t at = 0;

	for (size_t i = 0; i < layout->piece_count; i++) {
		const struct piece *piece = &layout->pieces[i];
		uint64_t position = piece->start;
		for (; at < layout->live_count && layout->live[at].key < piece->end; at++) {
			const struct sort_pair *live = &layout->live[at];
			uint64_t taken = block_end(&layout->replay->lives[live->value]);
			add_gap(oom, piece, position, live->key);
			position = taken > position ? taken : position;
		}
		add_gap(oom, piece, position, piece->end);
	}
}

static enum tscope_status look_at(struct layout *layout, struct snapshot_oom *oom,
				  struct tscope_error *err)
{
	bool is_exact = false;
	enum tscope_status status = lay_out(layout, oom->index, err);

	if (status == TSCOPE_OK)
		status = find_live(layout, oom->index, &is_exact, err);
	if (status != TSCOPE_OK)
		return status;
	oom->largest_free_bytes = 0;
	oom->free_bytes = 0;
	oom->gap_count = 0;
	oom->whole_bytes = 0;
	oom->split_bytes = 0;
	oom->pages_low_bytes = oom->device_free_bytes;
	oom->pages_high_bytes = oom->device_free_bytes;
	oom->is_exact = is_exact && !layout->has_release;
	find_gaps(layout, oom);
	oom->unfragmented_free_bytes = oom->device_free_bytes;
	tsi_sum(&oom->unfragmented_free_bytes, oom->free_bytes);
	free(layout->live);
	layout->live = NULL;
	return TSCOPE_OK;
}

/* ---- putting it together ------------------------------------------------------------------ */

/* The last of them first, as far as the work goes. */
static enum tscope_status look_at_all(struct layout *layout, struct oom_list *list,
				      struct tscope_error *err)
{
	size_t work = 0;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = list->count; status == TSCOPE_OK && i-- > 0 && work <= WORK_MAX;) {
		status = look_at(layout, &list->ooms[i], err);
		work += layout->replay->life_count +
			WORK_OF_SORTED * (layout->edit_end + layout->live_count);
	}
	return status;
}

enum tscope_status tsi_snapshot_ooms(struct snapshot_oom **ret, size_t *count,
				     const struct snapshot *snapshot, uint32_t device,
				     const struct snapshot_replay *replay, struct tscope_error *err)
{
	struct layout layout = { .replay = replay };
	struct oom_list list = { 0 };
	enum tscope_status status = TSCOPE_OK;

	if (replay->action_count[ACTION_OOM]) {
		status = add_segments(&layout, snapshot, device, err);
		if (status == TSCOPE_OK)
			status = read_entries(&layout, &list, snapshot, device, err);
		if (status == TSCOPE_OK)
			status = look_at_all(&layout, &list, err);
	}
	free(layout.edits);
	free(layout.pieces);
	free(layout.live);
	if (status != TSCOPE_OK) {
		free(list.ooms);
		return status;
	}
	*ret = list.ooms;
	*count = list.count;
	return TSCOPE_OK;
}
