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

void tsi_graph_init(struct plain *plain, const struct plain_limits *limits,
		    struct tscope_error *err)
{
	static const struct plain_limits defaults = { 0 };
	const struct plain_limits *l = limits ? limits : &defaults;
	size_t max_objects = limit_of(l->max_objects, WORD_PAYLOAD_MAX), start;

	*plain = (struct plain){
		/* Where this lies in memory. No order comes of it. */
		.hash_seed = (uintptr_t)plain * UINT64_C(0xd6e8feb86659fd93),
		.object_limit = { max_objects, "objects" },
		.number_limit = { max_objects, "numbers" },
		.text_limit = { max_objects, "texts" },
		.content_limit = { limit_of(l->max_values, DEFAULT_MAX_VALUES), "values" },
		.err = err,
	};
	/* The empty text is there from the beginning. Index 0 says that an object is empty. */
	if (tsi_intern_init(&plain->texts, max_objects + 1, err) == TSCOPE_OK &&
	    tsi_shape_set_init(&plain->shapes, plain->hash_seed, err))
		tsi_graph_take(plain, 1, &start);
}

enum tscope_status tsi_graph_end(struct plain *plain, const struct tscope_error *failure,
				 struct plain **ret, struct tscope_error *err)
{
	if (failure->status == TSCOPE_OK) {
		plain->err = NULL;
		*ret = plain;
		return TSCOPE_OK;
	}
	tsi_plain_free(plain);
	if (err)
		*err = *failure;
	return failure->status;
}

void tsi_graph_deinit(struct plain *plain)
{
	for (size_t i = 0; i < plain->heap_count; i++) {
		free(plain->heaps[i].words);
		free(plain->heaps[i].slots);
	}
	free(plain->heaps);
	for (size_t i = 0; i < TSI_COUNT_OF(plain->key_numbers); i++)
		tsi_key_map_deinit(&plain->key_numbers[i]);
	tsi_intern_deinit(&plain->texts);
	tsi_shape_set_deinit(&plain->shapes);
	tsi_word_pool_deinit(&plain->objects);
	tsi_word_pool_deinit(&plain->contents);
	tsi_word_pool_deinit(&plain->numbers);
	*plain = (struct plain){ 0 };
}

uint32_t tsi_graph_add_text(struct plain *plain, enum word_tag tag, struct str text)
{
	uint32_t id;

	if (tsi_unlikely(plain->err->status != TSCOPE_OK))
		return 0;
	enum tscope_status status = tsi_intern_add(&plain->texts, text, &id, NULL);
	if (tsi_likely(status == TSCOPE_OK))
		return tsi_word(tag, id);
	if (status == TSCOPE_E_LIMIT)
		tsi_pool_fail(&plain->text_limit, plain->err);
	else
		tsi_fail_nomem(plain->err);
	return 0;
}

static uint32_t add_number(struct plain *plain, enum word_tag tag, uint64_t bits)
{
	static const struct pool_limit no_limit = { SIZE_MAX, "words" };
	size_t at;

	if (plain->numbers.count / 2 == plain->number_limit.count) {
		tsi_pool_fail(&plain->number_limit, plain->err);
		return 0;
	}
	if (!tsi_word_pool_take(&plain->numbers, 2, &no_limit, &at, plain->err))
		return 0;
	uint32_t *half = tsi_word_pool_at(&plain->numbers, at);
	half[0] = (uint32_t)bits;
	half[1] = (uint32_t)(bits >> 32);
	return tsi_word(tag, (uint32_t)(at / 2));
}

uint32_t tsi_graph_add_int64(struct plain *plain, int64_t number)
{
	if (!tsi_word_fits_small(number))
		return add_number(plain, WORD_INT64, (uint64_t)number);
	return tsi_word_of_small(number);
}

uint32_t tsi_graph_add_uint64(struct plain *plain, uint64_t number)
{
	if (number <= INT64_MAX)
		return tsi_graph_add_int64(plain, (int64_t)number);
	return add_number(plain, WORD_UINT64, number);
}

uint32_t tsi_graph_add_real(struct plain *plain, double number)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return add_number(plain, WORD_REAL, bits);
}

uint32_t tsi_graph_add_object(struct plain *plain, enum word_tag tag)
{
	size_t index;

	if (!tsi_word_pool_take(&plain->objects, 1, &plain->object_limit, &index, plain->err))
		return 0;
	return tsi_word(tag, (uint32_t)index);
}

uint32_t tsi_graph_new_heap(struct plain *plain, size_t room)
{
	struct plain_heap heap = { 0 };

	if (tsi_array_reserve(&plain->heaps, &plain->heap_capacity, plain->heap_count + 1,
			      sizeof(*plain->heaps), plain->err) != TSCOPE_OK ||
	    tsi_array_reserve(&heap.words, &heap.capacity, room, sizeof(*heap.words), plain->err) !=
		    TSCOPE_OK)
		return 0;
	plain->heaps[plain->heap_count] = heap;
	return CONTENT_IN_HEAP | (uint32_t)plain->heap_count++;
}

bool tsi_graph_heap_add(struct plain *plain, struct plain_heap *heap, const uint32_t *words,
			size_t count)
{
	if (count > plain->content_limit.count - plain->heap_words) {
		tsi_pool_fail(&plain->content_limit, plain->err);
		return false;
	}
	if (tsi_array_reserve(&heap->words, &heap->capacity, heap->count + count,
			      sizeof(*heap->words), plain->err) != TSCOPE_OK)
		return false;
	memcpy(heap->words + heap->count, words, count * sizeof(*words));
	heap->count += count;
	plain->heap_words += count;
	return true;
}
