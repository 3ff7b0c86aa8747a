/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_SHAPE_H
#define TSCOPE_DECODE_PLAIN_PLAIN_SHAPE_H

#include "decode/plain/plain_word.h"

/*
 * The keys of dicts, in order. A snapshot holds millions of dicts with a few different sequences
 * of keys, so each sequence is stored once, and a dict holds its number and the values.
 */
enum {
	SHAPE_KEYS_MAX = 64,  /* dicts of more keys have a table each */
	SHAPES_MAX = 1 << 24, /* a limit of hostile files */
	SHAPE_NONE = 0,       /* shape 0 has no keys */
};

struct plain_shape {
	uint32_t keys; /* index of the first key in the set's pool */
	uint32_t count;
};

/* A zeroed set is not ready: call init. */
struct shape_set {
	struct plain_shape *shapes;
	size_t count, capacity;
	struct word_pool keys;
	uint32_t *slots;   /* open addressing; number of a shape, 0 is free */
	size_t slot_count; /* a power of two */
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

/*
 * Finds or adds the shape of 1 to SHAPE_KEYS_MAX keys. SHAPE_NONE: a key stands there twice, or
 * *err is TSCOPE_E_LIMIT or TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
uint32_t tsi_shape_of_keys(struct shape_set *set, const uint32_t *keys, size_t count,
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
