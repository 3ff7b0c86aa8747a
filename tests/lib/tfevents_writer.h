/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_TFEVENTS_WRITER_H
#define TSCOPE_TESTS_TFEVENTS_WRITER_H

#include "packed.h"

/*
 * Writes TensorBoard event files, and the protocol buffers in them, from what their definitions
 * say. The checksum is computed bit by bit: a second implementation beside the one that is tested.
 */
uint32_t tfevents_crc32c(const void *data, size_t length);
uint32_t tfevents_masked_crc(const void *data, size_t length);

/* A record with its length and both checksums. */
void tfevents_add_record(struct bytes *file, const void *data, size_t length);

/* The event that every file begins with. */
void tfevents_begin(struct bytes *file, double wall_time);

/* A scalar as PyTorch's SummaryWriter writes it, in an event by itself. */
void tfevents_add_scalar(struct bytes *file, double wall_time, int64_t step, const char *tag,
			 float value);

/* Fields of a message; a message in it is written by itself and added with pb_bytes(). */
void pb_varint(struct bytes *message, uint32_t field, uint64_t value);
void pb_double(struct bytes *message, uint32_t field, double value);
void pb_float(struct bytes *message, uint32_t field, float value);
void pb_bytes(struct bytes *message, uint32_t field, const void *data, size_t length);
void pb_text(struct bytes *message, uint32_t field, const char *text);
void pb_tag(struct bytes *message, uint32_t field, unsigned wire_type);
void pb_raw_varint(struct bytes *message, uint64_t value);

/* Field `field` of message: what was written to part, which is reset. */
void pb_message(struct bytes *message, uint32_t field, struct bytes *part);

/* An event of one value, a message that was written to value, which is reset. */
void tfevents_add_value(struct bytes *file, double wall_time, int64_t step, struct bytes *value);

#endif
