/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PIECE_CHECK_H
#define TSCOPE_TESTS_PIECE_CHECK_H

#include "timeline/pieces.h"

#include "check.h"

/* Pieces are in order, have nothing in common, and neighbours of one kind are one. */
static inline void assert_pieces_are_in_order(const struct line_pieces *pieces)
{
	struct piece_cursor cursor = tsi_piece_cursor(pieces);
	struct line_piece piece, before;

	for (size_t i = 0; i < pieces->count; i++) {
		assert_true(tsi_piece_next(&cursor, &piece));
		assert_true(piece.start_ns < piece.end_ns);
		if (i > 0) {
			assert_true(before.end_ns <= piece.start_ns);
			assert_false(before.end_ns == piece.start_ns && before.line == piece.line &&
				     before.phase == piece.phase);
		}
		before = piece;
	}
	assert_false(tsi_piece_next(&cursor, &piece));
}

/* The piece that holds an instant, or NULL. */
static inline const struct line_piece *piece_at(const struct line_pieces *pieces, int64_t t_ns)
{
	for (size_t i = 0; i < pieces->count; i++)
		if (pieces->items[i].start_ns <= t_ns && t_ns < pieces->items[i].end_ns)
			return &pieces->items[i];
	return NULL;
}

static inline int64_t length_of_pieces(const struct line_pieces *pieces)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < pieces->count; i++)
		sum_ns += pieces->items[i].end_ns - pieces->items[i].start_ns;
	return sum_ns;
}

#endif
