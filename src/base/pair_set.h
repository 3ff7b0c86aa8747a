/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_PAIR_SET_H
#define TSCOPE_BASE_PAIR_SET_H

#include "base/arena.h"
#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Numbers pairs of ids from 0 in the order in which they first come: the rows
 * of a table by two keys. For three keys, pair the number of the first two
 * with the third. An empty set: { .arena = arena }, in which all of it is.
 *
 * With item_bytes it keeps an item of the caller's for each pair, zeroed when the pair comes:
 *
 *	struct pair_set set = { .arena = arena, .item_bytes = sizeof(struct sum) };
 *	uint32_t number = tsi_pair_set_add(&set, first, second);
 *	if (number != UINT32_MAX)
 *		((struct sum *)set.items)[number].count++;
 */
struct pair {
	uint32_t first, second;
};

struct pair_set {
	struct arena *arena;
	size_t item_bytes;
	struct pair *pairs; /* by number */
	void *items;        /* by number; moved when a pair comes */
	size_t count, capacity, item_capacity;
	uint32_t *slots;   /* open addressing; number + 1, 0 is free */
	size_t slot_count; /* a power of two, or 0 */
};

static inline size_t tsi_pair_hash(struct pair pair)
{
	uint64_t key = (uint64_t)pair.first << 32 | pair.second;

	key *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 ÷ golden ratio: spreads neighbours */
	return (size_t)(key >> 32);
}

/* The slot that holds the pair or that it would get; there must be slots. */
static inline uint32_t *tsi_pair_set_slot(const struct pair_set *set, struct pair pair)
{
	size_t mask = set->slot_count - 1;

	for (size_t at = tsi_pair_hash(pair) & mask;; at = (at + 1) & mask) {
		uint32_t *slot = &set->slots[at];
		if (*slot == 0)
			return slot;
		const struct pair *held = &set->pairs[*slot - 1];
		if (held->first == pair.first && held->second == pair.second)
			return slot;
	}
}

/* tsi_pair_set_add() of a pair that is new. */
TSI_MUST_CHECK
uint32_t tsi_pair_set_insert(struct pair_set *set, struct pair pair);

/*
 * The number of a pair, which is added if it is new; UINT32_MAX without memory. Mostly it is not
 * new: that is short.
 */
TSI_MUST_CHECK
static inline uint32_t tsi_pair_set_add(struct pair_set *set, uint32_t first, uint32_t second)
{
	struct pair pair = { .first = first, .second = second };
	const uint32_t *slot = set->slot_count ? tsi_pair_set_slot(set, pair) : NULL;

	if (tsi_unlikely(!slot || *slot == 0))
		return tsi_pair_set_insert(set, pair);
	return *slot - 1;
}

#endif
