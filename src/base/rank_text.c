/* SPDX-License-Identifier: MIT */
/* Writes ranks down run by run. */
#include "base/rank_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes the run, as far as there is room for it and an end. */
static void write_run(struct rank_text *text)
{
	static const char end[] = ", ...";
	size_t length = strlen(text->text), room = sizeof(text->text) - sizeof(end) + 1 - length;
	const char *comma = length > 0 ? ", " : "";
	int wanted = text->first == text->last
			     ? snprintf(text->text + length, room, "%s%" PRId64, comma, text->first)
			     : snprintf(text->text + length, room, "%s%" PRId64 "-%" PRId64, comma,
					text->first, text->last);

	if (wanted < (int)room)
		return;
	memcpy(text->text + length, end, sizeof(end));
	text->is_full = true;
}

void tsi_rank_text_add(struct rank_text *text, int64_t rank)
{
	if (text->is_full)
		return;
	if (text->has_run && text->last < rank && text->last + 1 == rank) {
		text->last = rank;
		return;
	}
	if (text->has_run)
		write_run(text);
	text->has_run = true;
	text->first = text->last = rank;
}

void tsi_rank_text_end(struct rank_text *text)
{
	if (text->has_run && !text->is_full)
		write_run(text);
	text->has_run = false;
}
