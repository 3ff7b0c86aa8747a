/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_SHAPE_H
#define TSCOPE_DECODE_PLAIN_PLAIN_SHAPE_H

#include "decode/plain/plain_word.h"

/*
 * The keys of dicts, in order. A snapshot holds millions of dicts with a few different
 * sequences of keys, so each sequence is stored once and dicts hold a number and values.
 *
 * Shapes form a tree: shape 0 has no keys, and each other one is its parent with one key more.
 * A dict goes down the tree as its keys come. A zeroed set is not ready: call init.
 */
enum {
	SHAPE_KEYS_MAX = 64,  /* dicts of more keys have a table each */
	SHAPES_MAX = 1 << 24, /* a limit of hostile files */
	SHAPE_NONE = 0,       /* shape 0 is nobody's child */
};

struct plain_shape {
	uint32_t parent;
	uint32_t keys; /* index of the first key in the set's pool */
	uint32_t count;
};

struct shape_set {
	struct plain_shape *shapes;
	size_t count, capacity;
	struct word_pool keys; /* of a shape side by side; its children share them where they can */
	uint32_t *slots;       /* open addressing; number of a shape, 0 is free */
	size_t slot_count;     /* a power of two */
	uint64_t seed;
};

/* seed: for the hash table; whoever wrote the file should not know it. False without memory. */
TSI_MUST_CHECK
bool tsi_shape_set_init(struct shape_set *set, uint64_t seed, struct tscope_error *err);

/* Fine on a zeroed struct. */
void tsi_shape_set_deinit(struct shape_set *set);

static inline const uint32_t *tsi_shape_keys(const struct shape_set *set, uint32_t shape)
{
	return tsi_word_pool_at(&set->keys, set->shapes[shape].keys);
}

/* The shape that has one key more, or SHAPE_NONE. */
static inline uint32_t tsi_shape_child(const struct shape_set *set, uint32_t shape, uint32_t key)
{
	size_t mask = set->slot_count - 1;
	size_t at = tsi_word_hash(set->seed, (uint64_t)shape << 32 | key) & mask;

	for (; set->slots[at]; at = (at + 1) & mask) {
		const struct plain_shape *child = &set->shapes[set->slots[at]];
		if (child->parent == shape &&
		    tsi_shape_keys(set, set->slots[at])[child->count - 1] == key)
			break;
	}
	return set->slots[at];
}

/*
 * Adds a child that is not there, by a key that the shape does not have. SHAPE_NONE:
 * TSCOPE_E_LIMIT or TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
uint32_t tsi_shape_add_child(struct shape_set *set, uint32_t shape, uint32_t key,
			     struct tscope_error *err);

/* Where a key stands in a shape, or SIZE_MAX. */
static inline size_t tsi_shape_find(const struct shape_set *set, uint32_t shape, uint32_t key)
{
	const uint32_t *keys = tsi_shape_keys(set, shape);

	for (size_t i = 0; i < set->shapes[shape].count; i++)
		if (keys[i] == key)
			return i;
	return SIZE_MAX;
}

#endif
