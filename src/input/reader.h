/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_READER_H
#define TSCOPE_INPUT_READER_H

#include "base/attributes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A reader gives bytes in order, once. A source (file, memory) is one, and so
 * is a filter at work, which takes its own bytes through a window (window.h)
 * over the reader before it:
 *
 *	source <- window <- filter <- window <- filter <- window <- decoder
 *
 * Everything is owned from right to left: freeing the last window frees all.
 */
struct reader {
	/*
	 * Writes up to room (>= 1) bytes to `into`. TSCOPE_OK: *got >= 1, go on.
	 * Anything else ends the stream, after *got (perhaps 0) good bytes.
	 */
	enum tscope_status (*read)(struct reader *reader, char *into, size_t room, size_t *got,
				   struct tscope_error *err);
	void (*close)(struct reader *reader);
	/*
	 * Sources whose bytes can be had at any place: reads some of those at an offset, as
	 * pread(2) does, from any thread. *got == 0: none are there. NULL: only in order.
	 */
	enum tscope_status (*read_at)(struct reader *reader, uint64_t offset, char *into,
				      size_t room, size_t *got, struct tscope_error *err);
	/* Where there is read_at: read goes on at this offset, up to which all counts as taken. */
	void (*seek)(struct reader *reader, uint64_t offset);
};

/* Shared by all readers of one input. The atomic ones are read from any thread. */
struct flow {
	uint64_t source_size_bytes; /* 0: not known */
	uint64_t max_output_bytes;
	uint64_t max_ratio;
	size_t block_bytes;                   /* asked of the source at a time */
	unsigned thread_count;                /* that may decompress */
	atomic_uint_least64_t source_bytes;   /* taken from the source */
	atomic_uint_least64_t trailing_bytes; /* garbage behind compressed data */
	atomic_bool stop;                     /* nobody wants the bytes any more */
};

/*
 * The two sources. "-" is standard input. Reading ends early with TSCOPE_END
 * once flow->stop is set. flow and data must outlive the reader.
 */
TSI_MUST_CHECK
enum tscope_status tsi_reader_open_file(struct reader **ret, const char *path, struct flow *flow,
					struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_reader_open_memory(struct reader **ret, const void *data, size_t length,
					  struct flow *flow, struct tscope_error *err);

#endif
