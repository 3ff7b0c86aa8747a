/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_PIECES_H
#define TSCOPE_TIMELINE_PIECES_H

#include "timeline/timeline.h"

/*
 * Collects the pieces of a budget while it is computed, pass by pass: the pieces of a pass come in
 * order, and those of all passes do not overlap.
 *
 *	struct piece_collector pieces = tsi_pieces_begin(timeline, list);
 *	tsi_piece_add(&pieces, …); …
 *	tsi_pieces_end_pass(&pieces);
 */
struct piece_collector {
	struct tscope_timeline *timeline;
	struct line_pieces *to; /* behind those of the passes that have ended; NULL: not wanted */
	size_t pass_begin;
};

/* Makes the lists, empty ones, where somebody wants them. */
void tsi_pieces_init(struct tscope_timeline *timeline, bool are_wanted);

/* For the list of this number, if there are lists; behind the passes that it holds already. */
struct piece_collector tsi_pieces_begin(struct tscope_timeline *timeline, uint32_t list);

/* Adds a piece to a list that is there; joins it with the last of its pass where they touch. */
void tsi_piece_add(struct piece_collector *pieces, const struct line_piece *piece);

void tsi_pieces_end_pass(struct piece_collector *pieces);

/*
 * Goes over the pieces of the passes that had ended when it began, by time. They are merged as they
 * are read: the passes are few, and lists as long as all device events are slow to move.
 *
 *	struct piece_cursor cursor = tsi_piece_cursor(pieces);
 *	while (tsi_piece_next(&cursor, &piece)) …
 */
struct piece_cursor {
	const struct line_pieces *of;
	unsigned pass_count;
	size_t at[MAX_PIECE_PASSES];        /* of the next piece of a pass */
	int64_t start_ns[MAX_PIECE_PASSES]; /* of that; INT64_MAX: the pass has no more */
};

struct piece_cursor tsi_piece_cursor(const struct line_pieces *pieces);

static inline bool tsi_piece_next(struct piece_cursor *cursor, struct line_piece *piece)
{
	const struct line_pieces *of = cursor->of;
	unsigned first = 0;

	for (unsigned pass = 1; pass < cursor->pass_count; pass++)
		if (cursor->start_ns[pass] < cursor->start_ns[first])
			first = pass;
	size_t at = cursor->at[first];
	if (cursor->pass_count == 0 || at == of->pass_ends[first])
		return false;
	*piece = of->items[at++];
	cursor->at[first] = at;
	cursor->start_ns[first] = at < of->pass_ends[first] ? of->items[at].start_ns : INT64_MAX;
	return true;
}

#endif
