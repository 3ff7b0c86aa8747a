/* SPDX-License-Identifier: MIT */
/*
 * A hash table of pairs of ids, so that tables by two and more keys can be
 * filled in one pass, each row found in O(1).
 */
#include "base/pair_set.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

enum { FIRST_SLOTS = 64 };

void tsi_pair_set_deinit(struct pair_set *set)
{
	free(set->pairs);
	free(set->slots);
	*set = (struct pair_set){ 0 };
}

static size_t hash(struct pair pair)
{
	uint64_t key = (uint64_t)pair.first << 32 | pair.second;

	key *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 ÷ golden ratio: spreads neighbours */
	return (size_t)(key >> 32);
}

/* The slot that holds the pair or that it would get. */
static uint32_t *find_slot(const struct pair_set *set, struct pair pair)
{
	size_t mask = set->slot_count - 1;

	for (size_t at = hash(pair) & mask;; at = (at + 1) & mask) {
		uint32_t *slot = &set->slots[at];
		if (*slot == 0)
			return slot;
		const struct pair *held = &set->pairs[*slot - 1];
		if (held->first == pair.first && held->second == pair.second)
			return slot;
	}
}

/* Doubles the slots when half of them are taken. */
static enum tscope_status make_room(struct pair_set *set, struct tscope_error *err)
{
	if (2 * set->count < set->slot_count)
		return TSCOPE_OK;

	size_t slot_count = set->slot_count ? 2 * set->slot_count : FIRST_SLOTS;
	uint32_t *slots;
	if (tsi_array_new(&slots, slot_count, sizeof(*slots), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	free(set->slots);
	set->slots = slots;
	set->slot_count = slot_count;
	for (size_t i = 0; i < set->count; i++)
		*find_slot(set, set->pairs[i]) = (uint32_t)i + 1;
	return TSCOPE_OK;
}

enum tscope_status tsi_pair_set_add(struct pair_set *set, uint32_t first, uint32_t second,
				    uint32_t *number, struct tscope_error *err)
{
	struct pair pair = { .first = first, .second = second };

	if (make_room(set, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	uint32_t *slot = find_slot(set, pair);
	if (*slot == 0) {
		if (tsi_array_reserve(&set->pairs, &set->capacity, set->count + 1,
				      sizeof(*set->pairs), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		set->pairs[set->count++] = pair;
		*slot = (uint32_t)set->count;
	}
	*number = *slot - 1;
	return TSCOPE_OK;
}
