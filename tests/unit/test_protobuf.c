/* SPDX-License-Identifier: MIT */
/*
 * decode/records/protobuf.c: fields as text, "1:v5" for a varint, "f" and "d" for 4 and 8 bytes, "b" for
 * bytes with their number; "broken" at the end of a message that is.
 */
#include "decode/records/protobuf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "tfevents_writer.h"

static void put_field(FILE *out, const struct protobuf_field *field)
{
	static const char letters[] = { [PROTOBUF_VARINT] = 'v',
					[PROTOBUF_FIXED64] = 'd',
					[PROTOBUF_BYTES] = 'b',
					[PROTOBUF_FIXED32] = 'f' };

	fprintf(out, "%" PRIu32 ":%c%" PRIu64 " ", field->number, letters[field->type],
		field->type == PROTOBUF_BYTES ? (uint64_t)field->bytes.length : field->value);
}

/* From memory of its own, so that a byte too many is seen. */
static char *read_message(struct str text)
{
	struct protobuf message;
	struct protobuf_field field;
	char *shown = NULL, *copy = malloc(text.length + 1);
	size_t length;
	FILE *out = open_memstream(&shown, &length);

	assert_non_null(out);
	assert_non_null(copy);
	if (text.length)
		memcpy(copy + 1, text.data, text.length);
	message = tsi_protobuf((struct str){ copy + 1, text.length });
	while (tsi_protobuf_next(&message, &field))
		put_field(out, &field);
	assert_false(tsi_protobuf_next(&message, &field));
	if (message.is_broken)
		fputs("broken", out);
	assert_int_equal(fclose(out), 0);
	free(copy);
	return shown;
}

static void expect(struct str text, const char *expected)
{
	char *shown = read_message(text);

	assert_string_equal(shown, expected);
	free(shown);
}

#define BYTES(literal)                                                                             \
	{                                                                                          \
		literal, sizeof(literal) - 1                                                       \
	}

TEST(test_fields)
{
	static const struct {
		struct str text;
		const char *expected;
	} cases[] = {
		{ BYTES(""), "" },
		/* The example of the format's documentation: field 1, 150. */
		{ BYTES("\x08\x96\x01"), "1:v150 " },
		{ BYTES("\x0d\x01\x02\x00\x00"), "1:f513 " },
		{ BYTES("\x09\x01\x00\x00\x00\x00\x00\x00\x80"), "1:d9223372036854775809 " },
		{ BYTES("\x12\x03\x61\x62\x63\x12\x00"), "2:b3 2:b0 " },
		/* The largest number of a field, 2^29 - 1; the largest varint, 2^64 - 1. */
		{ BYTES("\xf8\xff\xff\xff\x0f\x01"), "536870911:v1 " },
		{ BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		  "1:v18446744073709551615 " },
		/* Longer than needed is no matter, but for eleven bytes. */
		{ BYTES("\x08\x81\x80\x00"), "1:v1 " },
		{ BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), "broken" },
		/* Groups with what is in them. */
		{ BYTES("\x0b\x08\x05\x0c\x10\x07"), "2:v7 " },
		{ BYTES("\x0b\x13\x14\x0d\x01\x02\x03\x04\x0c\x10\x07"), "2:v7 " },
		{ BYTES("\x10\x07\x0b"), "2:v7 broken" },
		{ BYTES("\x10\x07\x0c\x10\x07"), "2:v7 broken" },
		{ BYTES("\x0c\x0b\x10\x07"), "broken" },
		{ BYTES("\x0b\x12\x05\x0c\x0c"), "broken" },
		/* Lengths beyond the end: 1 of 0 bytes, 2^63, 2^64 - 1. */
		{ BYTES("\x12\x01"), "broken" },
		{ BYTES("\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), "broken" },
		{ BYTES("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), "broken" },
		/* No such field, no such type, a number too large. */
		{ BYTES("\x00\x01"), "broken" },
		{ BYTES("\x0e\x01"), "broken" },
		{ BYTES("\x0f\x01"), "broken" },
		{ BYTES("\x80\x80\x80\x80\x10\x01"), "broken" },
		{ BYTES("\x08\x01\x09\x01\x02"), "1:v1 broken" },
		{ BYTES("\x0d\x01\x02\x03"), "broken" },
		{ BYTES("\x08"), "broken" },
		{ BYTES("\x88"), "broken" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect(cases[i].text, cases[i].expected);
}

/* A million groups, one in the other, cost no stack. */
TEST(test_deep_groups)
{
	enum { DEPTH = 1000000 };
	char *text = malloc(2 * (size_t)DEPTH + 2);

	assert_non_null(text);
	memset(text, 0x0b, DEPTH);
	memset(text + DEPTH, 0x0c, DEPTH);
	memcpy(text + 2 * (size_t)DEPTH, "\x10\x07", 2);
	expect((struct str){ text, 2 * (size_t)DEPTH + 2 }, "2:v7 ");
	expect((struct str){ text, 2 * (size_t)DEPTH - 1 }, "broken");
	free(text);
}

TEST(test_cut)
{
	static const char *const expected[] = { "", "broken", "broken" };
	struct bytes message = { 0 };

	pb_varint(&message, 1, 300); /* of three bytes */
	for (size_t length = 0; length < message.length; length++)
		expect((struct str){ message.data, length }, expected[length]);
	bytes_reset(&message);
	pb_bytes(&message, 2, "abcdef", 6); /* of eight */
	for (size_t length = 1; length < message.length; length++)
		expect((struct str){ message.data, length }, "broken");
	bytes_reset(&message);
}

TEST(test_numbers)
{
	assert_int_equal(tsi_little_endian("\x01\x02\x03\xff", 4), 0xff030201);
	assert_int_equal(tsi_little_endian("\x01\x02", 1), 1);
	assert_true(tsi_double_of_bits(UINT64_C(0x3ff8000000000000)) == 1.5);
	assert_true(tsi_float_of_bits(UINT32_C(0xbfc00000)) == -1.5);
}
