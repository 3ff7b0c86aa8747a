/* SPDX-License-Identifier: MIT */
/* A hash table of lists and dicts by what they hold, which the graph itself keeps. */
#include "decode/plain/plain_share.h"

#include <stdlib.h>

#include "base/array.h"

enum { FIRST_SLOTS = 64 };

struct share_slot {
	uint32_t object; /* 0: free */
	uint32_t hash;   /* most slots that differ are seen to without a look at the object */
};

void tsi_share_deinit(struct plain_share *share)
{
	free(share->slots);
	*share = (struct plain_share){ 0 };
}

static uint32_t hash_of(const struct plain *plain, enum word_tag tag, const uint32_t *words,
			size_t count)
{
	uint64_t hash = tag;

	for (size_t i = 0; i < count; i++)
		hash = tsi_word_hash(plain->hash_seed, hash ^ words[i]);
	return (uint32_t)hash;
}

static bool holds_items(const struct plain *plain, uint32_t content, const uint32_t *items,
			size_t count)
{
	if (content & CONTENT_IN_HEAP) {
		const struct plain_heap *heap = tsi_graph_heap(plain, content);
		return heap->count == count &&
		       memcmp(heap->words, items, count * sizeof(*items)) == 0;
	}
	struct packed packed = tsi_graph_packed(tsi_graph_words(plain, content));
	if (packed.count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (tsi_graph_unpack(&packed, i) != items[i])
			return false;
	return true;
}

/* In the same order; those of many keys, or with a key twice, are never found to be equal. */
static bool holds_pairs(const struct plain *plain, uint32_t content, const uint32_t *pairs,
			size_t count)
{
	if (content & CONTENT_IN_HEAP)
		return false;
	const uint32_t *values = tsi_graph_words(plain, content) + 1;
	uint32_t shape = values[-1];
	const uint32_t *keys = tsi_shape_keys(&plain->shapes, shape);
	if (2 * (size_t)plain->shapes.shapes[shape].count != count)
		return false;
	for (size_t i = 0; i < count / 2; i++)
		if (keys[i] != pairs[2 * i] || values[i] != pairs[2 * i + 1])
			return false;
	return true;
}

static bool holds(const struct plain *plain, uint32_t object, const uint32_t *words, size_t count)
{
	uint32_t content = *tsi_graph_content(plain, object);

	if (content == 0 || count == 0)
		return content == 0 && count == 0;
	if (tsi_word_tag(object) == WORD_DICT)
		return holds_pairs(plain, content, words, count);
	return holds_items(plain, content, words, count);
}

/* False without memory. */
static bool make_room(struct plain_share *share, struct tscope_error *err)
{
	struct share_slot *old = share->slots;
	size_t old_count = share->slot_count;

	if (2 * share->count < old_count)
		return true;
	size_t mask = (old_count ? 2 * old_count : FIRST_SLOTS) - 1;
	if (tsi_array_new(&share->slots, mask + 1, sizeof(*share->slots), err) != TSCOPE_OK) {
		share->slots = old;
		return false;
	}
	share->slot_count = mask + 1;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].object == 0)
			continue;
		size_t at = old[i].hash & mask;
		while (share->slots[at].object)
			at = (at + 1) & mask;
		share->slots[at] = old[i];
	}
	free(old);
	return true;
}

uint32_t tsi_share_object(struct plain_share *share, struct plain *plain, enum word_tag tag,
			  const uint32_t *words, size_t count)
{
	uint32_t hash = hash_of(plain, tag, words, count);

	if (!make_room(share, plain->err))
		return 0;
	size_t mask = share->slot_count - 1, at = hash & mask;
	for (; share->slots[at].object; at = (at + 1) & mask) {
		const struct share_slot *slot = &share->slots[at];
		if (slot->hash == hash && tsi_word_tag(slot->object) == tag &&
		    holds(plain, slot->object, words, count))
			return slot->object;
	}
	uint32_t made = tsi_graph_add_object(plain, tag);
	tsi_graph_fill(plain, made, words, count);
	/*
	 * Drops an entry that would never be found, so that it does not shadow others with its
	 * hash.
	 */
	if (plain->err->status == TSCOPE_OK && holds(plain, made, words, count)) {
		share->slots[at] = (struct share_slot){ made, hash };
		share->count++;
	}
	return made;
}
