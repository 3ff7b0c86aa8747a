/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/pickle.h: the input is read as a pickle, byte by byte and as a whole,
 * which must come to the same, and every object of the graph is looked at once. Traps where a
 * graph points out of itself, or a dict does not find what it shows.
 */
#include "fuzz.h"

#include "decode/pickle.h"
#include "input/input.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 64 << 10, MAX_OUTPUT_BYTES = 1 << 20, MAX_ITEMS_AT_ONCE = 7 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

struct outcome {
	enum tscope_status status;
	struct tscope_error err;
	struct plain *plain;
	bool is_plain; /* not compressed */
};

static struct outcome read_in_blocks(const uint8_t *data, size_t length, size_t block_bytes)
{
	struct input_options options = { .block_bytes = block_bytes,
					 .single_thread = true,
					 .max_output_bytes = MAX_OUTPUT_BYTES };
	struct outcome outcome = { 0 };
	struct input *in = NULL;

	outcome.status = tsi_input_open_memory(&in, data, length, &options, &outcome.err);
	if (outcome.status == TSCOPE_OK) {
		outcome.is_plain = strcmp(tsi_input_filters(in), "none") == 0;
		outcome.status = tsi_pickle_read(&outcome.plain, in, NULL, &outcome.err);
	}
	tsi_input_close(in);
	require((outcome.status == TSCOPE_OK) == (outcome.plain != NULL));
	if (!outcome.plain)
		require(outcome.err.message[0] && outcome.err.status == outcome.status);
	return outcome;
}

static uint64_t mix(uint64_t sum, uint64_t number)
{
	return (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
}

/* What a value shows of itself without what it holds. */
static uint64_t look_at(const struct plain *p, struct plain_value value)
{
	size_t object = tsi_plain_object_index(value), text = tsi_plain_text_index(value);
	uint64_t sum = mix(tsi_plain_kind(value), value.word), bits;
	struct str bytes = tsi_plain_text(p, value);
	double real = 0;

	require(tsi_plain_kind(value) != PLAIN_ABSENT);
	require(object == SIZE_MAX || object < tsi_plain_object_count(p));
	require(text == SIZE_MAX || text < tsi_plain_text_count(p));
	for (size_t i = 0; i < bytes.length; i++)
		sum = mix(sum, (unsigned char)bytes.data[i]);
	(void)tsi_plain_to_real(p, value, &real);
	memcpy(&bits, &real, sizeof(bits));
	return mix(sum, bits);
}

static uint64_t look_at_pairs(const struct plain *p, struct plain_value dict,
			      void (*meet)(void *, struct plain_value), void *walk)
{
	size_t count = tsi_plain_length(p, dict);
	uint64_t sum = count;

	for (size_t i = 0; i < count; i++) {
		struct plain_value key = tsi_plain_key(p, dict, i);
		struct plain_value value = tsi_plain_value(p, dict, i);
		require(tsi_plain_get(p, dict, key).word == value.word);
		sum = mix(mix(sum, look_at(p, key)), look_at(p, value));
		meet(walk, key);
		meet(walk, value);
	}
	require(tsi_plain_key(p, dict, count).word == 0);
	return sum;
}

static uint64_t look_at_items(const struct plain *p, struct plain_value list,
			      void (*meet)(void *, struct plain_value), void *walk)
{
	struct plain_value items[MAX_ITEMS_AT_ONCE];
	size_t count = tsi_plain_length(p, list), at = 0, got;
	uint64_t sum = count;

	while ((got = tsi_plain_items(p, list, at, items, MAX_ITEMS_AT_ONCE)) > 0) {
		for (size_t i = 0; i < got; i++) {
			require(tsi_plain_item(p, list, at + i).word == items[i].word);
			sum = mix(sum, look_at(p, items[i]));
			meet(walk, items[i]);
		}
		at += got;
	}
	require(at == count);
	return sum;
}

/* Objects that have been met, each once. */
struct walk {
	struct plain_value *met;
	size_t met_count;
	bool *is_met;
};

static void meet(void *data, struct plain_value value)
{
	struct walk *walk = data;
	size_t object = tsi_plain_object_index(value);

	if (object == SIZE_MAX || walk->is_met[object])
		return;
	walk->is_met[object] = true;
	walk->met[walk->met_count++] = value;
}

static uint64_t look_at_all(const struct plain *p)
{
	size_t room = tsi_plain_object_count(p) + 1;
	struct walk walk = { .met = calloc(room, sizeof(*walk.met)), .is_met = calloc(room, 1) };
	uint64_t sum = 0;

	if (walk.met && walk.is_met) {
		sum = look_at(p, tsi_plain_root(p));
		meet(&walk, tsi_plain_root(p));
		for (size_t i = 0; i < walk.met_count; i++)
			sum = mix(sum, tsi_plain_kind(walk.met[i]) == PLAIN_DICT
					       ? look_at_pairs(p, walk.met[i], meet, &walk)
					       : look_at_items(p, walk.met[i], meet, &walk));
	}
	free(walk.met);
	free(walk.is_met);
	return sum;
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
	require(a->status == b->status);
	require(strcmp(a->err.message, b->err.message) == 0);
	require(a->err.offset == b->err.offset);
	if (!a->plain)
		return;
	require(look_at_all(a->plain) == look_at_all(b->plain));
	require(tsi_plain_trailing_bytes(a->plain) == tsi_plain_trailing_bytes(b->plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length > MAX_LENGTH)
		return 0;
	struct outcome whole = read_in_blocks(data, length, 0);
	struct outcome parts = read_in_blocks(data, length, 3);

	/* How far damaged compressed data can be read depends on the blocks. */
	if (whole.is_plain)
		require_same(&whole, &parts);
	tsi_plain_free(whole.plain);
	tsi_plain_free(parts.plain);
	return 0;
}
