/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PLAIN_READING_H
#define TSCOPE_TESTS_PLAIN_READING_H

#include "decode/plain/plain_reader.h"
#include "packed.h"

/*
 * One document for a reader of plain data, and what must come of it: the data as
 * plain_dump.h writes it, or status, message and place of the error.
 */
struct plain_reading {
	const char *data;
	size_t length;
	const char *expected; /* dump, or message */
	enum tscope_status status;
	uint64_t offset;
	bool has_offset;
};

#define PLAIN_GOOD(text, dump)                                                                     \
	{                                                                                          \
		.data = (text), .length = sizeof(text) - 1, .expected = (dump)                     \
	}
#define PLAIN_BAD(text, fails_with, at, message)                                                   \
	{                                                                                          \
		.data = (text), .length = sizeof(text) - 1, .expected = (message),                 \
		.status = TSCOPE_E_##fails_with, .offset = (at), .has_offset = true                \
	}
/* Where the error says the place in words, or there is none. */
#define PLAIN_REFUSED(text, fails_with, message)                                                   \
	{                                                                                          \
		.data = (text), .length = sizeof(text) - 1, .expected = (message),                 \
		.status = TSCOPE_E_##fails_with                                                    \
	}

/* Reads; NULL where it fails. block_bytes: shown at a time; 0: the default. */
struct plain *plain_read(const struct plain_reader *reader, const void *data, size_t length,
			 const struct plain_limits *limits, size_t block_bytes,
			 struct tscope_error *err);

/* The same of what must succeed. */
struct plain *plain_read_good(const struct plain_reader *reader, const void *data, size_t length);

/* Every case in blocks of 1, 2, 3, 7 and many bytes. */
void plain_check_readings(const struct plain_reader *reader, const struct plain_reading *cases,
			  size_t count);

/*
 * Cut at every byte. is_damaged: that must be TSCOPE_E_DAMAGED, "truncated", or TSCOPE_E_EMPTY;
 * else what is left may be a document, or none.
 */
void plain_check_cuts(const struct plain_reader *reader, const void *data, size_t length,
		      bool is_damaged);

/* Each allocation fails once: TSCOPE_E_NOMEM, and all is freed. */
void plain_check_allocations(const struct plain_reader *reader, const void *data, size_t length);

#endif
