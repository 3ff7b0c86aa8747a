/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_FUZZ_WALK_PLAIN_H
#define TSCOPE_FUZZ_WALK_PLAIN_H

#include "decode/plain/plain.h"

#include <stdlib.h>
#include <string.h>

/*
 * For fuzz targets that make plain data: looks at every object of it once. Traps where a graph
 * points out of itself, or a dict does not find what it shows. A target is one source file, hence
 * the code here.
 */
enum { MAX_ITEMS_AT_ONCE = 7 };

static void require(bool holds)
{
	if (!holds)
		abort();
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

/* A sum of all that can be seen: equal for equal data. */
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

#endif
