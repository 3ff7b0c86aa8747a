/* SPDX-License-Identifier: MIT */
/*
 * Sorting pairs by a 64-bit key, and numbers: a stable radix sort that starts at the lowest
 * byte. Times of one trace share their high bytes and often lie in order
 * already; bytes that are equal in all keys cost nothing, and neither does a
 * list that is sorted. Where few come too late (after a greater key), only these
 * are sorted and merged into the others. Short lists are not worth the tables: insertion.
 */
#include "base/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/attributes.h"

enum {
	KEY_BYTES = 8,
	DIGITS = 256,
	SHORT_LIST = 48, /* up to here insertion is the faster one */
	FEW_PART = 4,    /* of all, what is few */
};

/*
 * An item: a key and perhaps a value, of 64 bits each. All below is inlined with one of the two
 * forms.
 */
struct form {
	size_t words;
	bool is_signed;
};

static const struct form pairs = { 2, false }, numbers = { 1, true };

static TSI_INLINE uint64_t key_of(const uint64_t *items, size_t at, struct form form)
{
	return items[at * form.words];
}

static TSI_INLINE bool is_before(uint64_t a, uint64_t b, struct form form)
{
	return form.is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static TSI_INLINE size_t digit_of_key(const uint64_t *items, size_t at, unsigned shift,
				      struct form form)
{
	uint64_t key = key_of(items, at, form);

	return (form.is_signed ? tsi_sort_key_of_int64((int64_t)key) : key) >> shift & (DIGITS - 1);
}

static TSI_INLINE void copy_item(uint64_t *to, size_t at, const uint64_t *from, size_t from_at,
				 struct form form)
{
	memmove(to + at * form.words, from + from_at * form.words, form.words * sizeof(*to));
}

/* How many come too late; *differing gets a 1 in each bit that is not the same in all keys. */
static TSI_INLINE size_t count_late(const uint64_t *items, size_t count, uint64_t *differing,
				    struct form form)
{
	uint64_t first = count ? key_of(items, 0, form) : 0, most = first;
	size_t late_count = 0;
	*differing = 0;
	for (size_t i = 1; i < count; i++) {
		uint64_t key = key_of(items, i, form);
		late_count += is_before(key, most, form);
		most = is_before(most, key, form) ? key : most;
		*differing |= key ^ first;
	}
	return late_count;
}

static TSI_INLINE void insertion_sort(uint64_t *items, size_t count, struct form form)
{
	for (size_t i = 1; i < count; i++) {
		uint64_t item[2], key = key_of(items, i, form);
		size_t at = i;
		copy_item(item, 0, items, i, form);
		for (; at > 0 && is_before(key, key_of(items, at - 1, form), form); at--)
			copy_item(items, at, items, at - 1, form);
		copy_item(items, at, item, 0, form);
	}
}

/* Moves all items into `to`, in the order of one byte of their keys. */
static TSI_INLINE void distribute(const uint64_t *from, uint64_t *to, size_t count, unsigned shift,
				  struct form form)
{
	size_t next[DIGITS] = { 0 };
	for (size_t i = 0; i < count; i++)
		next[digit_of_key(from, i, shift, form)]++;

	size_t start = 0;
	for (size_t digit = 0; digit < DIGITS; digit++) {
		size_t slot = next[digit];
		next[digit] = start;
		start += slot;
	}
	for (size_t i = 0; i < count; i++)
		copy_item(to, next[digit_of_key(from, i, shift, form)]++, from, i, form);
}

static TSI_INLINE void sort_by_bytes(uint64_t *items, uint64_t *scratch, size_t count,
				     uint64_t differing, struct form form)
{
	uint64_t *from = items, *to = scratch;
	for (unsigned shift = 0; shift < 8 * KEY_BYTES; shift += 8) {
		if (((differing >> shift) & (DIGITS - 1)) == 0)
			continue;
		distribute(from, to, count, shift, form);
		uint64_t *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * form.words * sizeof(*items));
}

/* Keeps what is in order in place, sorts the late items and merges them in. */
static TSI_INLINE void sort_late(uint64_t *items, uint64_t *late, size_t count, uint64_t differing,
				 struct form form)
{
	size_t kept = 1, late_count = 0;
	for (size_t i = 1; i < count; i++) {
		if (is_before(key_of(items, i, form), key_of(items, kept - 1, form), form))
			copy_item(late, late_count++, items, i, form);
		else
			copy_item(items, kept++, items, i, form);
	}
	sort_by_bytes(late, items + kept * form.words, late_count, differing, form);
	/* With equal keys the late one goes behind. */
	for (size_t at = count; late_count > 0; at--) {
		if (kept > 0 && is_before(key_of(late, late_count - 1, form),
					  key_of(items, kept - 1, form), form))
			copy_item(items, at - 1, items, --kept, form);
		else
			copy_item(items, at - 1, late, --late_count, form);
	}
}

static TSI_INLINE void sort(uint64_t *items, uint64_t *scratch, size_t count, struct form form)
{
	uint64_t differing;
	size_t late_count = count_late(items, count, &differing, form);
	if (late_count == 0)
		return;
	if (count <= SHORT_LIST)
		insertion_sort(items, count, form);
	else if (late_count <= count / FEW_PART)
		sort_late(items, scratch, count, differing, form);
	else
		sort_by_bytes(items, scratch, count, differing, form);
}

void tsi_sort_pairs(struct sort_pair *items, struct sort_pair *scratch, size_t count)
{
	sort((uint64_t *)items, (uint64_t *)scratch, count, pairs);
}

void tsi_sort_numbers(int64_t *items, int64_t *scratch, size_t count)
{
	sort((uint64_t *)items, (uint64_t *)scratch, count, numbers);
}

/* ---- the number at a place ----------------------------------------------------------------- */

/* Digits of numbers: the bits from `shift` on of their distance to the least, `base`. */
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
		size_t item_digit = digit_of(digits, item);
		if (item_digit < digit) {
			items[i++] = items[low];
			items[low++] = item;
		} else if (item_digit > digit) {
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
		insertion_sort((uint64_t *)items, count, numbers);
}

int tsi_compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int tsi_compare_numbers(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}
