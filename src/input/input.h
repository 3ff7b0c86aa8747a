/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_INPUT_H
#define TSCOPE_INPUT_INPUT_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Bytes, decompressed, in order: what every decoder reads from.
 *
 * There is one primitive, peek: "show me at least this many bytes from where I
 * am". consume() moves on. Whatever lies behind (file, pipe, memory, gzip
 * inside zstd, another thread that decompresses ahead) looks the same, and a
 * decoder never sees where one block ends and the next begins.
 *
 * To add a source or a filter see filter.h.
 */
struct input;
struct tscope_members;

struct input_options {
	/* Bytes asked of the source at a time; 0: the default (256 KiB). Tests use 1, 2, 3. */
	size_t block_bytes;
	/* No second thread: decompress when asked. (Else it begins with the second block.) */
	bool single_thread;
	/* The most threads that decompress, where there are several members; 0: all there are. */
	unsigned thread_count;
	/* Limits; 0: the defaults in input.c. */
	unsigned max_filter_depth;
	uint64_t max_output_bytes;
	uint64_t max_ratio; /* of decompressed to compressed bytes, looked at from 64 MiB on */
	enum {
		INPUT_READS_ARCHIVES,   /* the file in it, if there is only one, as of a gzip */
		INPUT_SHOWS_ARCHIVES,   /* the bytes of the archive: tsi_input_archive() names it */
		INPUT_REFUSES_ARCHIVES, /* as kinds of files that nobody reads */
	} archives;
	/* Members of archives: their paths are files, too (members.h); NULL: there are none. */
	const struct tscope_members *members;
};

/*
 * Opens a file, or standard input for "-"; also one in an archive: ranks.tar/rank0.json. The
 * filters are found by tasting the bytes, never by the name. The caller closes.
 * Fails with TSCOPE_E_IO (cannot open or read), TSCOPE_E_UNSUPPORTED (a
 * compression that this build cannot undo, or an archive: named, with the
 * remedy), TSCOPE_E_LIMIT (nested too deep).
 */
TSI_MUST_CHECK
enum tscope_status tsi_input_open_file(struct input **ret, const char *path,
				       const struct input_options *options,
				       struct tscope_error *err);

/* Opens bytes in memory, which the caller keeps until close. */
TSI_MUST_CHECK
enum tscope_status tsi_input_open_memory(struct input **ret, const void *data, size_t length,
					 const struct input_options *options,
					 struct tscope_error *err);

/*
 * Opens an input over a reader (reader.h), which the input owns even if this fails. Compressed data
 * in it stays compressed.
 */
struct reader;
TSI_MUST_CHECK
enum tscope_status tsi_input_open_reader(struct input **ret, struct reader *source,
					 const struct input_options *options,
					 struct tscope_error *err);

/* From now on calls tick every few megabytes that are consumed, from within tsi_input_peek(). */
void tsi_input_watch(struct input *in, void (*tick)(void *tick_data), void *tick_data);

/* Stops the thread if there is one. NULL is fine. */
void tsi_input_close(struct input *in);

/* Bytes behind those shown by tsi_input_peek() that may be read, though they mean nothing. */
enum { TSI_INPUT_PADDING = 64 };

/*
 * Shows bytes from the current position without moving it: *data points to
 * *available >= min of them (min >= 1), valid until the next call on `in`.
 * More than min are shown where they are at hand. TSI_INPUT_PADDING bytes behind
 * them may be read, so that a reader of whole blocks need not look where it stops.
 *
 * TSCOPE_END: the stream is over and fewer than min bytes are left; *data and
 * *available still show those (perhaps none).
 * TSCOPE_E_DAMAGED, _IO, _LIMIT: the stream broke after the bytes shown, which
 * are good; the same answer comes again when they have been consumed.
 * TSCOPE_E_NOMEM as usual; then *available is 0.
 *
 * Cost: amortised O(1) per byte as long as min does not exceed a block by much.
 */
TSI_MUST_CHECK
enum tscope_status tsi_input_peek(struct input *in, size_t min, const char **data,
				  size_t *available, struct tscope_error *err);

/*
 * Fills room (>= 1) bytes of the caller's with those from the current position,
 * and moves on by *got: what was shown but not consumed first, then straight
 * from what decompresses them. For those who work on many pieces at once: each
 * takes its own under one lock, and parses it outside. No thread decompresses
 * ahead, unless peek was asked for more than one block before.
 *
 * TSCOPE_OK: *got is room. Else what follows the *got bytes that are left, as
 * peek says it; it comes again with the next call.
 */
TSI_MUST_CHECK
enum tscope_status tsi_input_read(struct input *in, char *into, size_t room, size_t *got,
				  struct tscope_error *err);

/* Moves on by count bytes, no more than were shown last. */
void tsi_input_consume(struct input *in, size_t count);

/* The most that one read of the source brings. */
size_t tsi_input_block_bytes(const struct input *in);

/*
 * Where several threads read one input: bytes of the stream from any place and
 * any thread, beside what peek shows. *got < room: there the stream ends, or
 * breaks with the status returned. Only of what is not compressed, and no pipe:
 * tsi_input_has_places().
 */
bool tsi_input_has_places(const struct input *in);
TSI_MUST_CHECK
enum tscope_status tsi_input_read_at(const struct input *in, uint64_t offset, char *into,
				     size_t room, size_t *got, struct tscope_error *err);

/* Sets the position; what is shown and comes next is undefined from then on. */
void tsi_input_skip_to(struct input *in, uint64_t offset);

/* Ends the wait for the bytes of a pipe in tsi_input_peek(), as if there were no more. */
void tsi_input_stop(struct input *in);

/* Bytes consumed so far: the position in the decompressed stream. Any thread. */
uint64_t tsi_input_offset(const struct input *in);

/* Bytes taken from the source so far (compressed), for progress. Any thread. */
uint64_t tsi_input_source_offset(const struct input *in);

/* Size of the source in bytes, or 0 where it is not known (pipes). */
uint64_t tsi_input_source_bytes(const struct input *in);

/*
 * Size of the input for reports: that of the source where it is known, else the bytes taken from
 * it. The latter is not defined for an input given up: reading ahead may be anywhere.
 */
uint64_t tsi_input_stored_bytes(const struct input *in);

/* The filters in use, outermost first: "gzip", "zstd+gzip", or "none". */
const char *tsi_input_filters(const struct input *in);

/* "tar archive", where the input is the bytes of one (INPUT_SHOWS_ARCHIVES); else NULL. */
const char *tsi_input_archive(const struct input *in);

/* Refuses it, as where archives are not read. */
enum tscope_status tsi_input_refuse_archive(const struct input *in, struct tscope_error *err);

/* Garbage that followed the last gzip member or zstd frame and was ignored; bytes. */
uint64_t tsi_input_trailing_bytes(const struct input *in);

/*
 * Names the kind of an unsuitable input by its first bytes ("xz-compressed data", "PNG image",
 * "SQLite database", "zip archive") or NULL where they say nothing.
 */
const char *tsi_input_name_of_magic(const char *data, size_t length);

#endif
