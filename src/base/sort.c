/* SPDX-License-Identifier: MIT */
/*
 * Sorting pairs by a 64-bit key: a stable radix sort that starts at the lowest
 * byte. Times of one trace share their high bytes and often lie in order
 * already; bytes that are equal in all keys cost nothing, and neither does a
 * list that is sorted. Where few come too late (after a greater key), only these
 * are sorted and merged into the others. Short lists are not worth the tables: insertion.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

enum {
	KEY_BYTES = 8,
	DIGITS = 256,
	SHORT_LIST = 48, /* up to here insertion is the faster one */
	FEW_PART = 4,    /* of all, what is few */
};

/* How many come too late; *differing gets a 1 in each bit that is not the same in all keys. */
static size_t count_late(const struct sort_pair *items, size_t count, uint64_t *differing)
{
	uint64_t most = count ? items[0].key : 0;
	size_t late_count = 0;
	*differing = 0;
	for (size_t i = 1; i < count; i++) {
		uint64_t key = items[i].key;
		late_count += key < most;
		most = key > most ? key : most;
		*differing |= key ^ items[0].key;
	}
	return late_count;
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

static void sort_by_bytes(struct sort_pair *items, struct sort_pair *scratch, size_t count,
			  uint64_t differing)
{
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

/* Those that are not late stay, in order, and get the late ones, which then are sorted, too. */
static void sort_late(struct sort_pair *items, struct sort_pair *late, size_t count,
		      uint64_t differing)
{
	size_t kept = 1, late_count = 0;
	for (size_t i = 1; i < count; i++) {
		if (items[i].key < items[kept - 1].key)
			late[late_count++] = items[i];
		else
			items[kept++] = items[i];
	}
	sort_by_bytes(late, items + kept, late_count, differing);
	/* Of equal keys the late one came later. */
	for (size_t at = count; late_count > 0; at--)
		items[at - 1] = kept > 0 && items[kept - 1].key > late[late_count - 1].key
					? items[--kept]
					: late[--late_count];
}

void tsi_sort_pairs(struct sort_pair *items, struct sort_pair *scratch, size_t count)
{
	uint64_t differing;
	size_t late_count = count_late(items, count, &differing);
	if (late_count == 0)
		return;
	if (count <= SHORT_LIST)
		insertion_sort(items, count);
	else if (late_count <= count / FEW_PART)
		sort_late(items, scratch, count, differing);
	else
		sort_by_bytes(items, scratch, count, differing);
}

/* ---- bare numbers ------------------------------------------------------------------------- */

static size_t count_late_numbers(const int64_t *items, size_t count, uint64_t *differing)
{
	int64_t most = count ? items[0] : 0;
	size_t late_count = 0;
	*differing = 0;
	for (size_t i = 1; i < count; i++) {
		late_count += items[i] < most;
		most = items[i] > most ? items[i] : most;
		*differing |= (uint64_t)items[i] ^ (uint64_t)items[0];
	}
	return late_count;
}

static void insert_numbers(int64_t *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		int64_t item = items[i];
		size_t at = i;
		for (; at > 0 && items[at - 1] > item; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static void distribute_numbers(const int64_t *from, int64_t *to, size_t count, unsigned shift)
{
	size_t next[DIGITS] = { 0 };
	for (size_t i = 0; i < count; i++)
		next[tsi_sort_key_of_int64(from[i]) >> shift & (DIGITS - 1)]++;

	size_t start = 0;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t of_digit = next[digit];
		next[digit] = start;
		start += of_digit;
	}
	for (size_t i = 0; i < count; i++)
		to[next[tsi_sort_key_of_int64(from[i]) >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_numbers_by_bytes(int64_t *items, int64_t *scratch, size_t count,
				  uint64_t differing)
{
	int64_t *from = items, *to = scratch;
	for (unsigned shift = 0; shift < 8 * KEY_BYTES; shift += 8) {
		if (((differing >> shift) & (DIGITS - 1)) == 0)
			continue;
		distribute_numbers(from, to, count, shift);
		int64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

static void sort_late_numbers(int64_t *items, int64_t *late, size_t count, uint64_t differing)
{
	size_t kept = 1, late_count = 0;
	for (size_t i = 1; i < count; i++) {
		if (items[i] < items[kept - 1])
			late[late_count++] = items[i];
		else
			items[kept++] = items[i];
	}
	sort_numbers_by_bytes(late, items + kept, late_count, differing);
	for (size_t at = count; late_count > 0; at--)
		items[at - 1] = kept > 0 && items[kept - 1] > late[late_count - 1]
					? items[--kept]
					: late[--late_count];
}

void tsi_sort_numbers(int64_t *items, int64_t *scratch, size_t count)
{
	uint64_t differing;
	size_t late_count = count_late_numbers(items, count, &differing);
	if (late_count == 0)
		return;
	if (count <= SHORT_LIST)
		insert_numbers(items, count);
	else if (late_count <= count / FEW_PART)
		sort_late_numbers(items, scratch, count, differing);
	else
		sort_numbers_by_bytes(items, scratch, count, differing);
}

/* Numbers of which the least is at least 0 above `base`, told apart by bits from `shift` on. */
struct digits {
	uint64_t base;
	unsigned shift;
};

/* The highest bits in which they differ: one digit of them. False: all are the same. */
static bool find_digits(const int64_t *items, size_t count, struct digits *digits)
{
	int64_t least = items[0], most = items[0];
	for (size_t i = 1; i < count; i++) {
		least = items[i] < least ? items[i] : least;
		most = items[i] > most ? items[i] : most;
	}
	*digits = (struct digits){ .base = (uint64_t)least };
	while (((uint64_t)most - digits->base) >> digits->shift >= DIGITS)
		digits->shift++;
	return least < most;
}

static size_t digit_of(const struct digits *digits, int64_t number)
{
	return ((uint64_t)number - digits->base) >> digits->shift;
}

/* The digit of the number at the place; *before gets how many have a lower one. */
static size_t find_digit(const int64_t *items, size_t count, size_t place,
			 const struct digits *digits, size_t *before)
{
	size_t counts[DIGITS] = { 0 }, digit = 0;
	for (size_t i = 0; i < count; i++)
		counts[digit_of(digits, items[i])]++;
	*before = 0;
	while (*before + counts[digit] <= place)
		*before += counts[digit++];
	return digit;
}

/* Puts those with a lower digit first, those with a higher one last; returns where these begin. */
static size_t part_numbers(int64_t *items, size_t count, size_t digit, const struct digits *digits)
{
	size_t low = 0, high = count;
	for (size_t i = 0; i < high;) {
		int64_t item = items[i];
		size_t of_item = digit_of(digits, item);
		if (of_item < digit) {
			items[i++] = items[low];
			items[low++] = item;
		} else if (of_item > digit) {
			items[i] = items[--high];
			items[high] = item;
		} else {
			i++;
		}
	}
	return high;
}

void tsi_select_number(int64_t *items, size_t count, size_t place)
{
	struct digits digits;
	while (count > SHORT_LIST && find_digits(items, count, &digits)) {
		size_t before;
		size_t digit = find_digit(items, count, place, &digits, &before);
		count = part_numbers(items, count, digit, &digits) - before;
		items += before;
		place -= before;
	}
	if (count <= SHORT_LIST)
		insert_numbers(items, count);
}
