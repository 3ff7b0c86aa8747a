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

void tsi_pool_fail(const struct pool_limit *limit, struct tscope_error *err)
{
	if (err->status == TSCOPE_OK)
		tsi_fail(err, TSCOPE_E_LIMIT, "more than %zu %s (limit: %s)", limit->count,
			 limit->what, limit->what);
}

/* Makes chunk number `chunk` exist; those before it may be missing (NULL). */
static bool reach(struct word_pool *pool, size_t chunk, struct tscope_error *err)
{
	if (tsi_likely(chunk < pool->chunk_count) && tsi_likely(pool->chunks[chunk]))
		return true;
	if (tsi_array_reserve(&pool->chunks, &pool->chunk_capacity, chunk + 1,
			      sizeof(*pool->chunks), err) != TSCOPE_OK)
		return false;
	while (pool->chunk_count <= chunk)
		pool->chunks[pool->chunk_count++] = NULL;
	return tsi_array_new(&pool->chunks[chunk], POOL_CHUNK_WORDS, sizeof(uint32_t), err) ==
	       TSCOPE_OK;
}

bool tsi_word_pool_take(struct word_pool *pool, size_t count, const struct pool_limit *limit,
			size_t *index, struct tscope_error *err)
{
	size_t start = pool->count;

	if (count > POOL_CHUNK_WORDS - start % POOL_CHUNK_WORDS) /* the rest stays unused */
		start += POOL_CHUNK_WORDS - start % POOL_CHUNK_WORDS;
	if (tsi_unlikely(start + count > limit->count)) {
		tsi_pool_fail(limit, err);
		return false;
	}
	if (tsi_unlikely((start >> POOL_CHUNK_BITS) >= pool->chunk_count) &&
	    !reach(pool, start >> POOL_CHUNK_BITS, err))
		return false;
	pool->count = start + count;
	*index = start;
	return true;
}

void tsi_word_pool_set(struct word_pool *pool, size_t index, uint32_t word,
		       struct tscope_error *err)
{
	if (reach(pool, index >> POOL_CHUNK_BITS, err))
		*tsi_word_pool_at(pool, index) = word;
}
