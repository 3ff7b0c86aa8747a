/* SPDX-License-Identifier: MIT */
/* The tree of key sequences, and the hash table that leads from a shape and a key to its child. */
#include "decode/plain/plain_shape.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

static const struct pool_limit key_limit = { UINT32_MAX, "keys" };
static const struct pool_limit shape_limit = { SHAPES_MAX, "key sequences" };

/* The slot that a child will take: the first free one on its way. */
static uint32_t *free_slot(const struct shape_set *set, uint32_t parent, uint32_t key)
{
	size_t mask = set->slot_count - 1;
	size_t at = tsi_word_hash(set->seed, (uint64_t)parent << 32 | key) & mask;

	while (set->slots[at])
		at = (at + 1) & mask;
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
	for (uint32_t i = 1; i < set->count; i++) {
		const struct plain_shape *shape = &set->shapes[i];
		*free_slot(set, shape->parent, tsi_shape_keys(set, i)[shape->count - 1]) = i;
	}
	return true;
}

/*
 * Room for a shape's keys. Where the parent's are the last in their chunk the new key goes
 * behind them; else all are copied, and 64 of them are less than any dict that has them.
 */
static bool place_keys(struct shape_set *set, const struct plain_shape *parent, size_t *keys,
		       struct tscope_error *err)
{
	size_t behind = (size_t)parent->keys + parent->count;

	*keys = parent->keys;
	if (behind == set->keys.count && behind % POOL_CHUNK_WORDS != 0)
		return tsi_word_pool_take(&set->keys, 1, &key_limit, &behind, err);
	if (!tsi_word_pool_take(&set->keys, parent->count + 1, &key_limit, keys, err))
		return false;
	memcpy(tsi_word_pool_at(&set->keys, *keys), tsi_word_pool_at(&set->keys, parent->keys),
	       parent->count * sizeof(uint32_t));
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

uint32_t tsi_shape_add_child(struct shape_set *set, uint32_t shape, uint32_t key,
			     struct tscope_error *err)
{
	size_t keys;

	if (set->count == shape_limit.count) {
		tsi_pool_fail(&shape_limit, err);
		return SHAPE_NONE;
	}
	if (!make_room(set, err) ||
	    tsi_array_reserve(&set->shapes, &set->capacity, set->count + 1, sizeof(*set->shapes),
			      err) != TSCOPE_OK ||
	    !place_keys(set, &set->shapes[shape], &keys, err))
		return SHAPE_NONE;

	uint32_t count = set->shapes[shape].count + 1, child = (uint32_t)set->count++;
	tsi_word_pool_at(&set->keys, keys)[count - 1] = key;
	set->shapes[child] = (struct plain_shape){ shape, (uint32_t)keys, count };
	*free_slot(set, shape, key) = child;
	return child;
}
