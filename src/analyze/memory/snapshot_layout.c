/* SPDX-License-Identifier: MIT */
/*
 * Free memory at the time a request failed. Segments are laid out as at the end, and later events
 * are undone, the last first: each is an edit, and of two that concern the same memory the later
 * edit holds. A segment is known by its address; expandable ones are mapped piece by piece, so that
 * for them each address counts by itself. No loop goes over pages: a file may map 2^60 bytes.
 */
#include "analyze/memory/snapshot_replay.h"

#include "base/sort.h"
#include "base/sum.h"

/* torch's allocator, c10/cuda/CUDACachingAllocator.cpp. */
#define ROUNDING UINT64_C(512)
#define SMALL_REQUEST_MAX (INT64_C(1) << 20)
#define SMALL_SEGMENT (INT64_C(2) << 20)
#define LARGE_SEGMENT (INT64_C(20) << 20) /* max_split_size_mb must be more */

/* Work limits per device: lives looked at for all its OOMs; a sorted life or an edit costs more. */
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
	bool is_release; /* undoes a release: what was released is known from that entry alone */
};

/* A segment, or a stretch of expandable ones. */
struct piece {
	uint64_t start, end;
	struct place place;
};

struct layout {
	const struct snapshot_replay *replay;
	struct arena *arena; /* of edits and OOMs */
	struct edit *edits;
	size_t edit_count, edit_capacity;
	struct snapshot_oom *ooms;
	size_t oom_count, oom_capacity;
	/* At one OOM: the edits up to edit_end are made. The rest is in an arena of its own. */
	struct arena at_hand;
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

static void add_edit(struct layout *layout, const struct edit *edit)
{
	struct edit *added = tsi_arena_push(layout->arena, &layout->edits, &layout->edit_count,
					    &layout->edit_capacity, sizeof(*added));

	if (added)
		*added = *edit;
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

static void add_segments(struct layout *layout, const struct snapshot *snapshot, uint32_t device)
{
	size_t first = snapshot->devices[device].first_segment;

	for (size_t i = 0; i < snapshot->devices[device].segment_count; i++) {
		const struct snapshot_segment *segment = &snapshot->segments[first + i];

		add_edit(layout,
			 &(struct edit){
				 .index = AFTER_WINDOW,
				 .start = segment->address,
				 .end = end_of(segment->address, (uint64_t)segment->size_bytes),
				 .place = { segment->stream, segment->pool, segment->is_small,
					    segment->is_expandable },
				 .is_there = true,
			 });
	}
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

/* Memory after an entry. */
struct level {
	tsi_wide reserved_bytes, live_bytes;
};

static void add_oom(struct layout *layout, const struct snapshot_entry *entry, size_t index,
		    const struct level *level)
{
	struct snapshot_oom *oom = tsi_arena_push(layout->arena, &layout->ooms, &layout->oom_count,
						  &layout->oom_capacity, sizeof(*oom));

	if (!oom)
		return;
	*oom = (struct snapshot_oom){
		.index = (int64_t)index,
		.time_us = entry->time_us,
		.size_bytes = entry->size_bytes,
		.device_free_bytes = tsi_narrow(entry->address),
		.reserved_bytes = tsi_narrow(level->reserved_bytes),
		.live_bytes = tsi_narrow(level->live_bytes),
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
}

/* The OOMs, and the edits that undo what came after the first of them. */
static void read_entries(struct layout *layout, const struct snapshot *snapshot, uint32_t device)
{
	struct entry_cursor cursor = { .snapshot = snapshot, .device = device };
	const struct snapshot_entry *entry;
	size_t first = layout->edit_count;
	struct level level = {
		.reserved_bytes = layout->replay->curves[CURVE_RESERVED].start_bytes,
		.live_bytes = layout->replay->curves[CURVE_ACTIVE].start_bytes,
	};

	while (!layout->arena->has_failed && (entry = tsi_next_entry(&cursor))) {
		int reserved_sign = tsi_curve_sign(entry->action, CURVE_RESERVED);
		int live_sign = tsi_curve_sign(entry->action, CURVE_ACTIVE);
		level.reserved_bytes += (tsi_wide)reserved_sign * entry->size_bytes;
		level.live_bytes += (tsi_wide)live_sign * entry->size_bytes;
		if (entry->action == ACTION_OOM) {
			add_oom(layout, entry, cursor.index, &level);
		} else if (reserved_sign != 0 && layout->oom_count) {
			const struct edit edit = edit_of_entry(entry, cursor.index);
			add_edit(layout, &edit);
		}
	}
	reverse_edits(layout, first);
}

/* ---- segments at an OOM ------------------------------------------------------------------- */

static void add_piece(struct layout *layout, struct piece piece)
{
	struct piece *added =
		tsi_arena_push(&layout->at_hand, &layout->pieces, &layout->piece_count,
			       &layout->piece_capacity, sizeof(*added));

	if (added)
		*added = piece;
}

/* Segments that are no expandable ones: the last edit of an address holds. */
static void lay_out_plain(struct layout *layout)
{
	struct sort_pair *pairs =
		tsi_arena_new(&layout->at_hand, layout->edit_end, 2 * sizeof(*pairs));
	size_t count = 0;

	if (!pairs)
		return;
	for (size_t i = 0; i < layout->edit_end; i++)
		if (!layout->edits[i].place.is_expandable)
			pairs[count++] = (struct sort_pair){ layout->edits[i].start, i };
	tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++) {
		const struct edit *edit = &layout->edits[pairs[i].value];
		bool is_last = i + 1 == count || pairs[i + 1].key != pairs[i].key;
		if (is_last && edit->is_there)
			add_piece(layout, (struct piece){ edit->start, edit->end, edit->place });
	}
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

/* False without memory. */
static bool ranges_init(struct ranges *ranges, struct layout *layout)
{
	struct arena *arena = &layout->at_hand;
	size_t room = layout->edit_end;

	*ranges = (struct ranges){
		.edits = tsi_arena_new(arena, room, sizeof(size_t)),
		.first = tsi_arena_new(arena, room, sizeof(size_t)),
		.last = tsi_arena_new(arena, room, sizeof(size_t)),
		.ends = tsi_arena_new(arena, room, 4 * sizeof(*ranges->ends)),
		.cells = tsi_arena_new(arena, room, 2 * sizeof(uint64_t)),
		.owner = tsi_arena_new(arena, room, 2 * sizeof(size_t)),
		.next = tsi_arena_new(arena, room, 2 * sizeof(size_t)),
	};
	if (arena->has_failed)
		return false;
	for (size_t i = 0; i < layout->edit_end; i++)
		if (layout->edits[i].place.is_expandable)
			ranges->edits[ranges->count++] = i;
	return true;
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
static void join_cells(struct layout *layout, const struct ranges *ranges)
{
	size_t before = SIZE_MAX; /* the piece of the cell before */

	for (size_t i = 0; i + 1 < ranges->cell_count && !layout->at_hand.has_failed; i++) {
		if (!ranges->owner[i])
			continue;
		const struct edit *edit = &layout->edits[ranges->edits[ranges->owner[i] - 1]];
		struct piece piece = { ranges->cells[i], ranges->cells[i + 1], edit->place };
		if (!edit->is_there)
			continue;
		struct piece *last = before == SIZE_MAX ? NULL : &layout->pieces[before];
		if (last && last->end == piece.start && is_same_place(&last->place, &piece.place)) {
			last->end = piece.end;
			continue;
		}
		add_piece(layout, piece);
		before = layout->piece_count - 1;
	}
}

static void lay_out_expandable(struct layout *layout)
{
	struct ranges ranges;

	if (!ranges_init(&ranges, layout) || ranges.count == 0)
		return;
	cut_into_cells(&ranges, layout);
	give_cells(&ranges);
	join_cells(layout, &ranges);
}

/* Puts pieces in order; an expandable one takes the place of another at its address. */
static void order_pieces(struct layout *layout)
{
	size_t count = layout->piece_count;
	struct sort_pair *pairs = tsi_arena_new(&layout->at_hand, count, 2 * sizeof(*pairs));
	struct piece *ordered = tsi_arena_new(&layout->at_hand, count, sizeof(*ordered));

	layout->piece_count = 0;
	if (!pairs || !ordered)
		return;
	for (size_t i = 0; i < count; i++)
		pairs[i] = (struct sort_pair){ layout->pieces[i].start, i };
	tsi_sort_pairs(pairs, pairs + count, count);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || pairs[i + 1].key != pairs[i].key)
			ordered[layout->piece_count++] = layout->pieces[pairs[i].value];
	layout->pieces = ordered;
}

static void lay_out(struct layout *layout, int64_t index)
{
	for (; layout->edit_end < layout->edit_count; layout->edit_end++) {
		const struct edit *edit = &layout->edits[layout->edit_end];
		if (edit->index <= index)
			break;
		layout->has_release |= edit->is_release;
	}
	layout->pieces = NULL;
	layout->piece_count = 0;
	layout->piece_capacity = 0;
	lay_out_plain(layout);
	lay_out_expandable(layout);
	order_pieces(layout);
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

/* Fills live; whether the sizes of all of them are known. */
static bool find_live(struct layout *layout, int64_t index)
{
	const struct snapshot_replay *replay = layout->replay;
	bool is_exact = true;
	size_t count = 0;

	for (size_t i = 0; i < replay->life_count; i++)
		count += tsi_is_live(&replay->lives[i], index);
	layout->live_count = 0;
	layout->live = tsi_arena_new(&layout->at_hand, count, 2 * sizeof(*layout->live));
	if (!layout->live)
		return false;
	for (size_t i = 0; layout->live_count < count; i++) {
		const struct snapshot_life *life = &replay->lives[i];
		if (!tsi_is_live(life, index))
			continue;
		layout->live[layout->live_count++] = (struct sort_pair){ life->address, i };
		is_exact &= life->block_bytes != UNKNOWN_BYTES;
	}
	tsi_sort_pairs(layout->live, layout->live + count, count);
	return is_exact;
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

static void look_at(struct layout *layout, struct snapshot_oom *oom)
{
	lay_out(layout, oom->index);
	bool is_exact = find_live(layout, oom->index);
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
	layout->arena->has_failed |= layout->at_hand.has_failed;
	tsi_arena_deinit(&layout->at_hand);
}

/* ---- putting it together ------------------------------------------------------------------ */

struct snapshot_oom *tsi_snapshot_ooms(const struct snapshot *snapshot, uint32_t device,
				       const struct snapshot_replay *replay, struct arena *arena,
				       size_t *count)
{
	struct layout layout = { .replay = replay, .arena = arena };
	size_t work = 0;

	if (replay->action_count[ACTION_OOM]) {
		add_segments(&layout, snapshot, device);
		read_entries(&layout, snapshot, device);
	}
	/* The last of them first, as far as the work goes. */
	for (size_t i = layout.oom_count; i-- > 0 && work <= WORK_MAX && !arena->has_failed;) {
		look_at(&layout, &layout.ooms[i]);
		work += replay->life_count + WORK_OF_SORTED * (layout.edit_end + layout.live_count);
	}
	*count = layout.oom_count;
	return layout.ooms;
}
