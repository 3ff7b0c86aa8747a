/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_KEY_MAP_H
#define TSCOPE_BASE_KEY_MAP_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A map from a 64-bit key (an id, two ids side by side) to an index below
 * UINT32_MAX. A zeroed struct is an empty map; keys are never taken out.
 */
struct key_map {
	struct key_map_slot *slots; /* open addressing */
	size_t count, slot_count;   /* a power of two, or 0 */
};

void tsi_key_map_deinit(struct key_map *map);

/* The value of a key, or UINT32_MAX. */
uint32_t tsi_key_map_find(const struct key_map *map, uint64_t key);

/* Sets the value of a key, new or not. */
TSI_MUST_CHECK
enum tscope_status tsi_key_map_put(struct key_map *map, uint64_t key, uint32_t value,
				   struct tscope_error *err);

/* Two ids as one key. */
static inline uint64_t tsi_key_of_pair(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

#endif
