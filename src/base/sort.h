/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_SORT_H
#define TSCOPE_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* A key to sort by (a time, an id) and its value (mostly an index). */
struct sort_pair {
	uint64_t key;
	uint64_t value;
};

/*
 * Sorts by key, ascending; equal keys keep their order. scratch is room for
 * count more pairs, its content is lost. Both may be NULL where count is 0.
 * O(count): one pass to look, then one for each byte in which keys differ;
 * items that are already in order are only looked at.
 */
void tsi_sort_pairs(struct sort_pair *items, struct sort_pair *scratch, size_t count);

/* As tsi_sort_pairs(), for bare numbers, which take half the room. */
void tsi_sort_numbers(int64_t *items, int64_t *scratch, size_t count);

/*
 * Moves the number that would stand at a place (< count), were they sorted, to there; none before
 * it is greater, none behind it less. O(count).
 */
void tsi_select_number(int64_t *items, size_t count, size_t place);

/* For qsort(): items of double, of int64_t. */
int tsi_compare_doubles(const void *left, const void *right);
int tsi_compare_numbers(const void *left, const void *right);

/* A signed key (nanoseconds before an origin) as one that sorts the same. */
static inline uint64_t tsi_sort_key_of_int64(int64_t number)
{
	return (uint64_t)number ^ (UINT64_C(1) << 63);
}

static inline int64_t tsi_int64_of_sort_key(uint64_t key)
{
	return (int64_t)(key ^ (UINT64_C(1) << 63));
}

#endif
