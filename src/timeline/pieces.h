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
	struct line_pieces copy; /* of a pass while it is merged */
};

/* Makes the lists, empty ones, where somebody wants them. */
void tsi_pieces_init(struct tscope_timeline *timeline, bool are_wanted);

/* For the list of this number, if there are lists; behind the passes that it holds already. */
struct piece_collector tsi_pieces_begin(struct tscope_timeline *timeline, uint32_t list);

/* Adds a piece to a list that is there; joins it with the last of its pass where they touch. */
void tsi_piece_add(struct piece_collector *pieces, const struct line_piece *piece);

void tsi_pieces_end_pass(struct piece_collector *pieces);

#endif
