/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DECODE_RECORDS_PROTOBUF_H
#define TSCOPE_DECODE_RECORDS_PROTOBUF_H

#include "base/str.h"

/*
 * Messages of protocol buffers that lie in memory as a whole, without their definitions: the
 * fields as they follow one another, for the caller to pick those that it knows.
 *
 *	struct protobuf message = tsi_protobuf(text);
 *	struct protobuf_field field;
 *	while (tsi_protobuf_next(&message, &field))
 *		if (field.number == 2 && field.type == PROTOBUF_VARINT)
 *			step = (int64_t)field.value;
 *	if (message.is_broken)
 *		…
 *
 * Groups are skipped with what is in them.
 */
struct protobuf {
	const char *at, *end;
	bool is_broken; /* it ended before its end: what follows cannot be parsed */
};

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* texts, messages, packed numbers */
	PROTOBUF_GROUP = 3,
	PROTOBUF_GROUP_END = 4,
	PROTOBUF_FIXED32 = 5,
};

struct protobuf_field {
	uint32_t number;
	enum protobuf_type type; /* no group */
	uint64_t value;          /* of numbers, as their bits */
	struct str bytes;        /* of PROTOBUF_BYTES */
};

static inline struct protobuf tsi_protobuf(struct str text)
{
	const char *start = text.length ? text.data : ""; /* a text without bytes may be NULL */

	return (struct protobuf){ .at = start, .end = start + text.length };
}

/* False at the end of the message, and where it is broken. */
bool tsi_protobuf_next(struct protobuf *message, struct protobuf_field *field);

/* Numbers of any byte order's machine: the first byte is the lowest. */
static inline uint64_t tsi_little_endian(const char *bytes, unsigned count)
{
	uint64_t value = 0;

	for (unsigned i = count; i > 0; i--)
		value = value << 8 | (unsigned char)bytes[i - 1];
	return value;
}

/* Bits as the IEEE numbers that they are. */
static inline double tsi_double_of_bits(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline double tsi_float_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

/* A varint at *at, which is moved behind it. False: it is cut or too long. */
bool tsi_protobuf_varint(const char **at, const char *end, uint64_t *value);

#endif
