/* SPDX-License-Identifier: MIT */
/*
 * The pieces of the budgets of a timeline. Only the comparison with other ranks and the page of
 * lanes need them.
 */
#include "timeline/pieces.h"

#include <assert.h>

void tsi_pieces_init(struct tscope_timeline *timeline, bool are_wanted)
{
	if (are_wanted)
		timeline->pieces = tsi_arena_new(&timeline->arena, tsi_piece_list_count(timeline),
						 sizeof(*timeline->pieces));
}

struct piece_collector tsi_pieces_begin(struct tscope_timeline *timeline, uint32_t list)
{
	struct line_pieces *to = timeline->pieces ? &timeline->pieces[list] : NULL;
	const struct tscope_trace *trace = timeline->trace;

	/* Room for a piece of each event and of each gap, and no copying as they become more. */
	if (to && !to->items && list < trace->device_count)
		to->items =
			tsi_arena_grow(&timeline->arena, NULL, &to->capacity,
				       2 * trace->devices[list].row_count + 1, sizeof(*to->items));
	return (struct piece_collector){
		.timeline = timeline,
		.to = to,
		.pass_begin = to ? to->count : 0,
	};
}

void tsi_piece_add(struct piece_collector *pieces, const struct line_piece *piece)
{
	struct line_pieces *to = pieces->to;
	struct line_piece *last = to->count > pieces->pass_begin ? &to->items[to->count - 1] : NULL;

	if (last && last->end_ns == piece->start_ns && last->line == piece->line &&
	    last->phase == piece->phase) {
		last->end_ns = piece->end_ns;
		return;
	}
	struct line_piece *items = tsi_arena_reserve(&pieces->timeline->arena, to->items,
						     &to->capacity, to->count + 1, sizeof(*items));
	if (!items)
		return;
	to->items = items;
	items[to->count++] = *piece;
}

void tsi_pieces_end_pass(struct piece_collector *pieces)
{
	struct line_pieces *to = pieces->to;

	if (!to || to->count == pieces->pass_begin)
		return;
	assert(to->pass_count < MAX_PIECE_PASSES);
	to->pass_ends[to->pass_count++] = to->count;
	pieces->pass_begin = to->count;
}

struct piece_cursor tsi_piece_cursor(const struct line_pieces *pieces)
{
	struct piece_cursor cursor = { .of = pieces, .pass_count = pieces->pass_count };
	size_t begin = 0;

	for (unsigned pass = 0; pass < pieces->pass_count; pass++) {
		cursor.at[pass] = begin;
		cursor.start_ns[pass] = pieces->items[begin].start_ns; /* no pass is empty */
		begin = pieces->pass_ends[pass];
	}
	return cursor;
}
