/* SPDX-License-Identifier: MIT */
/*
 * A hash map for the few places where the model looks things up by number:
 * tracks by their ids, categories by name and phase. Linear probing over a
 * table at most half full; keys an input chose are mixed, so that they cannot
 * pile up by being multiples of something.
 */
#include "base/key_map.h"

#include "base/array.h"

#include <stdlib.h>

struct key_map_slot {
	uint64_t key;
	uint32_t value_plus_1; /* 0: free */
};

enum { FIRST_SLOTS = 16 };

/* Every bit of the key reaches every bit of the result. */
static uint64_t mix(uint64_t key)
{
	key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93u;
	key = (key ^ (key >> 32)) * 0xd6e8feb86659fd93u;
	return key ^ (key >> 32);
}

/*
 * Ids count up, and so do many keys: four that follow one another begin their search in one line of
 * the cache, or each would wait for memory where the table is larger than the caches. Were there
 * more to a group, those of two would too often stand in each other's way.
 */
static size_t slot_of(const struct key_map *map, uint64_t key)
{
	size_t at = (size_t)(mix(key / 4) * 4 + key % 4) & (map->slot_count - 1);
	while (map->slots[at].value_plus_1 && map->slots[at].key != key)
		at = (at + 1) & (map->slot_count - 1);
	return at;
}

static enum tscope_status grow(struct key_map *map, struct tscope_error *err)
{
	struct key_map larger = { .slot_count =
					  map->slot_count ? map->slot_count * 2 : FIRST_SLOTS };
	if (tsi_array_new(&larger.slots, larger.slot_count, sizeof(*larger.slots), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].value_plus_1)
			larger.slots[slot_of(&larger, map->slots[i].key)] = map->slots[i];
	larger.count = map->count;
	free(map->slots);
	*map = larger;
	return TSCOPE_OK;
}

void tsi_key_map_deinit(struct key_map *map)
{
	free(map->slots);
	*map = (struct key_map){ 0 };
}

uint32_t tsi_key_map_find(const struct key_map *map, uint64_t key)
{
	if (!map->slot_count)
		return UINT32_MAX;
	return map->slots[slot_of(map, key)].value_plus_1 - 1;
}

enum tscope_status tsi_key_map_put(struct key_map *map, uint64_t key, uint32_t value,
				   struct tscope_error *err)
{
	if ((map->count + 1) * 2 > map->slot_count && grow(map, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct key_map_slot *slot = &map->slots[slot_of(map, key)];
	map->count += slot->value_plus_1 == 0;
	*slot = (struct key_map_slot){ key, value + 1 };
	return TSCOPE_OK;
}
