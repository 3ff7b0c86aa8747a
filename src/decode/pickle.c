/* SPDX-License-Identifier: MIT */
/* A pickle that has been read, for those who walk it. */
#include "decode/pickle.h"

#include <stdlib.h>

#include "decode/pickle_class.h"
#include "decode/pickle_graph.h"

static const enum pickle_kind kinds[] = {
	[WORD_ABSENT] = PICKLE_ABSENT, [WORD_NONE] = PICKLE_NONE, [WORD_BOOL] = PICKLE_BOOL,
	[WORD_SMALL] = PICKLE_INT,     [WORD_INT64] = PICKLE_INT, [WORD_UINT64] = PICKLE_UINT,
	[WORD_REAL] = PICKLE_REAL,     [WORD_TEXT] = PICKLE_TEXT, [WORD_BYTES] = PICKLE_BYTES,
	[WORD_CLASS] = PICKLE_CLASS,   [WORD_LIST] = PICKLE_LIST, [WORD_TUPLE] = PICKLE_TUPLE,
	[WORD_DICT] = PICKLE_DICT,
};

static const char *const kind_names[] = {
	[PICKLE_ABSENT] = "nothing", [PICKLE_NONE] = "None",       [PICKLE_BOOL] = "a truth value",
	[PICKLE_INT] = "an integer", [PICKLE_UINT] = "an integer", [PICKLE_REAL] = "a real number",
	[PICKLE_TEXT] = "a text",    [PICKLE_BYTES] = "bytes",     [PICKLE_CLASS] = "a class",
	[PICKLE_LIST] = "a list",    [PICKLE_TUPLE] = "a tuple",   [PICKLE_DICT] = "a dict",
};

static const struct pickle_value absent = { 0 };

static bool is_sequence(struct pickle_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);
	return tag == WORD_LIST || tag == WORD_TUPLE;
}

static bool is_dict(struct pickle_value value)
{
	return tsi_word_tag(value.word) == WORD_DICT;
}

void tsi_pickle_free(struct pickle *pickle)
{
	if (pickle)
		tsi_graph_deinit(pickle);
	free(pickle);
}

struct pickle_value tsi_pickle_root(const struct pickle *pickle)
{
	return (struct pickle_value){ pickle->root };
}

unsigned tsi_pickle_protocol(const struct pickle *pickle)
{
	return pickle->protocol;
}

uint64_t tsi_pickle_trailing_bytes(const struct pickle *pickle)
{
	return pickle->trailing_bytes;
}

enum pickle_kind tsi_pickle_kind(struct pickle_value value)
{
	return kinds[tsi_word_tag(value.word)];
}

const char *tsi_pickle_kind_name(enum pickle_kind kind)
{
	return kind_names[kind];
}

/* ---- scalars --------------------------------------------------------------------------- */

bool tsi_pickle_to_bool(struct pickle_value value, bool *truth)
{
	if (tsi_word_tag(value.word) != WORD_BOOL)
		return false;
	*truth = tsi_word_payload(value.word) != 0;
	return true;
}

bool tsi_pickle_to_int64(const struct pickle *pickle, struct pickle_value value, int64_t *number)
{
	enum word_tag tag = tsi_word_tag(value.word);

	if (tag == WORD_SMALL)
		*number = tsi_word_to_small(value.word);
	else if (tag == WORD_INT64)
		*number = (int64_t)tsi_graph_number(pickle, value.word);
	return tag == WORD_SMALL || tag == WORD_INT64;
}

bool tsi_pickle_to_uint64(const struct pickle *pickle, struct pickle_value value, uint64_t *number)
{
	int64_t with_sign;

	if (tsi_word_tag(value.word) == WORD_UINT64) {
		*number = tsi_graph_number(pickle, value.word);
		return true;
	}
	if (!tsi_pickle_to_int64(pickle, value, &with_sign) || with_sign < 0)
		return false;
	*number = (uint64_t)with_sign;
	return true;
}

bool tsi_pickle_to_real(const struct pickle *pickle, struct pickle_value value, double *number)
{
	int64_t with_sign;
	uint64_t bits;

	if (tsi_word_tag(value.word) == WORD_REAL) {
		bits = tsi_graph_number(pickle, value.word);
		memcpy(number, &bits, sizeof(bits));
		return true;
	}
	if (tsi_pickle_to_int64(pickle, value, &with_sign)) {
		*number = (double)with_sign;
		return true;
	}
	if (!tsi_pickle_to_uint64(pickle, value, &bits))
		return false;
	*number = (double)bits;
	return true;
}

struct str tsi_pickle_text(const struct pickle *pickle, struct pickle_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);

	if (tag == WORD_CLASS)
		return tsi_pickle_class_name(tsi_word_payload(value.word));
	if (tag != WORD_TEXT && tag != WORD_BYTES)
		return TSI_STR("");
	return tsi_intern_text(&pickle->texts, tsi_word_payload(value.word));
}

/* ---- containers ------------------------------------------------------------------------- */

static const struct pickle_shape *shape_of(const struct pickle *pickle, uint32_t content)
{
	uint32_t header = content ? tsi_graph_words(pickle, content)[0] : 0;
	return &pickle->shapes.shapes[tsi_graph_shape_of(header)];
}

size_t tsi_pickle_length(const struct pickle *pickle, struct pickle_value value)
{
	if (!is_sequence(value) && !is_dict(value))
		return 0;
	uint32_t content = *tsi_graph_content(pickle, value.word);
	if (content == 0)
		return 0;
	if (content & CONTENT_IN_HEAP)
		return tsi_graph_heap(pickle, content)->count / (is_dict(value) ? 2 : 1);
	if (is_dict(value))
		return shape_of(pickle, content)->count;
	return tsi_graph_packed(tsi_graph_words(pickle, content)).count;
}

struct pickle_value tsi_pickle_item(const struct pickle *pickle, struct pickle_value list,
				    size_t index)
{
	struct pickle_value item = absent;

	(void)tsi_pickle_items(pickle, list, index, &item, 1);
	return item;
}

size_t tsi_pickle_items(const struct pickle *pickle, struct pickle_value list, size_t first,
			struct pickle_value *out, size_t room)
{
	size_t length = is_sequence(list) ? tsi_pickle_length(pickle, list) : 0;
	size_t count = length > first ? length - first : 0;

	count = count < room ? count : room;
	if (count == 0)
		return 0;
	uint32_t content = *tsi_graph_content(pickle, list.word);
	if (content & CONTENT_IN_HEAP) {
		memcpy(out, tsi_graph_heap(pickle, content)->words + first, count * sizeof(*out));
		return count;
	}
	struct packed items = tsi_graph_packed(tsi_graph_words(pickle, content));
	for (size_t i = 0; i < count; i++)
		out[i].word = tsi_graph_unpack(&items, first + i);
	return count;
}

/* which: 0 the key, 1 the value. */
static struct pickle_value pair_part(const struct pickle *pickle, struct pickle_value dict,
				     size_t index, size_t which)
{
	if (!is_dict(dict) || index >= tsi_pickle_length(pickle, dict))
		return absent;
	uint32_t content = *tsi_graph_content(pickle, dict.word);
	if (content & CONTENT_IN_HEAP)
		return (struct pickle_value){
			tsi_graph_heap(pickle, content)->words[2 * index + which]
		};
	const uint32_t *words = tsi_graph_words(pickle, content);
	const uint32_t *keys = tsi_shape_keys(&pickle->shapes, tsi_graph_shape_of(words[0]));
	return (struct pickle_value){ which ? words[1 + index] : keys[index] };
}

struct pickle_value tsi_pickle_key(const struct pickle *pickle, struct pickle_value dict,
				   size_t index)
{
	return pair_part(pickle, dict, index, 0);
}

struct pickle_value tsi_pickle_value(const struct pickle *pickle, struct pickle_value dict,
				     size_t index)
{
	return pair_part(pickle, dict, index, 1);
}

struct pickle_value tsi_pickle_name(const struct pickle *pickle, struct str text)
{
	uint32_t id = tsi_intern_find(&pickle->texts, text);
	return id == UINT32_MAX ? absent : (struct pickle_value){ tsi_word(WORD_TEXT, id) };
}

struct pickle_value tsi_pickle_get(const struct pickle *pickle, struct pickle_value dict,
				   struct pickle_value key)
{
	uint32_t content = is_dict(dict) ? *tsi_graph_content(pickle, dict.word) : 0;

	if (content == 0 || key.word == 0)
		return absent;
	if (content & CONTENT_IN_HEAP) {
		const struct pickle_heap *heap = tsi_graph_heap(pickle, content);
		uint32_t pair = *tsi_graph_heap_slot(pickle, heap, key.word);
		return pair ? (struct pickle_value){ heap->words[2 * (size_t)(pair - 1) + 1] }
			    : absent;
	}
	const uint32_t *words = tsi_graph_words(pickle, content);
	size_t at = tsi_shape_find(&pickle->shapes, tsi_graph_shape_of(words[0]), key.word);
	return at == SIZE_MAX ? absent : (struct pickle_value){ words[1 + at] };
}

struct pickle_value tsi_pickle_find(const struct pickle *pickle, struct pickle_value dict,
				    struct str key)
{
	return tsi_pickle_get(pickle, dict, tsi_pickle_name(pickle, key));
}

/* ---- numbers of objects and texts ------------------------------------------------------- */

size_t tsi_pickle_object_count(const struct pickle *pickle)
{
	return pickle->objects.count;
}

size_t tsi_pickle_object_index(struct pickle_value value)
{
	return is_sequence(value) || is_dict(value) ? tsi_word_payload(value.word) : SIZE_MAX;
}

size_t tsi_pickle_text_count(const struct pickle *pickle)
{
	return pickle->texts.count;
}

size_t tsi_pickle_text_index(struct pickle_value value)
{
	enum word_tag tag = tsi_word_tag(value.word);
	return tag == WORD_TEXT || tag == WORD_BYTES ? tsi_word_payload(value.word) : SIZE_MAX;
}
