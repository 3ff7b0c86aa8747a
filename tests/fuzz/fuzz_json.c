/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target for decode/json.h, the readers of JSON that lies in memory: the input is taken for
 * a value, walked down through objects and arrays, and every leaf is converted in every way.
 * Traps where a reader hands out bytes that are not the input's, or writes more than it may.
 */
#include "fuzz.h"

#include "base/str.h"
#include "decode/json.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 64 << 10, MAX_DEPTH = 64 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void require_inside(struct str part, struct str whole)
{
	if (part.length == 0)
		return;
	require(part.data >= whole.data);
	require(part.data + part.length <= whole.data + whole.length);
}

static void convert_leaf(struct str value, char *scratch)
{
	uint64_t bad_escapes = 0, natural;
	int64_t integer;
	double real;
	struct str inside = tsi_json_unquote(value);

	require_inside(inside, value);
	require(tsi_json_unescape(inside, scratch, &bad_escapes) <= inside.length);
	if (tsi_json_to_int64(value, &integer) && tsi_json_to_uint64(value, &natural))
		require(integer >= 0 && (uint64_t)integer == natural);
	(void)tsi_json_to_double(value, &real);
	(void)tsi_json_to_ns(value, &integer);
}

/* Objects and arrays alike: each reader must end on either, and on what is neither. */
static void walk(struct str value, char *scratch, unsigned depth)
{
	struct json_cursor members;
	struct json_cursor items;
	struct str key, item;

	convert_leaf(value, scratch);
	if (depth == 0)
		return;
	tsi_json_object_open(&members, value);
	while (tsi_json_object_next(&members, &key, &item)) {
		if (key.data != members.key) /* without its escapes */
			require_inside(key, value);
		require_inside(item, value);
		require(item.length < value.length);
		walk(item, scratch, depth - 1);
	}
	tsi_json_array_open(&items, value);
	while (tsi_json_array_next(&items, &item)) {
		require_inside(item, value);
		require(item.length < value.length);
		walk(item, scratch, depth - 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	if (length > MAX_LENGTH)
		return 0;
	/* A copy of just this length: a read beyond the end is then seen. */
	char *text = malloc(length + 1), *scratch = malloc(length + 1);

	if (text && scratch) {
		struct str value = { .data = text, .length = length };
		struct tscope_error err = { 0 };

		memcpy(text, data, length);
		if (tsi_json_check(value, MAX_DEPTH, &err) != TSCOPE_OK)
			require(err.message[0] != '\0');
		walk(value, scratch, MAX_DEPTH);
	}
	free(text);
	free(scratch);
	return 0;
}
