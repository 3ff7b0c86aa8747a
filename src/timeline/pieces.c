/* SPDX-License-Identifier: MIT */
/*
 * The pieces of the budgets of a timeline, put in order while the passes that find them end. Only
 * the comparison with other ranks needs them.
 */
#include "timeline/pieces.h"

#include <string.h>

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

/* Merges the pass from behind with what lies before it. */
void tsi_pieces_end_pass(struct piece_collector *pieces)
{
	struct line_pieces *to = pieces->to, *pass = &pieces->copy;

	if (!to)
		return;
	size_t left = pieces->pass_begin, right = to->count - left, at = to->count;
	pieces->pass_begin = to->count;
	if (left == 0 || right == 0)
		return;
	struct line_piece *items = tsi_arena_reserve(&pieces->timeline->scratch, pass->items,
						     &pass->capacity, right, sizeof(*items));
	if (!items)
		return;
	pass->items = items;
	memcpy(items, &to->items[left], right * sizeof(*items));
	while (right > 0) {
		int64_t start_ns = items[--right].start_ns;

		while (left > 0 && to->items[left - 1].start_ns > start_ns)
			to->items[--at] = to->items[--left];
		to->items[--at] = items[right];
	}
}
