/* SPDX-License-Identifier: MIT */
/*
 * A hash table of pairs of ids, so that tables by two and more keys can be
 * filled in one pass, each row found in O(1).
 */
#include "base/pair_set.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

/* Doubles the slots when half of them are taken. */
static bool make_room(struct pair_set *set)
{
	if (2 * set->count < set->slot_count)
		return true;

	size_t slot_count = set->slot_count;
	uint32_t *slots =
		tsi_arena_reserve(set->arena, set->slots, &slot_count,
				  slot_count ? 2 * slot_count : FIRST_SLOTS, sizeof(*slots));
	if (!slots)
		return false;
	set->slots = memset(slots, 0, slot_count * sizeof(*slots));
	set->slot_count = slot_count;
	for (size_t i = 0; i < set->count; i++)
		*tsi_pair_set_slot(set, set->pairs[i]) = (uint32_t)i + 1;
	return true;
}

static bool make_item(struct pair_set *set)
{
	if (set->item_bytes == 0)
		return true;

	char *items = tsi_arena_reserve(set->arena, set->items, &set->item_capacity, set->count + 1,
					set->item_bytes);
	if (!items)
		return false;
	set->items = items;
	memset(items + set->count * set->item_bytes, 0, set->item_bytes);
	return true;
}

uint32_t tsi_pair_set_insert(struct pair_set *set, struct pair pair)
{
	size_t number = set->count;

	if (!make_room(set) || !make_item(set))
		return UINT32_MAX;
	uint32_t *slot = tsi_pair_set_slot(set, pair);
	struct pair *added = tsi_arena_push(set->arena, &set->pairs, &set->count, &set->capacity,
					    sizeof(*added));
	if (!added)
		return UINT32_MAX;
	*added = pair;
	*slot = (uint32_t)number + 1;
	return (uint32_t)number;
}
