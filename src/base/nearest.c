/* SPDX-License-Identifier: MIT */
/*
 * Guesses what a misspelt name was meant to be, for messages. Nothing depends
 * on the guess, so words longer than any name of ours get none.
 */
#include "base/nearest.h"

enum { MAX_WORD = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters to put in, take out or change to make one word of the other (Levenshtein). */
static size_t distance_between(struct str a, struct str b)
{
	size_t row[MAX_WORD + 1]; /* distances of the prefix of a to all prefixes of b */

	for (size_t j = 0; j <= b.length; j++)
		row[j] = j;
	for (size_t i = 1; i <= a.length; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b.length; j++) {
			bool differs = tsi_to_lower(a.data[i - 1]) != tsi_to_lower(b.data[j - 1]);
			size_t change = diagonal + differs;

			diagonal = row[j];
			row[j] = least(change, least(row[j], row[j - 1]) + 1);
		}
	}
	return row[b.length];
}

void tsi_nearest_consider(struct nearest *nearest, const char *name)
{
	struct str candidate = { name, strlen(name) };

	if (nearest->word.length > MAX_WORD || candidate.length > MAX_WORD)
		return;
	size_t distance = distance_between(nearest->word, candidate);
	/* More than a third of the letters wrong is another word, not a slip. */
	if (distance > 1 + nearest->word.length / 3)
		return;
	if (!nearest->name || distance < nearest->distance) {
		nearest->name = name;
		nearest->distance = distance;
	}
}
