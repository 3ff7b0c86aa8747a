/* SPDX-License-Identifier: MIT */
/*
 * Sorting pairs by a 64-bit key: a stable radix sort that starts at the lowest
 * byte. Times of one trace share their high bytes and often lie in order
 * already; bytes that are equal in all keys cost nothing, and neither does a
 * list that is sorted. Short lists are not worth the tables: insertion.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
	KEY_BYTES = 8,
	DIGITS = 256,
	SHORT_LIST = 48, /* up to here insertion is the faster one */
};

/* True if in order; *differing gets a 1 in each bit that is not the same in all keys. */
static bool is_sorted(const struct sort_pair *items, size_t count, uint64_t *differing)
{
	bool sorted = true;
	*differing = 0;
	for (size_t i = 1; i < count; i++) {
		sorted &= items[i - 1].key <= items[i].key;
		*differing |= items[i - 1].key ^ items[i].key;
	}
	return sorted;
}

static void insertion_sort(struct sort_pair *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct sort_pair item = items[i];
		size_t at = i;
		for (; at > 0 && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Moves all pairs into `to`, in the order of one byte of their keys. */
static void distribute(const struct sort_pair *from, struct sort_pair *to, size_t count,
		       unsigned shift)
{
	size_t next[DIGITS] = { 0 };
	for (size_t i = 0; i < count; i++)
		next[(from[i].key >> shift) & (DIGITS - 1)]++;

	size_t start = 0;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t of_digit = next[digit];
		next[digit] = start;
		start += of_digit;
	}
	for (size_t i = 0; i < count; i++)
		to[next[(from[i].key >> shift) & (DIGITS - 1)]++] = from[i];
}

void tsi_sort_pairs(struct sort_pair *items, struct sort_pair *scratch, size_t count)
{
	uint64_t differing;
	if (is_sorted(items, count, &differing))
		return;
	if (count <= SHORT_LIST) {
		insertion_sort(items, count);
		return;
	}

	struct sort_pair *from = items, *to = scratch;
	for (unsigned shift = 0; shift < 8 * KEY_BYTES; shift += 8) {
		if (((differing >> shift) & (DIGITS - 1)) == 0)
			continue;
		distribute(from, to, count, shift);
		struct sort_pair *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}
