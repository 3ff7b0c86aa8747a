/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_PLAIN_PLAIN_WORD_H
#define TSCOPE_DECODE_PLAIN_PLAIN_WORD_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A value of plain data in 32 bits: what it is in the lower four, the value or its number in
 * the others. Word 0 is no value.
 */
enum word_tag {
	WORD_ABSENT,
	WORD_NONE,
	WORD_BOOL,  /* payload 0 or 1 */
	WORD_SMALL, /* an integer of 28 bits, sign included, in the payload itself */
	WORD_INT64, /* payload: index into the numbers */
	WORD_UINT64,
	WORD_REAL,
	WORD_TEXT, /* payload: id of the interned text */
	WORD_BYTES,
	WORD_CLASS, /* payload: row of the table in pickle_class.c */
	WORD_LIST,  /* payload: index of the object */
	WORD_TUPLE,
	WORD_DICT,
};

enum {
	WORD_TAG_BITS = 4,
	WORD_PAYLOAD_MAX = (1 << 28) - 1,
	WORD_SMALL_MAX = (1 << 27) - 1,
};

static inline uint32_t tsi_word(enum word_tag tag, uint32_t payload)
{
	return payload << WORD_TAG_BITS | tag;
}

static inline enum word_tag tsi_word_tag(uint32_t word)
{
	return (enum word_tag)(word & ((1 << WORD_TAG_BITS) - 1));
}

static inline uint32_t tsi_word_payload(uint32_t word)
{
	return word >> WORD_TAG_BITS;
}

static inline bool tsi_word_fits_small(int64_t number)
{
	return number >= -WORD_SMALL_MAX - 1 && number <= WORD_SMALL_MAX;
}

static inline uint32_t tsi_word_of_small(int64_t number)
{
	return tsi_word(WORD_SMALL, (uint32_t)number);
}

/* The payload with its sign: bit 27 counts as -2^27. */
static inline int32_t tsi_word_to_small(uint32_t word)
{
	uint32_t sign = UINT32_C(1) << 27;
	return (int32_t)(tsi_word_payload(word) ^ sign) - (int32_t)sign;
}

/*
 * Where a word, or two side by side, begin in a hash table: both halves of a product, so that
 * every bit counts. Without the seed nobody can choose keys that collide.
 */
static inline size_t tsi_word_hash(uint64_t seed, uint64_t key)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)(key ^ UINT64_C(0x9e3779b97f4a7c15)) * (seed | 1);
	return (size_t)((uint64_t)product ^ (uint64_t)(product >> 64));
}

/*
 * Words by index, in chunks of equal size: growing moves nothing, so the peak of memory is
 * what is used. A zeroed struct is empty.
 */
enum { POOL_CHUNK_BITS = 14, POOL_CHUNK_WORDS = 1 << POOL_CHUNK_BITS };

struct word_pool {
	uint32_t **chunks;
	size_t chunk_count, chunk_capacity;
	size_t count;
};

/* Says what is too many and which limit that is: "more than 7 objects (limit: objects)". */
struct pool_limit {
	size_t count;
	const char *what;
};

void tsi_word_pool_deinit(struct word_pool *pool);

/* The words from index on, to the end of its chunk. */
static inline uint32_t *tsi_word_pool_at(const struct word_pool *pool, size_t index)
{
	return &pool->chunks[index >> POOL_CHUNK_BITS][index & (POOL_CHUNK_WORDS - 1)];
}

/*
 * Adds count words (at most POOL_CHUNK_WORDS) that lie in one chunk, all 0; *index is
 * where. False: TSCOPE_E_LIMIT or TSCOPE_E_NOMEM.
 */
TSI_MUST_CHECK
bool tsi_word_pool_take(struct word_pool *pool, size_t count, const struct pool_limit *limit,
			size_t *index, struct tscope_error *err);

/* Sets the word of any index; those before it need not be there. Costs a chunk at most. */
void tsi_word_pool_set(struct word_pool *pool, size_t index, uint32_t word,
		       struct tscope_error *err);

/* The word of an index, or NULL where there is no chunk yet. */
static inline uint32_t *tsi_word_pool_find(const struct word_pool *pool, size_t index)
{
	size_t chunk = index >> POOL_CHUNK_BITS;

	if (tsi_unlikely(chunk >= pool->chunk_count) || tsi_unlikely(!pool->chunks[chunk]))
		return NULL;
	return tsi_word_pool_at(pool, index);
}

/* The value that was set, or 0. */
static inline uint32_t tsi_word_pool_get(const struct word_pool *pool, size_t index)
{
	const uint32_t *word = tsi_word_pool_find(pool, index);
	return word ? *word : 0;
}

/* The message of a limit, for what is counted elsewhere; none where err holds a failure already. */
TSI_COLD void tsi_pool_fail(const struct pool_limit *limit, struct tscope_error *err);

#endif
