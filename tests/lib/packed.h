/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_PACKED_H
#define TSCOPE_TESTS_PACKED_H

#include <stddef.h>
#include <stdint.h>

#include "config.h"
#include "input/input.h"

/*
 * Compressed streams for the tests of the input: building them with the
 * codecs' own libraries, and reading them in every way that there is.
 */

/* Bytes that grow as they are added to. */
struct bytes {
	char *data;
	size_t length, capacity;
};

void bytes_add(struct bytes *bytes, const void *data, size_t count);
#define bytes_add_literal(bytes, literal) bytes_add((bytes), (literal), sizeof(literal) - 1)
void bytes_reset(struct bytes *bytes);

/* Text that compresses a little, as a trace does; the same bytes every time. */
void bytes_add_text(struct bytes *bytes, size_t count);

/* One member or frame more, with all the checksums that there are. */
#if HAVE_ZLIB
void bytes_add_gzip(struct bytes *to, const void *data, size_t length);
#endif
#if HAVE_ZSTD
void bytes_add_zstd(struct bytes *to, const void *data, size_t length);
#endif
#if HAVE_LZ4
void bytes_add_lz4(struct bytes *to, const void *data, size_t length);
#endif

/* The codecs of this build; one without a name ends the list. New codec: one row. */
struct codec {
	const char *name, *member;
	size_t magic_bytes;
	void (*add)(struct bytes *to, const void *data, size_t length);
};
extern const struct codec codecs[];

/* Small and large blocks, with and without a thread. */
enum { WAY_COUNT = 12 };
extern const struct input_options ways[WAY_COUNT];

/* What came out of a stream. */
struct outcome {
	enum tscope_status status;
	struct tscope_error error;
	struct bytes output; /* to be reset */
	uint64_t trailing_bytes, source_bytes;
	char filters[64];
};

/*
 * Reads to the end, at least min bytes at a time; 0: by tsi_input_read in between. An error has
 * to come twice, the same.
 */
struct outcome read_all(const struct bytes *from, const struct input_options *options, size_t min);

/* Reads it in every way: whole, and equal to text; or failing with the same error. */
void expect_whole(const struct bytes *from, const struct bytes *text, const char *filters,
		  uint64_t trailing_bytes);
void expect_error(const struct bytes *from, enum tscope_status status, const char *message);

void expect_output(const struct outcome *outcome, const void *data, size_t length);

#endif
