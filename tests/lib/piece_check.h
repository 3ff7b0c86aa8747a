/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PIECE_CHECK_H
#define TSCOPE_TESTS_PIECE_CHECK_H

#include "timeline/timeline.h"

#include "check.h"

/* Pieces are in order, have nothing in common, and neighbours of one kind are one. */
static inline void assert_pieces_are_in_order(const struct line_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++) {
		const struct line_piece *piece = &pieces->items[i];

		assert_true(piece->start_ns < piece->end_ns);
		if (i == 0)
			continue;
		assert_true(piece[-1].end_ns <= piece->start_ns);
		assert_false(piece[-1].end_ns == piece->start_ns && piece[-1].line == piece->line &&
			     piece[-1].phase == piece->phase);
	}
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
