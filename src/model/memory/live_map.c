/* SPDX-License-Identifier: MIT */
/*
 * A hash map made for one thing: 10^8 allocations that come and go while some 10^6 are live.
 * Linear probing; who is taken out leaves no mark behind, those after it move up, so that the
 * table does not fill with what is gone. In the table nodes are stored plus 1: 0 is a free slot.
 */
#include "model/memory/live_map.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

/* Addresses are multiples of 16: the product brings what differs to the upper half. */
static size_t home_of(const struct live_map *map, uint64_t address)
{
	uint64_t product = (address ^ (address >> 32)) * 0x9e3779b97f4a7c15u;

	return (size_t)(product >> 32 ^ product) & (map->slot_count - 1);
}

/* The slot of the address, or the free one where it would be. */
static size_t slot_of(const struct live_map *map, uint64_t address)
{
	size_t at = home_of(map, address);

	while (map->slots[at].node && map->slots[at].address != address)
		at = (at + 1) & (map->slot_count - 1);
	return at;
}

static bool grow(struct live_map *map)
{
	struct live_map larger = { .slot_count =
					   map->slot_count ? map->slot_count * 2 : FIRST_SLOTS };

	larger.slots = calloc(larger.slot_count, sizeof(*larger.slots));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < map->slot_count; i++)
		if (map->slots[i].node)
			larger.slots[slot_of(&larger, map->slots[i].address)] = map->slots[i];
	larger.count = map->count;
	free(map->slots);
	*map = larger;
	return true;
}

void tsi_live_map_deinit(struct live_map *map)
{
	free(map->slots);
	*map = (struct live_map){ 0 };
}

bool tsi_live_map_add(struct live_map *map, const struct live_block *block)
{
	struct live_block *slot;

	/* Three quarters full at most. */
	if (map->count >= map->slot_count / 4 * 3 && !grow(map))
		return false;
	slot = &map->slots[slot_of(map, block->address)];
	*slot = *block;
	slot->node++;
	map->count++;
	return true;
}

/* Moves those up that would no longer be found behind a free slot. */
static void close_gap(struct live_map *map, size_t gap)
{
	size_t mask = map->slot_count - 1;

	for (size_t at = (gap + 1) & mask; map->slots[at].node; at = (at + 1) & mask) {
		size_t home = home_of(map, map->slots[at].address);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue; /* its home is behind the gap */
		map->slots[gap] = map->slots[at];
		gap = at;
	}
	map->slots[gap].node = 0;
}

bool tsi_live_map_take(struct live_map *map, uint64_t address, struct live_block *block)
{
	size_t at;

	if (map->count == 0)
		return false;
	at = slot_of(map, address);
	if (!map->slots[at].node)
		return false;
	*block = map->slots[at];
	block->node--;
	close_gap(map, at);
	map->count--;
	return true;
}
