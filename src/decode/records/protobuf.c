/* SPDX-License-Identifier: MIT */
/* The wire format of protocol buffers: fields one after another. Lengths are any 64 bits. */
#include "decode/records/protobuf.h"

enum { MAX_VARINT_BYTES = 10, MAX_FIELD_NUMBER = (1 << 29) - 1 };

bool tsi_protobuf_varint(const char **at, const char *end, uint64_t *value)
{
	*value = 0;
	for (unsigned i = 0; i < MAX_VARINT_BYTES && *at < end; i++) {
		unsigned char byte = (unsigned char)*(*at)++;

		*value |= (uint64_t)(byte & 0x7f) << (7 * i); /* of the tenth one bit is left */
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool take_tag(struct protobuf *message, struct protobuf_field *field)
{
	uint64_t tag;

	if (!tsi_protobuf_varint(&message->at, message->end, &tag) || tag >> 3 == 0 ||
	    tag >> 3 > MAX_FIELD_NUMBER || (tag & 7) > PROTOBUF_FIXED32)
		return false;
	field->number = (uint32_t)(tag >> 3);
	field->type = (enum protobuf_type)(tag & 7);
	return true;
}

static bool take_fixed(struct protobuf *message, struct protobuf_field *field, unsigned bytes)
{
	if ((size_t)(message->end - message->at) < bytes)
		return false;
	field->value = tsi_little_endian(message->at, bytes);
	message->at += bytes;
	return true;
}

static bool take_bytes(struct protobuf *message, struct protobuf_field *field)
{
	uint64_t length;

	if (!tsi_protobuf_varint(&message->at, message->end, &length) ||
	    length > (uint64_t)(message->end - message->at))
		return false;
	field->bytes = (struct str){ message->at, (size_t)length };
	message->at += length;
	return true;
}

/* Reads the value after the tag; groups have none. */
static bool take_value(struct protobuf *message, struct protobuf_field *field)
{
	switch (field->type) {
	case PROTOBUF_VARINT:
		return tsi_protobuf_varint(&message->at, message->end, &field->value);
	case PROTOBUF_FIXED64:
		return take_fixed(message, field, 8);
	case PROTOBUF_BYTES:
		return take_bytes(message, field);
	case PROTOBUF_FIXED32:
		return take_fixed(message, field, 4);
	case PROTOBUF_GROUP:
	case PROTOBUF_GROUP_END:
		break;
	}
	return true;
}

/* A field that is in no group; *has_field is false at the end. False: broken. */
static bool take_field(struct protobuf *message, struct protobuf_field *field, bool *has_field)
{
	uint64_t depth = 0;

	*has_field = false;
	while (message->at < message->end) {
		*field = (struct protobuf_field){ 0 };
		if (!take_tag(message, field) || !take_value(message, field))
			return false;
		if (field->type == PROTOBUF_GROUP_END && depth == 0)
			return false;
		if (field->type == PROTOBUF_GROUP) {
			depth++;
		} else if (field->type == PROTOBUF_GROUP_END) {
			depth--;
		} else if (depth == 0) {
			*has_field = true;
			return true;
		}
	}
	return depth == 0;
}

bool tsi_protobuf_next(struct protobuf *message, struct protobuf_field *field)
{
	bool has_field = false;

	if (!message->is_broken)
		message->is_broken = !take_field(message, field, &has_field);
	return has_field;
}
