/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_PAIR_SET_H
#define TSCOPE_BASE_PAIR_SET_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Numbers pairs of ids from 0 in the order in which they first come: the rows
 * of a table by two keys. For three keys, pair the number of the first two
 * with the third. A zeroed struct is an empty set.
 */
struct pair {
	uint32_t first, second;
};

struct pair_set {
	struct pair *pairs; /* by number */
	size_t count, capacity;
	uint32_t *slots;   /* open addressing; number + 1, 0 is free */
	size_t slot_count; /* a power of two, or 0 */
};

void tsi_pair_set_deinit(struct pair_set *set);

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
enum tscope_status tsi_pair_set_insert(struct pair_set *set, struct pair pair, uint32_t *number,
				       struct tscope_error *err);

/* The number of a pair, which is added if it is new. Mostly it is not: that is short. */
TSI_MUST_CHECK
static inline enum tscope_status tsi_pair_set_add(struct pair_set *set, uint32_t first,
						  uint32_t second, uint32_t *number,
						  struct tscope_error *err)
{
	struct pair pair = { .first = first, .second = second };
	const uint32_t *slot = set->slot_count ? tsi_pair_set_slot(set, pair) : NULL;

	if (tsi_unlikely(!slot || *slot == 0))
		return tsi_pair_set_insert(set, pair, number, err);
	*number = *slot - 1;
	return TSCOPE_OK;
}

#endif
