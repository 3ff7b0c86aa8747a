/* SPDX-License-Identifier: MIT */
/*
 * decode/events/members.c against json.c's object iteration, the simple way to the same
 * members: on args in the layouts of several writers, mixed and damaged, with
 * one layout learned over all of them.
 */
#include "decode/events/members.h"

#include "check.h"
#include "decode/json.h"
#include "input/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number for a key that two keys hardly share. */
static unsigned field_of(struct str key)
{
	unsigned hash = 7;
	for (size_t i = 0; i < key.length; i++)
		hash = hash * 31 + (unsigned char)key.data[i];
	return hash % 251;
}

static void compare_on(const struct scan_isa *isa, struct layout *layout, const char *text,
		       size_t length)
{
	char *copy = malloc(length + TSI_INPUT_PADDING);
	memcpy(copy, text, length);
	memset(copy + length, '1',
	       TSI_INPUT_PADDING); /* must not be taken for digits of the last value */
	struct str args = tsi_str_trim((struct str){ copy, length }); /* as events bring them */

	struct json_cursor expected;
	struct members members = tsi_members_open(isa, layout, field_of, args);
	struct str key, value, expected_value;
	unsigned field;
	tsi_json_object_open(&expected, args);
	while (tsi_json_object_next(&expected, &key, &expected_value)) {
		if (!tsi_members_next(&members, &field, &value))
			fail_msg("%.*s: no member %.*s", (int)length, text, (int)key.length,
				 key.data);
		if (field != field_of(key) || value.data != expected_value.data ||
		    value.length != expected_value.length)
			fail_msg("%.*s: %.*s is %.*s instead of %.*s", (int)length, text,
				 (int)key.length, key.data, (int)value.length, value.data,
				 (int)expected_value.length, expected_value.data);
	}
	assert_false(tsi_members_next(&members, &field, &value));
	free(copy);
}

/* With every instruction set, the layout learned by one being that of the others. */
static void compare(struct layout *layout, const char *text, size_t length)
{
	static const char *const names[] = { "plain", "sse2", "avx2", "neon" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tsi_scan_isa(names[i]))
			compare_on(tsi_scan_isa(names[i]), layout, text, length);
}

static const char *const samples[] = {
	"{\n      \"External id\": 1,\"Record function id\": 0, \"Ev Idx\": 3\n    }",
	"{\n      \"External id\": 25,\"Record function id\": 0, \"Ev Idx\": 40\n    }",
	"{\n      \"queued\": 0, \"device\": 0, \"context\": 1,\n      \"stream\": 7, "
	"\"correlation\": 5,\n"
	"      \"est. achieved occupancy %\": 31,\n      \"grid\": [1, 2, 3],\n      \"block\": "
	"[128, 1, 1],\"x\": 0.97\n    }",
	"{\"External id\":12,\"Input Dims\":[[2,3],[],[[4]]],\"Input "
	"type\":[\"float\",\"]\"],\"name\":\"a\\\"b\"}",
	"{\"kind\": \"DtoD\", \"bytes\": \"4096\", \"bandwidth\": N/A, \"y\": -1, \"z\": null, "
	"\"q\": {\"a\": {}}}",
	"{}",
	"{ }",
	"",
	"7",
	"\"__stripped__\"",
	"{\"a\":1,}",
	"{,\"a\":1}",
	"{\"a\":1 \"b\":2}",
	"{\"a\":}",
};

TEST(test_samples)
{
	struct layout *layout = calloc(1, sizeof(*layout));
	for (int round = 0; round < 3; round++)
		for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
			compare(layout, samples[i], strlen(samples[i]));
	assert_true(layout->glue_count > 10);
	free(layout);
}

TEST(test_cut_and_damaged)
{
	static const char bytes[] = "\"\\{}[],: \nx1.-";
	struct layout *layout = calloc(1, sizeof(*layout));
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		size_t length = strlen(samples[i]);
		char text[512];
		for (size_t cut = 0; cut <= length; cut++)
			compare(layout, samples[i], cut);
		for (size_t at = 0; at < length; at++) {
			memcpy(text, samples[i], length);
			for (size_t b = 0; b < sizeof(bytes) - 1; b++) {
				text[at] = bytes[b];
				compare(layout, text, length);
			}
		}
	}
	free(layout);
}

/* More layouts than are remembered: read the general way, and right. */
TEST(test_full_layout)
{
	struct layout *layout = calloc(1, sizeof(*layout));
	for (int i = 0; i < 2000; i++) {
		char text[128];
		int length = snprintf(text, sizeof(text), "{\"key%d\": %d, \"a\"%*s: 2, \"b%d\":3}",
				      i % 700, i, i % 9, "", i % 50);
		compare(layout, text, (size_t)length);
	}
	assert_true(layout->glue_count < GLUE_COUNT);
	free(layout);
}
