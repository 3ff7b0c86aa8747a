/* SPDX-License-Identifier: MIT */
#include "tfevents_writer.h"

#include <string.h>

/* ---- checksums ---- */

/* The polynomial over each bit, the lowest of a byte first. */
uint32_t tfevents_crc32c(const void *data, size_t length)
{
	const unsigned char *bytes = data;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < length; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			uint32_t low = (crc ^ (bytes[i] >> bit)) & 1;

			crc = crc >> 1 ^ (low ? UINT32_C(0x82f63b78) : 0);
		}
	return ~crc;
}

uint32_t tfevents_masked_crc(const void *data, size_t length)
{
	uint32_t crc = tfevents_crc32c(data, length);

	return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

/* ---- protocol buffers ---- */

static void add_little_endian(struct bytes *to, uint64_t value, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned char byte = (unsigned char)(value >> (8 * i));

		bytes_add(to, &byte, 1);
	}
}

void pb_raw_varint(struct bytes *message, uint64_t value)
{
	do {
		unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));

		bytes_add(message, &byte, 1);
		value >>= 7;
	} while (value > 0);
}

void pb_tag(struct bytes *message, uint32_t field, unsigned wire_type)
{
	pb_raw_varint(message, (uint64_t)field << 3 | wire_type);
}

void pb_varint(struct bytes *message, uint32_t field, uint64_t value)
{
	pb_tag(message, field, 0);
	pb_raw_varint(message, value);
}

void pb_double(struct bytes *message, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_tag(message, field, 1);
	add_little_endian(message, bits, 8);
}

void pb_float(struct bytes *message, uint32_t field, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pb_tag(message, field, 5);
	add_little_endian(message, bits, 4);
}

void pb_bytes(struct bytes *message, uint32_t field, const void *data, size_t length)
{
	pb_tag(message, field, 2);
	pb_raw_varint(message, length);
	bytes_add(message, data, length);
}

void pb_text(struct bytes *message, uint32_t field, const char *text)
{
	pb_bytes(message, field, text, strlen(text));
}

void pb_message(struct bytes *message, uint32_t field, struct bytes *part)
{
	pb_bytes(message, field, part->data, part->length);
	bytes_reset(part);
}

/* ---- files ---- */

void tfevents_add_record(struct bytes *file, const void *data, size_t length)
{
	size_t start = file->length;

	add_little_endian(file, length, 8);
	add_little_endian(file, tfevents_masked_crc(file->data + start, 8), 4);
	bytes_add(file, data, length);
	add_little_endian(file, tfevents_masked_crc(data, length), 4);
}

void tfevents_begin(struct bytes *file, double wall_time)
{
	struct bytes event = { 0 };

	pb_double(&event, 1, wall_time);
	pb_text(&event, 3, "brain.Event:2");
	tfevents_add_record(file, event.data, event.length);
	bytes_reset(&event);
}

void tfevents_add_value(struct bytes *file, double wall_time, int64_t step, struct bytes *value)
{
	struct bytes event = { 0 }, summary = { 0 };

	pb_double(&event, 1, wall_time);
	if (step != 0)
		pb_varint(&event, 2, (uint64_t)step);
	pb_message(&summary, 1, value);
	pb_message(&event, 5, &summary);
	tfevents_add_record(file, event.data, event.length);
	bytes_reset(&event);
}

void tfevents_add_scalar(struct bytes *file, double wall_time, int64_t step, const char *tag,
			 float value)
{
	struct bytes message = { 0 };

	pb_text(&message, 1, tag);
	pb_float(&message, 2, value);
	tfevents_add_value(file, wall_time, step, &message);
}
