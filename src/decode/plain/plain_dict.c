/* SPDX-License-Identifier: MIT */
/*
 * Dicts of plain data. The usual one is written at once with keys that others had before it: it
 * stores its shape and its values. Others, whose keys are many, come twice or come later, have
 * pairs in memory of their own, and a hash table once these are many.
 */
#include "decode/plain/plain_graph.h"

#include <stdlib.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

/* ---- large numbers as keys ------------------------------------------------------------- */

static bool is_stored_number(uint32_t word)
{
	enum word_tag tag = tsi_word_tag(word);
	return tag == WORD_INT64 || tag == WORD_UINT64 || tag == WORD_REAL;
}

/* Equal keys must be the same word, as equal texts are: the first of equal numbers. */
static uint32_t unify_key(struct plain *plain, uint32_t key)
{
	if (tsi_likely(!is_stored_number(key)))
		return key;
	struct key_map *firsts = &plain->key_numbers[tsi_word_tag(key) - WORD_INT64];
	/* With the seed nobody can choose numbers that collide. */
	uint64_t bits = tsi_graph_number(plain, key) ^ plain->hash_seed;
	uint32_t first = tsi_key_map_find(firsts, bits);

	if (first != UINT32_MAX)
		return first;
	return tsi_key_map_put(firsts, bits, key, plain->err) == TSCOPE_OK ? key : 0;
}

/* ---- dicts with memory of their own ---------------------------------------------------- */

enum { SEARCHED_PAIRS = 16 }; /* more are found by slots */

/* False without memory. */
static bool make_slots(const struct plain *plain, struct plain_heap *heap)
{
	if (heap->count <= (size_t)2 * SEARCHED_PAIRS || heap->count < heap->slot_count)
		return true; /* words: half of the slots are taken */
	size_t slot_count = heap->slot_count ? 2 * heap->slot_count : FIRST_SLOTS;
	uint32_t *slots;
	if (tsi_array_new(&slots, slot_count, sizeof(*slots), plain->err) != TSCOPE_OK)
		return false;
	free(heap->slots);
	heap->slots = slots;
	heap->slot_count = slot_count;
	for (size_t i = 0; i < heap->count / 2; i++)
		*tsi_graph_heap_slot(plain, heap, heap->words[2 * i]) = (uint32_t)i + 1;
	return true;
}

static void set_in_heap(struct plain *plain, struct plain_heap *heap, const uint32_t pair[2])
{
	uint32_t key = unify_key(plain, pair[0]);
	size_t at = tsi_graph_heap_find(plain, heap, key);

	if (at != SIZE_MAX)
		heap->words[2 * at + 1] = pair[1];
	else if (make_slots(plain, heap) &&
		 tsi_graph_heap_add(plain, heap, (const uint32_t[2]){ key, pair[1] }, 2) &&
		 heap->slots)
		*tsi_graph_heap_slot(plain, heap, key) = (uint32_t)(heap->count / 2);
}

/* Moves what a dict holds to memory of its own; content 0 is none. */
static void move_to_heap(struct plain *plain, uint32_t *content, size_t pair_count)
{
	const uint32_t *words = *content ? tsi_graph_words(plain, *content) : NULL;
	uint32_t shape = words ? words[0] : SHAPE_NONE;
	const uint32_t *keys = tsi_shape_keys(&plain->shapes, shape);
	size_t count = plain->shapes.shapes[shape].count;

	*content = tsi_graph_new_heap(plain, 2 * (count + pair_count));
	for (size_t i = 0; i < count && plain->err->status == TSCOPE_OK; i++)
		set_in_heap(plain, tsi_graph_heap(plain, *content),
			    (const uint32_t[2]){ keys[i], words[1 + i] });
}

/* ---- dicts with a shape ------------------------------------------------------------------ */

static bool has_keys(const struct plain *plain, uint32_t shape, const uint32_t *pairs)
{
	const uint32_t *keys = tsi_shape_keys(&plain->shapes, shape);
	size_t count = plain->shapes.shapes[shape].count, i = 0;

	while (i < count && keys[i] == pairs[2 * i])
		i++;
	return i == count;
}

/* The shape of all the keys, most likely that of the dict before which had as many; or none. */
static uint32_t find_shape(struct plain *plain, const uint32_t *pairs, size_t pair_count)
{
	uint32_t keys[SHAPE_KEYS_MAX];

	if (pair_count == 0 || pair_count > SHAPE_KEYS_MAX)
		return SHAPE_NONE;
	uint32_t *latest = &plain->latest_shapes[pair_count];
	if (*latest != SHAPE_NONE && has_keys(plain, *latest, pairs))
		return *latest;
	for (size_t i = 0; i < pair_count; i++)
		keys[i] = unify_key(plain, pairs[2 * i]);
	uint32_t shape = tsi_shape_of_keys(&plain->shapes, keys, pair_count, plain->err);
	if (shape != SHAPE_NONE)
		*latest = shape;
	return shape;
}

/* An empty dict gets all that it will have, most likely. */
static void fill(struct plain *plain, uint32_t *content, uint32_t shape, const uint32_t *pairs,
		 size_t pair_count)
{
	size_t at;

	if (!tsi_graph_take(plain, 1 + pair_count, &at))
		return;
	uint32_t *words = tsi_graph_words(plain, (uint32_t)at);
	words[0] = shape;
	for (size_t i = 0; i < pair_count; i++)
		words[1 + i] = pairs[2 * i + 1];
	*content = (uint32_t)at;
}

void tsi_graph_set(struct plain *plain, uint32_t dict, const uint32_t *pairs, size_t pair_count)
{
	if (pair_count == 0 || tsi_unlikely(plain->err->status != TSCOPE_OK))
		return;
	uint32_t *content = tsi_graph_content(plain, dict);
	uint32_t shape = *content == 0 ? find_shape(plain, pairs, pair_count) : SHAPE_NONE;
	if (shape != SHAPE_NONE) {
		fill(plain, content, shape, pairs, pair_count);
		return;
	}
	if (!(*content & CONTENT_IN_HEAP))
		move_to_heap(plain, content, pair_count);
	for (size_t i = 0; i < pair_count && plain->err->status == TSCOPE_OK; i++)
		set_in_heap(plain, tsi_graph_heap(plain, *content), &pairs[2 * i]);
}
