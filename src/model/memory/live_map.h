/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_LIVE_MAP_H
#define TSCOPE_MODEL_MEMORY_LIVE_MAP_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory that was allocated and not yet freed, with who it is of. */
struct live_block {
	uint64_t address, size;
	uint32_t node, thread; /* node < UINT32_MAX */
};

/*
 * The blocks that are live, by address: 24 bytes for each, and room. A zeroed struct is an
 * empty map.
 */
struct live_map {
	struct live_block *slots; /* open addressing */
	size_t count, slot_count; /* a power of two, or 0 */
};

void tsi_live_map_deinit(struct live_map *map);

/* Adds a block at an address that has none. False without memory. */
TSI_MUST_CHECK
bool tsi_live_map_add(struct live_map *map, const struct live_block *block);

/* Takes the block at an address out; false: there is none. */
bool tsi_live_map_take(struct live_map *map, uint64_t address, struct live_block *block);

#endif
