/* SPDX-License-Identifier: MIT */
/*
 * The pieces of the budgets of a timeline, put in order while the passes that find them end. Only
 * the comparison with other ranks needs them.
 */
#include "timeline/pieces.h"

#include <stdlib.h>

#include "base/array.h"

enum tscope_status tsi_pieces_init(struct tscope_timeline *timeline, bool are_wanted,
				   struct tscope_error *err)
{
	if (!are_wanted)
		return TSCOPE_OK;
	return tsi_array_new(&timeline->pieces, tsi_piece_list_count(timeline),
			     sizeof(*timeline->pieces), err);
}

void tsi_piece_append(struct piece_collector *pieces, const struct line_piece *piece)
{
	struct line_pieces *pass = &pieces->pass;

	if (pieces->status == TSCOPE_OK)
		pieces->status = tsi_array_reserve(&pass->items, &pass->capacity, pass->count + 1,
						   sizeof(*pass->items), pieces->err);
	if (pieces->status == TSCOPE_OK)
		pass->items[pass->count++] = *piece;
}

/* Merges from behind, so that the larger list stays where it is. */
static enum tscope_status merge(struct line_pieces *to, const struct line_pieces *pass,
				struct tscope_error *err)
{
	size_t left = to->count, right = pass->count, at = left + right;

	if (tsi_array_reserve(&to->items, &to->capacity, at, sizeof(*to->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	to->count = at;
	while (right > 0) {
		bool is_left =
			left > 0 && to->items[left - 1].start_ns > pass->items[right - 1].start_ns;
		to->items[--at] = is_left ? to->items[--left] : pass->items[--right];
	}
	return TSCOPE_OK;
}

void tsi_pieces_end_pass(struct piece_collector *pieces)
{
	if (pieces->status != TSCOPE_OK || pieces->pass.count == 0)
		return;
	if (pieces->to->count == 0) {
		free(pieces->to->items);
		*pieces->to = pieces->pass;
		pieces->pass = (struct line_pieces){ 0 };
		return;
	}
	pieces->status = merge(pieces->to, &pieces->pass, pieces->err);
	pieces->pass.count = 0;
}

enum tscope_status tsi_pieces_end(struct piece_collector *pieces)
{
	free(pieces->pass.items);
	pieces->pass = (struct line_pieces){ 0 };
	return pieces->status;
}
