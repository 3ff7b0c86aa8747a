/* SPDX-License-Identifier: MIT */
/* The graph of plain data: its texts, its numbers and its objects, which are empty at first. */
#include "decode/plain/plain_graph.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

#define DEFAULT_MAX_VALUES ((size_t)CONTENT_IN_HEAP - 1)

static size_t limit_of(size_t option, size_t most)
{
	return option && option < most ? option : most;
}

enum tscope_status tsi_graph_init(struct plain *plain, const struct plain_limits *limits,
				  struct tscope_error *err)
{
	size_t max_objects = limit_of(limits->max_objects, WORD_PAYLOAD_MAX), start;

	*plain = (struct plain){
		/* Where this lies in memory. No order comes of it. */
		.hash_seed = (uintptr_t)plain * UINT64_C(0xd6e8feb86659fd93),
		.object_limit = { max_objects, "objects" },
		.number_limit = { max_objects, "numbers" },
		.text_limit = { max_objects, "texts" },
		.content_limit = { limit_of(limits->max_values, DEFAULT_MAX_VALUES), "values" },
	};
	/* The empty text is there from the beginning. */
	if (tsi_intern_init(&plain->texts, max_objects + 1, err) != TSCOPE_OK ||
	    tsi_shape_set_init(&plain->shapes, plain->hash_seed, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	/* Index 0 would say that an object is empty. */
	return tsi_word_pool_take(&plain->contents, 1, &plain->content_limit, &start, err);
}

void tsi_graph_deinit(struct plain *plain)
{
	for (size_t i = 0; i < plain->heap_count; i++) {
		free(plain->heaps[i].words);
		free(plain->heaps[i].slots);
	}
	free(plain->heaps);
	free(plain->key_slots);
	tsi_intern_deinit(&plain->texts);
	tsi_shape_set_deinit(&plain->shapes);
	tsi_word_pool_deinit(&plain->objects);
	tsi_word_pool_deinit(&plain->contents);
	tsi_word_pool_deinit(&plain->numbers);
	*plain = (struct plain){ 0 };
}

enum tscope_status tsi_graph_add_text(struct plain *plain, enum word_tag tag, struct str text,
				      uint32_t *word, struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = tsi_intern_add(&plain->texts, text, &id, err);

	if (status == TSCOPE_E_LIMIT)
		return tsi_pool_fail(&plain->text_limit, err);
	if (status == TSCOPE_OK)
		*word = tsi_word(tag, id);
	return status;
}

static enum tscope_status add_number(struct plain *plain, enum word_tag tag, uint64_t bits,
				     uint32_t *word, struct tscope_error *err)
{
	static const struct pool_limit no_limit = { SIZE_MAX, "words" };
	size_t at;

	if (plain->numbers.count / 2 == plain->number_limit.count)
		return tsi_pool_fail(&plain->number_limit, err);
	if (tsi_word_pool_take(&plain->numbers, 2, &no_limit, &at, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	uint32_t *half = tsi_word_pool_at(&plain->numbers, at);
	half[0] = (uint32_t)bits;
	half[1] = (uint32_t)(bits >> 32);
	*word = tsi_word(tag, (uint32_t)(at / 2));
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_add_int64(struct plain *plain, int64_t number, uint32_t *word,
				       struct tscope_error *err)
{
	if (!tsi_word_fits_small(number))
		return add_number(plain, WORD_INT64, (uint64_t)number, word, err);
	*word = tsi_word_of_small(number);
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_add_uint64(struct plain *plain, uint64_t number, uint32_t *word,
					struct tscope_error *err)
{
	if (number <= INT64_MAX)
		return tsi_graph_add_int64(plain, (int64_t)number, word, err);
	return add_number(plain, WORD_UINT64, number, word, err);
}

enum tscope_status tsi_graph_add_real(struct plain *plain, double number, uint32_t *word,
				      struct tscope_error *err)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return add_number(plain, WORD_REAL, bits, word, err);
}

enum tscope_status tsi_graph_add_object(struct plain *plain, enum word_tag tag, uint32_t *word,
					struct tscope_error *err)
{
	size_t index;
	enum tscope_status status =
		tsi_word_pool_take(&plain->objects, 1, &plain->object_limit, &index, err);

	if (status == TSCOPE_OK)
		*word = tsi_word(tag, (uint32_t)index);
	return status;
}

enum tscope_status tsi_graph_new_heap(struct plain *plain, size_t room, uint32_t *content,
				      struct tscope_error *err)
{
	struct plain_heap heap = { 0 };

	if (tsi_array_reserve(&plain->heaps, &plain->heap_capacity, plain->heap_count + 1,
			      sizeof(*plain->heaps), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (tsi_array_reserve(&heap.words, &heap.capacity, room, sizeof(*heap.words), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	plain->heaps[plain->heap_count] = heap;
	*content = CONTENT_IN_HEAP | (uint32_t)plain->heap_count++;
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_heap_add(struct plain *plain, struct plain_heap *heap,
				      const uint32_t *words, size_t count, struct tscope_error *err)
{
	if (count > plain->content_limit.count - plain->heap_words)
		return tsi_pool_fail(&plain->content_limit, err);
	if (tsi_array_reserve(&heap->words, &heap->capacity, heap->count + count,
			      sizeof(*heap->words), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(heap->words + heap->count, words, count * sizeof(*words));
	heap->count += count;
	plain->heap_words += count;
	return TSCOPE_OK;
}
