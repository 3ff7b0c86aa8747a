/* SPDX-License-Identifier: MIT */
/* Writes ranks down run by run. */
#include "base/rank_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ckd.h"

enum { SERIES_RANKS = 6 }; /* fewer at a distance are written one by one */

/* Appends a piece of the text, as far as there is room for it and an end. */
static void append(struct rank_text *text, const char *piece)
{
	static const char end[] = ", ...";
	size_t length = strlen(text->text), room = sizeof(text->text) - sizeof(end) + 1 - length;
	const char *comma = length > 0 ? ", " : "";

	if (text->is_full || snprintf(text->text + length, room, "%s%s", comma, piece) < (int)room)
		return;
	memcpy(text->text + length, end, sizeof(end));
	text->is_full = true;
}

static void append_rank(struct rank_text *text, int64_t rank)
{
	char piece[24];

	snprintf(piece, sizeof(piece), "%" PRId64, rank);
	append(text, piece);
}

static bool is_series(const struct rank_text *text)
{
	return text->distance == 1 ? text->count > 1 : text->count >= SERIES_RANKS;
}

static void write_series(struct rank_text *text)
{
	char piece[80];

	if (text->distance == 1)
		snprintf(piece, sizeof(piece), "%" PRId64 "-%" PRId64, text->first, text->last);
	else
		snprintf(piece, sizeof(piece), "%" PRId64 ", %" PRId64 ", ..., %" PRId64,
			 text->first, text->first + text->distance, text->last);
	append(text, piece);
	text->count = 0;
}

/* Writes them one by one, but for the last `kept`. */
static void write_each(struct rank_text *text, int64_t kept)
{
	for (; text->count > kept; text->count--) {
		append_rank(text, text->first);
		if (text->count > 1)
			text->first += text->distance;
	}
}

static void begin(struct rank_text *text, int64_t rank)
{
	text->first = text->last = rank;
	text->distance = 0;
	text->count = 1;
}

void tsi_rank_text_add(struct rank_text *text, int64_t rank)
{
	int64_t distance;

	if (text->is_full)
		return;
	if (text->count == 0) {
		begin(text, rank);
		return;
	}
	if (rank <= text->last || tsi_ckd_sub(&distance, rank, text->last)) {
		tsi_rank_text_end(text);
		begin(text, rank);
		return;
	}
	if (text->count > 1 && distance != text->distance) {
		if (is_series(text)) {
			write_series(text);
			begin(text, rank);
			return;
		}
		write_each(text, 1); /* the last may begin a series with this one */
	}
	text->distance = distance;
	text->last = rank;
	text->count++;
}

void tsi_rank_text_end(struct rank_text *text)
{
	if (is_series(text))
		write_series(text);
	else
		write_each(text, 0);
}
