/* SPDX-License-Identifier: MIT */
/* Plain data that has been read, for those who walk it. */
#include "decode/plain/plain.h"

#include <stdlib.h>

#include "decode/plain/pickle_class.h"
#include "decode/plain/plain_graph.h"

static const enum plain_kind kinds[] = {
	[WORD_ABSENT] = PLAIN_ABSENT, [WORD_NONE] = PLAIN_NONE, [WORD_BOOL] = PLAIN_BOOL,
	[WORD_SMALL] = PLAIN_INT,     [WORD_INT64] = PLAIN_INT, [WORD_UINT64] = PLAIN_UINT,
	[WORD_REAL] = PLAIN_REAL,     [WORD_TEXT] = PLAIN_TEXT, [WORD_BYTES] = PLAIN_BYTES,
	[WORD_CLASS] = PLAIN_CLASS,   [WORD_LIST] = PLAIN_LIST, [WORD_TUPLE] = PLAIN_TUPLE,
	[WORD_DICT] = PLAIN_DICT,
};

static const char *const kind_names[] = {
	[PLAIN_ABSENT] = "nothing", [PLAIN_NONE] = "None",       [PLAIN_BOOL] = "a truth value",
	[PLAIN_INT] = "an integer", [PLAIN_UINT] = "an integer", [PLAIN_REAL] = "a real number",
	[PLAIN_TEXT] = "a text",    [PLAIN_BYTES] = "bytes",     [PLAIN_CLASS] = "a class",
	[PLAIN_LIST] = "a list",    [PLAIN_TUPLE] = "a tuple",   [PLAIN_DICT] = "a dict",
};

static const struct plain_value absent = { 0 };

static bool is_sequence(struct plain_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);
	return tag == WORD_LIST || tag == WORD_TUPLE;
}

static bool is_dict(struct plain_value value)
{
	return tsi_word_tag(value.word) == WORD_DICT;
}

void tsi_plain_free(struct plain *plain)
{
	if (plain)
		tsi_graph_deinit(plain);
	free(plain);
}

struct plain_value tsi_plain_root(const struct plain *plain)
{
	return (struct plain_value){ plain->root };
}

uint64_t tsi_plain_trailing_bytes(const struct plain *plain)
{
	return plain->trailing_bytes;
}

uint64_t tsi_plain_further_count(const struct plain *plain)
{
	return plain->further_count;
}

enum plain_kind tsi_plain_kind(struct plain_value value)
{
	return kinds[tsi_word_tag(value.word)];
}

const char *tsi_plain_kind_name(enum plain_kind kind)
{
	return kind_names[kind];
}

/* ---- scalars --------------------------------------------------------------------------- */

bool tsi_plain_to_bool(struct plain_value value, bool *truth)
{
	if (tsi_word_tag(value.word) != WORD_BOOL)
		return false;
	*truth = tsi_word_payload(value.word) != 0;
	return true;
}

bool tsi_plain_to_int64(const struct plain *plain, struct plain_value value, int64_t *number)
{
	enum word_tag tag = tsi_word_tag(value.word);

	if (tag == WORD_SMALL)
		*number = tsi_word_to_small(value.word);
	else if (tag == WORD_INT64)
		*number = (int64_t)tsi_graph_number(plain, value.word);
	return tag == WORD_SMALL || tag == WORD_INT64;
}

bool tsi_plain_to_uint64(const struct plain *plain, struct plain_value value, uint64_t *number)
{
	int64_t with_sign;

	if (tsi_word_tag(value.word) == WORD_UINT64) {
		*number = tsi_graph_number(plain, value.word);
		return true;
	}
	if (!tsi_plain_to_int64(plain, value, &with_sign) || with_sign < 0)
		return false;
	*number = (uint64_t)with_sign;
	return true;
}

bool tsi_plain_to_real(const struct plain *plain, struct plain_value value, double *number)
{
	int64_t with_sign;
	uint64_t bits;

	if (tsi_word_tag(value.word) == WORD_REAL) {
		bits = tsi_graph_number(plain, value.word);
		memcpy(number, &bits, sizeof(bits));
		return true;
	}
	if (tsi_plain_to_int64(plain, value, &with_sign)) {
		*number = (double)with_sign;
		return true;
	}
	if (!tsi_plain_to_uint64(plain, value, &bits))
		return false;
	*number = (double)bits;
	return true;
}

struct str tsi_plain_text(const struct plain *plain, struct plain_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);

	if (tag == WORD_CLASS)
		return tsi_pickle_class_name(tsi_word_payload(value.word));
	if (tag != WORD_TEXT && tag != WORD_BYTES)
		return TSI_STR("");
	return tsi_intern_text(&plain->texts, tsi_word_payload(value.word));
}

/* ---- containers ------------------------------------------------------------------------- */

static const struct plain_shape *shape_of(const struct plain *plain, uint32_t content)
{
	uint32_t header = content ? tsi_graph_words(plain, content)[0] : 0;
	return &plain->shapes.shapes[header];
}

size_t tsi_plain_length(const struct plain *plain, struct plain_value value)
{
	if (!is_sequence(value) && !is_dict(value))
		return 0;
	uint32_t content = *tsi_graph_content(plain, value.word);
	if (content == 0)
		return 0;
	if (content & CONTENT_IN_HEAP)
		return tsi_graph_heap(plain, content)->count / (is_dict(value) ? 2 : 1);
	if (is_dict(value))
		return shape_of(plain, content)->count;
	return tsi_graph_packed(tsi_graph_words(plain, content)).count;
}

struct plain_value tsi_plain_item(const struct plain *plain, struct plain_value list, size_t index)
{
	struct plain_value item = absent;

	(void)tsi_plain_items(plain, list, index, &item, 1);
	return item;
}

size_t tsi_plain_items(const struct plain *plain, struct plain_value list, size_t first,
		       struct plain_value *out, size_t room)
{
	size_t length = is_sequence(list) ? tsi_plain_length(plain, list) : 0;
	size_t count = length > first ? length - first : 0;

	count = count < room ? count : room;
	if (count == 0)
		return 0;
	uint32_t content = *tsi_graph_content(plain, list.word);
	if (content & CONTENT_IN_HEAP) {
		memcpy(out, tsi_graph_heap(plain, content)->words + first, count * sizeof(*out));
		return count;
	}
	struct packed items = tsi_graph_packed(tsi_graph_words(plain, content));
	for (size_t i = 0; i < count; i++)
		out[i].word = tsi_graph_unpack(&items, first + i);
	return count;
}

uint32_t tsi_plain_items_id(const struct plain *plain, struct plain_value list)
{
	return is_sequence(list) ? *tsi_graph_content(plain, list.word) : 0;
}

/* which: 0 the key, 1 the value. */
static struct plain_value pair_part(const struct plain *plain, struct plain_value dict,
				    size_t index, size_t which)
{
	if (!is_dict(dict) || index >= tsi_plain_length(plain, dict))
		return absent;
	uint32_t content = *tsi_graph_content(plain, dict.word);
	if (content & CONTENT_IN_HEAP)
		return (struct plain_value){
			tsi_graph_heap(plain, content)->words[2 * index + which]
		};
	const uint32_t *words = tsi_graph_words(plain, content);
	const uint32_t *keys = tsi_shape_keys(&plain->shapes, words[0]);
	return (struct plain_value){ which ? words[1 + index] : keys[index] };
}

struct plain_value tsi_plain_key(const struct plain *plain, struct plain_value dict, size_t index)
{
	return pair_part(plain, dict, index, 0);
}

struct plain_value tsi_plain_value(const struct plain *plain, struct plain_value dict, size_t index)
{
	return pair_part(plain, dict, index, 1);
}

struct plain_value tsi_plain_name(const struct plain *plain, struct str text)
{
	uint32_t id = tsi_intern_find(&plain->texts, text);
	return id == UINT32_MAX ? absent : (struct plain_value){ tsi_word(WORD_TEXT, id) };
}

struct plain_value tsi_plain_get(const struct plain *plain, struct plain_value dict,
				 struct plain_value key)
{
	uint32_t content = is_dict(dict) ? *tsi_graph_content(plain, dict.word) : 0;

	if (content == 0 || key.word == 0)
		return absent;
	if (content & CONTENT_IN_HEAP) {
		const struct plain_heap *heap = tsi_graph_heap(plain, content);
		size_t pair = tsi_graph_heap_find(plain, heap, key.word);
		return pair == SIZE_MAX ? absent
					: (struct plain_value){ heap->words[2 * pair + 1] };
	}
	const uint32_t *words = tsi_graph_words(plain, content);
	size_t at = tsi_shape_find(&plain->shapes, words[0], key.word);
	return at == SIZE_MAX ? absent : (struct plain_value){ words[1 + at] };
}

struct plain_value tsi_plain_find(const struct plain *plain, struct plain_value dict,
				  struct str key)
{
	return tsi_plain_get(plain, dict, tsi_plain_name(plain, key));
}

/* Looks up where the keys stand in another shape. */
static void pick_shape(const struct plain *plain, struct plain_pick *pick, uint32_t shape)
{
	for (size_t i = 0; i < pick->count; i++) {
		size_t at = pick->keys[i].word
				    ? tsi_shape_find(&plain->shapes, shape, pick->keys[i].word)
				    : SIZE_MAX;
		pick->at[i] = at == SIZE_MAX ? 0 : (unsigned char)(at + 1);
	}
	pick->shape = shape;
}

bool tsi_plain_pick(const struct plain *plain, struct plain_pick *pick, struct plain_value dict,
		    struct plain_value *out)
{
	uint32_t content = is_dict(dict) ? *tsi_graph_content(plain, dict.word) : 0;

	if (content == 0 || content & CONTENT_IN_HEAP) {
		for (size_t i = 0; i < pick->count; i++)
			out[i] = tsi_plain_get(plain, dict, pick->keys[i]);
		return is_dict(dict);
	}
	const uint32_t *words = tsi_graph_words(plain, content);
	if (words[0] != pick->shape)
		pick_shape(plain, pick, words[0]);
	for (size_t i = 0; i < pick->count; i++)
		out[i].word = pick->at[i] ? words[pick->at[i]] : 0;
	return true;
}

void tsi_plain_prefetch(const struct plain *plain, struct plain_value dict)
{
	uint32_t content = is_dict(dict) ? *tsi_graph_content(plain, dict.word) : 0;

	if (content && !(content & CONTENT_IN_HEAP))
		tsi_prefetch(tsi_graph_words(plain, content));
}

/* ---- numbers of objects and texts ------------------------------------------------------- */

size_t tsi_plain_object_count(const struct plain *plain)
{
	return plain->objects.count;
}

size_t tsi_plain_object_index(struct plain_value value)
{
	return is_sequence(value) || is_dict(value) ? tsi_word_payload(value.word) : SIZE_MAX;
}

size_t tsi_plain_text_count(const struct plain *plain)
{
	return plain->texts.count;
}

size_t tsi_plain_text_index(struct plain_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);
	return tag == WORD_TEXT || tag == WORD_BYTES ? tsi_word_payload(value.word) : SIZE_MAX;
}
