/* SPDX-License-Identifier: MIT */
/* The graph of a pickle: its texts, its numbers and its objects, which are empty at first. */
#include "decode/pickle_graph.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

#define DEFAULT_MAX_VALUES ((size_t)CONTENT_IN_HEAP - 1)

static size_t limit_of(size_t option, size_t most)
{
	return option && option < most ? option : most;
}

enum tscope_status tsi_graph_init(struct pickle *pickle, const struct pickle_options *options,
				  struct tscope_error *err)
{
	size_t max_objects = limit_of(options->max_objects, WORD_PAYLOAD_MAX), start;

	*pickle = (struct pickle){
		/* Where this lies in memory. No order comes of it. */
		.hash_seed = (uintptr_t)pickle * UINT64_C(0xd6e8feb86659fd93),
		.object_limit = { max_objects, "objects" },
		.number_limit = { max_objects, "numbers" },
		.text_limit = { max_objects, "texts" },
		.content_limit = { limit_of(options->max_values, DEFAULT_MAX_VALUES), "values" },
	};
	/* The empty text is there from the beginning. */
	if (tsi_intern_init(&pickle->texts, max_objects + 1, err) != TSCOPE_OK ||
	    tsi_shape_set_init(&pickle->shapes, pickle->hash_seed, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	/* Index 0 would say that an object is empty. */
	return tsi_word_pool_take(&pickle->contents, 1, &pickle->content_limit, &start, err);
}

void tsi_graph_deinit(struct pickle *pickle)
{
	for (size_t i = 0; i < pickle->heap_count; i++) {
		free(pickle->heaps[i].words);
		free(pickle->heaps[i].slots);
	}
	free(pickle->heaps);
	free(pickle->key_slots);
	tsi_intern_deinit(&pickle->texts);
	tsi_shape_set_deinit(&pickle->shapes);
	tsi_word_pool_deinit(&pickle->objects);
	tsi_word_pool_deinit(&pickle->contents);
	tsi_word_pool_deinit(&pickle->numbers);
	*pickle = (struct pickle){ 0 };
}

enum tscope_status tsi_graph_add_text(struct pickle *pickle, enum word_tag tag, struct str text,
				      uint32_t *word, struct tscope_error *err)
{
	uint32_t id;
	enum tscope_status status = tsi_intern_add(&pickle->texts, text, &id, err);

	if (status == TSCOPE_E_LIMIT)
		return tsi_pool_fail(&pickle->text_limit, err);
	if (status == TSCOPE_OK)
		*word = tsi_word(tag, id);
	return status;
}

static enum tscope_status add_number(struct pickle *pickle, enum word_tag tag, uint64_t bits,
				     uint32_t *word, struct tscope_error *err)
{
	static const struct pool_limit no_limit = { SIZE_MAX, "words" };
	size_t at;

	if (pickle->numbers.count / 2 == pickle->number_limit.count)
		return tsi_pool_fail(&pickle->number_limit, err);
	if (tsi_word_pool_take(&pickle->numbers, 2, &no_limit, &at, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	uint32_t *half = tsi_word_pool_at(&pickle->numbers, at);
	half[0] = (uint32_t)bits;
	half[1] = (uint32_t)(bits >> 32);
	*word = tsi_word(tag, (uint32_t)(at / 2));
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_add_int64(struct pickle *pickle, int64_t number, uint32_t *word,
				       struct tscope_error *err)
{
	if (!tsi_word_fits_small(number))
		return add_number(pickle, WORD_INT64, (uint64_t)number, word, err);
	*word = tsi_word_of_small(number);
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_add_uint64(struct pickle *pickle, uint64_t number, uint32_t *word,
					struct tscope_error *err)
{
	if (number <= INT64_MAX)
		return tsi_graph_add_int64(pickle, (int64_t)number, word, err);
	return add_number(pickle, WORD_UINT64, number, word, err);
}

enum tscope_status tsi_graph_add_real(struct pickle *pickle, double number, uint32_t *word,
				      struct tscope_error *err)
{
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return add_number(pickle, WORD_REAL, bits, word, err);
}

enum tscope_status tsi_graph_add_object(struct pickle *pickle, enum word_tag tag, uint32_t *word,
					struct tscope_error *err)
{
	size_t index;
	enum tscope_status status =
		tsi_word_pool_take(&pickle->objects, 1, &pickle->object_limit, &index, err);

	if (status == TSCOPE_OK)
		*word = tsi_word(tag, (uint32_t)index);
	return status;
}

enum tscope_status tsi_graph_new_heap(struct pickle *pickle, size_t room, uint32_t *content,
				      struct tscope_error *err)
{
	struct pickle_heap heap = { 0 };

	if (tsi_array_reserve(&pickle->heaps, &pickle->heap_capacity, pickle->heap_count + 1,
			      sizeof(*pickle->heaps), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (tsi_array_reserve(&heap.words, &heap.capacity, room, sizeof(*heap.words), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	pickle->heaps[pickle->heap_count] = heap;
	*content = CONTENT_IN_HEAP | (uint32_t)pickle->heap_count++;
	return TSCOPE_OK;
}

enum tscope_status tsi_graph_heap_add(struct pickle *pickle, struct pickle_heap *heap,
				      const uint32_t *words, size_t count, struct tscope_error *err)
{
	if (count > pickle->content_limit.count - pickle->heap_words)
		return tsi_pool_fail(&pickle->content_limit, err);
	if (tsi_array_reserve(&heap->words, &heap->capacity, heap->count + count,
			      sizeof(*heap->words), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(heap->words + heap->count, words, count * sizeof(*words));
	heap->count += count;
	pickle->heap_words += count;
	return TSCOPE_OK;
}
