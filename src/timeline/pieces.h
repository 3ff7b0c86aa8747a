/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_PIECES_H
#define TSCOPE_TIMELINE_PIECES_H

#include "timeline/timeline.h"

/*
 * Collects the pieces of a budget while it is computed, pass by pass: the pieces of a pass come in
 * order, and those of all passes do not overlap.
 *
 *	struct piece_collector pieces = { .to = …, .err = err };
 *	tsi_piece_add(&pieces, …); …
 *	tsi_pieces_end_pass(&pieces);
 *	…
 *	status = tsi_pieces_end(&pieces);
 */
struct piece_collector {
	struct line_pieces *to; /* of all passes that have ended; NULL: nobody wants them */
	struct line_pieces pass;
	enum tscope_status status; /* of the first that failed: later ones do nothing */
	struct tscope_error *err;
};

/* Makes the lists, empty ones, where somebody wants them. */
TSI_MUST_CHECK
enum tscope_status tsi_pieces_init(struct tscope_timeline *timeline, bool are_wanted,
				   struct tscope_error *err);

/* Adds a piece that could not be joined with the last. */
void tsi_piece_append(struct piece_collector *pieces, const struct line_piece *piece);

static inline void tsi_piece_add(struct piece_collector *pieces, const struct line_piece *piece)
{
	struct line_pieces *pass = &pieces->pass;

	if (!pieces->to)
		return;
	if (pass->count > 0) {
		struct line_piece *last = &pass->items[pass->count - 1];
		if (last->end_ns == piece->start_ns && last->line == piece->line &&
		    last->phase == piece->phase) {
			last->end_ns = piece->end_ns;
			return;
		}
	}
	tsi_piece_append(pieces, piece);
}

void tsi_pieces_end_pass(struct piece_collector *pieces);

/* Frees the collector. Fails where one of the pieces found no memory. */
TSI_MUST_CHECK
enum tscope_status tsi_pieces_end(struct piece_collector *pieces);

#endif
