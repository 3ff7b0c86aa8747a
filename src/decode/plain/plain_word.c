/* SPDX-License-Identifier: MIT */
/* Pools of words: what the graph of plain data and a memo are made of. */
#include "decode/plain/plain_word.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

void tsi_word_pool_deinit(struct word_pool *pool)
{
	for (size_t i = 0; i < pool->chunk_count; i++)
		free(pool->chunks[i]);
	free(pool->chunks);
	*pool = (struct word_pool){ 0 };
}

enum tscope_status tsi_pool_fail(const struct pool_limit *limit, struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_LIMIT, "more than %zu %s (limit: %s)", limit->count,
			limit->what, limit->what);
}

/* Makes chunk number `chunk` exist. Those before it that do not stay NULL. */
static enum tscope_status reach(struct word_pool *pool, size_t chunk, struct tscope_error *err)
{
	if (tsi_array_reserve(&pool->chunks, &pool->chunk_capacity, chunk + 1,
			      sizeof(*pool->chunks), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	while (pool->chunk_count <= chunk)
		pool->chunks[pool->chunk_count++] = NULL;
	if (pool->chunks[chunk])
		return TSCOPE_OK;
	return tsi_array_new(&pool->chunks[chunk], POOL_CHUNK_WORDS, sizeof(uint32_t), err);
}

enum tscope_status tsi_word_pool_take(struct word_pool *pool, size_t count,
				      const struct pool_limit *limit, size_t *index,
				      struct tscope_error *err)
{
	size_t start = pool->count;

	if (count > POOL_CHUNK_WORDS - start % POOL_CHUNK_WORDS) /* the rest stays unused */
		start += POOL_CHUNK_WORDS - start % POOL_CHUNK_WORDS;
	if (tsi_unlikely(start + count > limit->count))
		return tsi_pool_fail(limit, err);
	if (tsi_unlikely((start >> POOL_CHUNK_BITS) >= pool->chunk_count)) {
		enum tscope_status status = reach(pool, start >> POOL_CHUNK_BITS, err);
		if (status != TSCOPE_OK)
			return status;
	}
	pool->count = start + count;
	*index = start;
	return TSCOPE_OK;
}

enum tscope_status tsi_word_pool_set(struct word_pool *pool, size_t index, uint32_t word,
				     struct tscope_error *err)
{
	size_t chunk = index >> POOL_CHUNK_BITS;

	if (tsi_unlikely(chunk >= pool->chunk_count) || tsi_unlikely(!pool->chunks[chunk])) {
		enum tscope_status status = reach(pool, chunk, err);
		if (status != TSCOPE_OK)
			return status;
	}
	*tsi_word_pool_at(pool, index) = word;
	return TSCOPE_OK;
}
