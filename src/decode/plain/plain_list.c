/* SPDX-License-Identifier: MIT */
/*
 * Lists and tuples of plain data. Nearly all of a snapshot are lists of frames, written at once
 * and never touched again: they are packed. A list that is added to later is stored as whole
 * words with room for as many again, and a long one in memory of its own.
 */
#include "decode/plain/plain_graph.h"

/* How to pack items: what all of them have in common. */
struct packing {
	uint32_t tag; /* 0: not all the same */
	unsigned width;
};

static const struct packing whole_words = { .width = sizeof(uint32_t) };

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
	*content = tsi_graph_new_heap(plain, room);
	for (size_t i = 0; *content && i < items.count; i++) {
		uint32_t word = tsi_graph_unpack(&items, i);
		if (!tsi_graph_heap_add(plain, tsi_graph_heap(plain, *content), &word, 1))
			return;
	}
}

static void move_to_room(struct plain *plain, uint32_t *content, size_t room)
{
	struct packed items = tsi_graph_packed(tsi_graph_words(plain, *content));
	size_t at;

	if (!tsi_graph_take(plain, 1 + room, &at))
		return;
	uint32_t *words = tsi_word_pool_at(&plain->contents, at);
	words[0] = (uint32_t)items.count | CONTENT_HAS_ROOM |
		   (whole_words.width - 1) << LIST_WIDTH_SHIFT;
	for (size_t i = 0; i < items.count; i++) {
		uint32_t word = tsi_graph_unpack(&items, i);
		pack((unsigned char *)(words + 1 + i), &word, 1, whole_words);
	}
	*content = (uint32_t)at;
}

/* Sees that a list that is not empty has room for `count` items more, as whole words. */
static void make_room(struct plain *plain, uint32_t *content, size_t count)
{
	const uint32_t *words = tsi_graph_words(plain, *content);
	size_t held = tsi_graph_packed(words).count;

	if ((words[0] & CONTENT_HAS_ROOM) && held + count <= tsi_graph_room(held))
		return;
	if (held + count >= CONTENT_WORDS_MAX)
		move_to_heap(plain, content, held + count);
	else
		move_to_room(plain, content, tsi_graph_room(held + count));
}

/* Adds items behind those that are there; make_room() has seen to it that they fit. */
static void add_in_place(uint32_t *words, const uint32_t *items, size_t count)
{
	size_t held = tsi_graph_packed(words).count;

	pack((unsigned char *)(words + 1 + held), items, count, whole_words);
	words[0] += (uint32_t)count;
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
	if (*content == 0)
		move_to_heap(plain, content, count);
	else if (!(*content & CONTENT_IN_HEAP))
		make_room(plain, content, count);
	if (plain->err->status != TSCOPE_OK)
		return;
	if (*content & CONTENT_IN_HEAP)
		tsi_graph_heap_add(plain, tsi_graph_heap(plain, *content), items, count);
	else
		add_in_place(tsi_graph_words(plain, *content), items, count);
}

bool tsi_graph_share_items(struct plain *plain, uint32_t list, uint32_t other)
{
	uint32_t content = *tsi_graph_content(plain, other);

	if (content == 0 || content & CONTENT_IN_HEAP ||
	    *tsi_graph_words(plain, content) & CONTENT_HAS_ROOM)
		return false;
	*tsi_graph_content(plain, list) = content;
	return true;
}
