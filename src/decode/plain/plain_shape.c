/* SPDX-License-Identifier: MIT */
/* The key sequences of dicts, and the hash table that finds them. */
#include "decode/plain/plain_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

static const struct pool_limit key_limit = { UINT32_MAX, "keys" };
static const struct pool_limit shape_limit = { SHAPES_MAX, "key sequences" };

/* The slot of these keys, or the free one that they would get. */
static uint32_t *find_slot(const struct shape_set *set, const uint32_t *keys, size_t count)
{
	size_t mask = set->slot_count - 1, at;
	uint64_t hash = count;

	for (size_t i = 0; i < count; i++)
		hash = tsi_word_hash(set->seed, hash ^ keys[i]);
	for (at = hash & mask; set->slots[at]; at = (at + 1) & mask)
		if (set->shapes[set->slots[at]].count == count &&
		    memcmp(tsi_shape_keys(set, set->slots[at]), keys, count * sizeof(*keys)) == 0)
			break;
	return &set->slots[at];
}

/* Doubles the slots when half of them are taken; false without memory. */
static bool make_room(struct shape_set *set, struct tscope_error *err)
{
	if (2 * set->count < set->slot_count)
		return true;

	size_t slot_count = set->slot_count ? 2 * set->slot_count : FIRST_SLOTS;
	uint32_t *slots;
	if (tsi_array_new(&slots, slot_count, sizeof(*slots), err) != TSCOPE_OK)
		return false;
	free(set->slots);
	set->slots = slots;
	set->slot_count = slot_count;
	for (uint32_t i = 1; i < set->count; i++)
		*find_slot(set, tsi_shape_keys(set, i), set->shapes[i].count) = i;
	return true;
}

bool tsi_shape_set_init(struct shape_set *set, uint64_t seed, struct tscope_error *err)
{
	size_t start;

	*set = (struct shape_set){ .seed = seed };
	if (!make_room(set, err) || tsi_array_reserve(&set->shapes, &set->capacity, 1,
						      sizeof(*set->shapes), err) != TSCOPE_OK)
		return false;
	set->shapes[set->count++] = (struct plain_shape){ 0 };
	return tsi_word_pool_take(&set->keys, 1, &key_limit, &start, err);
}

void tsi_shape_set_deinit(struct shape_set *set)
{
	free(set->shapes);
	free(set->slots);
	tsi_word_pool_deinit(&set->keys);
	*set = (struct shape_set){ 0 };
}

static bool has_key_twice(const uint32_t *keys, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (keys[k] == keys[i])
				return true;
	return false;
}

uint32_t tsi_shape_of_keys(struct shape_set *set, const uint32_t *keys, size_t count,
			   struct tscope_error *err)
{
	size_t start;

	if (!make_room(set, err))
		return SHAPE_NONE;
	uint32_t *slot = find_slot(set, keys, count);
	if (*slot != SHAPE_NONE || has_key_twice(keys, count))
		return *slot;
	if (set->count == shape_limit.count) {
		tsi_pool_fail(&shape_limit, err);
		return SHAPE_NONE;
	}
	if (tsi_array_reserve(&set->shapes, &set->capacity, set->count + 1, sizeof(*set->shapes),
			      err) != TSCOPE_OK ||
	    !tsi_word_pool_take(&set->keys, count, &key_limit, &start, err))
		return SHAPE_NONE;
	memcpy(tsi_word_pool_at(&set->keys, start), keys, count * sizeof(*keys));
	set->shapes[set->count] = (struct plain_shape){ (uint32_t)start, (uint32_t)count };
	return *slot = (uint32_t)set->count++;
}
