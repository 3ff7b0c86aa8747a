/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_GRAPH_H
#define TSCOPE_DECODE_PLAIN_PLAIN_GRAPH_H

#include "base/intern.h"
#include "base/key_map.h"
#include "decode/plain/plain.h"
#include "decode/plain/plain_shape.h"
#include "decode/plain/plain_word.h"

#include <string.h>

/*
 * Storage of plain data, for its readers, which add to it, and for plain.c, which shows it.
 *
 * A list, tuple or dict is a number; its word in `objects` says where its content is: 0: it is
 * empty; with CONTENT_IN_HEAP: a row of `heaps`; else an index into `contents`:
 *
 *	list, tuple	header, then the items packed into as few bytes each as the largest needs
 *	dict		shape (its keys), then the values
 *
 * So the frames of a stack, dicts with numbers below 65536, take two bytes each.
 * Content that is added to moves to a heap. So what is packed never changes, and several lists may
 * hold the same.
 */
#define CONTENT_IN_HEAP (UINT32_C(1) << 31)

/* In front of packed items: count, width - 1, and the tag, left out of them if all have it. */
enum {
	LIST_COUNT_BITS = 24,
	LIST_TAG_SHIFT = LIST_COUNT_BITS,
	LIST_WIDTH_SHIFT = LIST_TAG_SHIFT + WORD_TAG_BITS,
};

/* Content of more words than this lies in memory of its own. */
enum { CONTENT_WORDS_MAX = POOL_CHUNK_WORDS / 4 };

/* Items; or keys and values by turns, found by the slots where there are any. */
struct plain_heap {
	uint32_t *words;
	size_t count, capacity; /* words */
	uint32_t *slots;        /* open addressing; index of a pair + 1, 0 is free */
	size_t slot_count;      /* a power of two, or 0 */
};

struct plain {
	struct intern texts;
	struct word_pool objects, contents;
	struct word_pool numbers; /* two words each, low half first */
	struct shape_set shapes;
	uint32_t latest_shapes[SHAPE_KEYS_MAX + 1]; /* by number of keys: of the dict before */
	struct plain_heap *heaps;
	size_t heap_count, heap_capacity;
	size_t heap_words; /* of all of them */
	/* Words of large numbers that are keys, by tag: the first of equal ones stands for all. */
	struct key_map key_numbers[WORD_REAL - WORD_INT64 + 1];
	uint64_t hash_seed;
	struct pool_limit object_limit, number_limit, text_limit, content_limit;
	struct tscope_error *err; /* while it is made: its first failure */

	uint32_t root;
	unsigned protocol;
	uint64_t trailing_bytes;
	uint64_t further_count;
};

/* ---- reading -------------------------------------------------------------------------- */

static inline uint64_t tsi_graph_number(const struct plain *plain, uint32_t word)
{
	const uint32_t *half =
		tsi_word_pool_at(&plain->numbers, (size_t)tsi_word_payload(word) * 2);
	return (uint64_t)half[1] << 32 | half[0];
}

static inline uint32_t *tsi_graph_content(const struct plain *plain, uint32_t object)
{
	return tsi_word_pool_at(&plain->objects, tsi_word_payload(object));
}

static inline struct plain_heap *tsi_graph_heap(const struct plain *plain, uint32_t content)
{
	return &plain->heaps[content & ~CONTENT_IN_HEAP];
}

/* The words of content that is neither empty nor in a heap. */
static inline uint32_t *tsi_graph_words(const struct plain *plain, uint32_t content)
{
	return tsi_word_pool_at(&plain->contents, content);
}

/* How packed items are read: all of them alike. */
struct packed {
	const unsigned char *bytes;
	size_t count;
	unsigned width;
	uint32_t mask;
	unsigned shift; /* to make room for the tag, or 0 */
	uint32_t tag;
};

static inline struct packed tsi_graph_packed(const uint32_t *words)
{
	uint32_t header = words[0];
	uint32_t tag = header >> LIST_TAG_SHIFT & ((1 << WORD_TAG_BITS) - 1);
	unsigned width = (header >> LIST_WIDTH_SHIFT & 3) + 1;
	return (struct packed){
		.bytes = (const unsigned char *)(words + 1),
		.count = header & ((UINT32_C(1) << LIST_COUNT_BITS) - 1),
		.width = width,
		.mask = UINT32_MAX >> (32 - 8 * width),
		.shift = tag ? WORD_TAG_BITS : 0,
		.tag = tag,
	};
}

/* Four bytes are read; those behind the last item are there, see pack() in plain_list.c. */
static inline uint32_t tsi_graph_unpack(const struct packed *items, size_t i)
{
	const unsigned char *at = items->bytes + i * items->width;
	uint32_t word =
		(uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[1] << 8 | at[0];
	return (word & items->mask) << items->shift | items->tag;
}

/* The slot of a dict in the heap that holds a key, or the free one that it would get. */
static inline uint32_t *tsi_graph_heap_slot(const struct plain *plain,
					    const struct plain_heap *heap, uint32_t key)
{
	size_t mask = heap->slot_count - 1;
	size_t at = tsi_word_hash(plain->hash_seed, key) & mask;

	while (heap->slots[at] && heap->words[2 * (size_t)(heap->slots[at] - 1)] != key)
		at = (at + 1) & mask;
	return &heap->slots[at];
}

/* The pair of a dict in the heap with this key, or SIZE_MAX. */
static inline size_t tsi_graph_heap_find(const struct plain *plain, const struct plain_heap *heap,
					 uint32_t key)
{
	if (heap->slots)
		return (size_t)*tsi_graph_heap_slot(plain, heap, key) - 1;
	for (size_t i = 0; i < heap->count / 2; i++)
		if (heap->words[2 * i] == key)
			return i;
	return SIZE_MAX;
}

/* ---- adding --------------------------------------------------------------------------- */

/*
 * The first failure, TSCOPE_E_LIMIT or TSCOPE_E_NOMEM, sticks to *err, which is the graph's until
 * it is complete: err->status says whether there was one. Words of what failed are 0, and may be
 * passed on.
 */
void tsi_graph_init(struct plain *plain, const struct plain_limits *limits,
		    struct tscope_error *err);

/* Fine on a zeroed struct. */
void tsi_graph_deinit(struct plain *plain);

/* WORD_TEXT or WORD_BYTES, copied; equal ones have the same word. */
uint32_t tsi_graph_add_text(struct plain *plain, enum word_tag tag, struct str text);

uint32_t tsi_graph_add_int64(struct plain *plain, int64_t number);
uint32_t tsi_graph_add_uint64(struct plain *plain, uint64_t number);
uint32_t tsi_graph_add_real(struct plain *plain, double number);

/* An empty WORD_LIST, WORD_TUPLE or WORD_DICT. */
uint32_t tsi_graph_add_object(struct plain *plain, enum word_tag tag);

/* Adds items at the end of a list, or fills a tuple. They are not in the graph's own memory. */
void tsi_graph_append(struct plain *plain, uint32_t list, const uint32_t *items, size_t count);

/*
 * Gives an empty list what another one holds, in the same memory: that must have got all of it at
 * once, and so not be long. Else false. Either moves away when it is added to.
 */
bool tsi_graph_share_items(struct plain *plain, uint32_t list, uint32_t other);

/* Sets pairs of a dict: key, value, key, value … The last value of a key holds. */
void tsi_graph_set(struct plain *plain, uint32_t dict, const uint32_t *pairs, size_t pair_count);

/* tsi_graph_append() or, of a WORD_DICT, tsi_graph_set(). */
static inline void tsi_graph_fill(struct plain *plain, uint32_t object, const uint32_t *words,
				  size_t count)
{
	if (tsi_word_tag(object) == WORD_DICT)
		tsi_graph_set(plain, object, words, count / 2);
	else
		tsi_graph_append(plain, object, words, count);
}

/*
 * Ends the making of data from malloc(): *ret is it, or it is freed and *err says why, which may
 * be NULL.
 */
TSI_MUST_CHECK
enum tscope_status tsi_graph_end(struct plain *plain, const struct tscope_error *failure,
				 struct plain **ret, struct tscope_error *err);

/* ---- what lists and dicts share -------------------------------------------------------- */

/* New content of so many words; *index is where. False: failed. */
static inline bool tsi_graph_take(struct plain *plain, size_t count, size_t *index)
{
	return tsi_word_pool_take(&plain->contents, count, &plain->content_limit, index,
				  plain->err);
}

/* Another row of heaps, with room for some words, for the content of an object. 0: failed. */
TSI_MUST_CHECK
uint32_t tsi_graph_new_heap(struct plain *plain, size_t room);

/* Adds words at its end. False: failed. */
bool tsi_graph_heap_add(struct plain *plain, struct plain_heap *heap, const uint32_t *words,
			size_t count);

#endif
