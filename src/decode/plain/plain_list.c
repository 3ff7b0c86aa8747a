/* SPDX-License-Identifier: MIT */
/*
 * Lists and tuples of plain data. Nearly all of a snapshot are lists of frames, written at once
 * and never touched again: they are packed. A list that is long, or is added to later, has whole
 * words in memory of its own.
 */
#include "decode/plain/plain_graph.h"

/* How to pack items: what all of them have in common. */
struct packing {
	uint32_t tag; /* 0: not all the same */
	unsigned width;
};

static struct packing choose_packing(const uint32_t *items, size_t count)
{
	uint32_t first = items[0], all = 0, differing = 0;

	for (size_t i = 0; i < count; i++) {
		all |= items[i];
		differing |= items[i] ^ first;
	}
	struct packing packing = { .tag = tsi_word_tag(differing) ? 0 : tsi_word_tag(first) };
	if (packing.tag)
		all >>= WORD_TAG_BITS;
	packing.width = all >> 24 ? 4 : all >> 16 ? 3 : all >> 8 ? 2 : 1;
	return packing;
}

/* Each item is written as four bytes, of which the next one overwrites what is too much. */
static void pack(unsigned char *at, const uint32_t *items, size_t count, struct packing packing)
{
	unsigned shift = packing.tag ? WORD_TAG_BITS : 0;

	for (size_t i = 0; i < count; i++, at += packing.width) {
		uint32_t word = items[i] >> shift;
		at[0] = (unsigned char)word;
		at[1] = (unsigned char)(word >> 8);
		at[2] = (unsigned char)(word >> 16);
		at[3] = (unsigned char)(word >> 24);
	}
}

static size_t packed_words(size_t count, unsigned width)
{
	size_t bytes = (count - 1) * width + 4;
	return (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
}

/* Content that holds the items packed; 0: failed. */
static uint32_t add_packed(struct plain *plain, const uint32_t *items, size_t count)
{
	struct packing packing = choose_packing(items, count);
	size_t at;

	if (!tsi_graph_take(plain, 1 + packed_words(count, packing.width), &at))
		return 0;
	uint32_t *words = tsi_word_pool_at(&plain->contents, at);
	words[0] = (uint32_t)count | packing.tag << LIST_TAG_SHIFT |
		   (packing.width - 1) << LIST_WIDTH_SHIFT;
	pack((unsigned char *)(words + 1), items, count, packing);
	return (uint32_t)at;
}

/* Moves what a list holds to where it has room for more; content 0 has none yet. */
static void move_to_heap(struct plain *plain, uint32_t *content, size_t room)
{
	struct packed items = { 0 };

	if (*content)
		items = tsi_graph_packed(tsi_graph_words(plain, *content));
	*content = tsi_graph_new_heap(plain, items.count + room);
	for (size_t i = 0; *content && i < items.count; i++) {
		uint32_t word = tsi_graph_unpack(&items, i);
		if (!tsi_graph_heap_add(plain, tsi_graph_heap(plain, *content), &word, 1))
			return;
	}
}

void tsi_graph_append(struct plain *plain, uint32_t list, const uint32_t *items, size_t count)
{
	if (count == 0 || tsi_unlikely(plain->err->status != TSCOPE_OK))
		return;
	uint32_t *content = tsi_graph_content(plain, list);
	if (*content == 0 && count < CONTENT_WORDS_MAX) {
		*content = add_packed(plain, items, count);
		return;
	}
	if (!(*content & CONTENT_IN_HEAP))
		move_to_heap(plain, content, count);
	if (plain->err->status == TSCOPE_OK)
		tsi_graph_heap_add(plain, tsi_graph_heap(plain, *content), items, count);
}

bool tsi_graph_share_items(struct plain *plain, uint32_t list, uint32_t other)
{
	uint32_t content = *tsi_graph_content(plain, other);

	if (content == 0 || content & CONTENT_IN_HEAP)
		return false;
	*tsi_graph_content(plain, list) = content;
	return true;
}
