/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_FILTER_H
#define TSCOPE_INPUT_FILTER_H

#include "base/attributes.h"
#include "input/reader.h"
#include "input/window.h"

#include <stdbool.h>
#include <stddef.h>
#include <tscope/error.h>

/*
 * Filters: what undoes a compression.
 *
 * To add one: write filter_x.c, which defines `const struct filter tsi_filter_x`;
 * add FILTER(x) to filter_list.h and the file to meson.build; add a row to
 * codecs[] in tests/lib/packed.c, and what only x has to test_input_codecs.c.
 *
 * A compressed stream is a row of members (gzip) or frames (zstd, lz4) that
 * each stand alone. A filter knows how to read one. All else is filter.c's:
 * finding the next member, counting them, naming them in errors, telling a
 * truncated one from the end, garbage behind the last one, and the limits.
 */

/* Buffers that decode reads and writes; it moves in and out forward. */
struct filter_io {
	const char *in, *in_end;
	char *out, *out_end;
};

/* Extent of a member, as far as known without decoding it. */
struct extent {
	size_t packed_bytes; /* from its magic to its last byte; 0: not known */
	size_t output_bytes; /* at most */
	bool is_skippable;   /* a frame that is none of the members */
};

struct filter {
	const char *name;   /* "zstd" */
	const char *member; /* what its stream is a row of: "frame" */
	const char *magic;  /* the first bytes of each */
	size_t magic_bytes;
	bool has_skippable_frames;

	/* Remedy in a build that cannot read it: then there is nothing below. */
	const char *missing;

	/* The state that serves all members; not yet in any of them. */
	enum tscope_status (*open)(void **codec, struct tscope_error *err);
	void (*close)(void *codec);

	/*
	 * Looks at and may consume the header of a member; the magic is there.
	 * Does whatever must be done anew for each.
	 */
	enum tscope_status (*begin)(void *codec, struct window *from, struct tscope_error *err);

	/*
	 * Decodes some. TSCOPE_END: the member is over. TSCOPE_OK: give me more
	 * of what ran out; where nothing has moved although there is room, that
	 * is input. io->in may be empty: what is kept inside is then wanted.
	 * Fails with a message without a place, as "corrupt: bad checksum".
	 */
	enum tscope_status (*decode)(void *codec, struct filter_io *io, struct tscope_error *err);

	/* Consumes and checks what stands behind the data of a member; NULL: nothing does. */
	enum tscope_status (*end)(void *codec, struct window *from, struct tscope_error *err);

	/*
	 * The two for decoding the next members meanwhile (frames.h); NULL: never.
	 *
	 * The extent of the member whose first bytes these are. Where packed_bytes
	 * is more than length, that many bytes are needed. Not known for more output than
	 * MEASURED_BYTES_MAX.
	 */
	struct extent (*measure)(const unsigned char *data, size_t length);

	/*
	 * Decodes members that were measured, skippable frames among them, all at
	 * once; io->out moves on. False: not every one of them is whole and good, or
	 * there is anything that begin, decode and end would say of it.
	 */
	bool (*decode_whole)(void *codec, struct filter_io *io);
};

enum { MEASURED_BYTES_MAX = 16 << 20 };

/* The filter that these first bytes ask for, or NULL. */
const struct filter *tsi_filter_find(const char *data, size_t length);

/* Puts a filter to work as a reader. Owns `from`, even where this fails. */
TSI_MUST_CHECK
enum tscope_status tsi_filter_open(struct reader **ret, const struct filter *filter,
				   struct window *from, struct flow *flow,
				   struct tscope_error *err);

/* For begin and end: count bytes, or TSCOPE_E_DAMAGED "truncated". */
TSI_MUST_CHECK
enum tscope_status tsi_filter_need(struct window *from, size_t count, const unsigned char **data,
				   struct tscope_error *err);

/* Consumes all skippable frames (zstd and lz4 share them) at this place. */
TSI_MUST_CHECK
enum tscope_status tsi_filter_skip_frames(struct window *from, struct tscope_error *err);

/* The extent of a member, or of a skippable frame, as filter->measure. */
struct extent tsi_filter_measure(const struct filter *filter, const unsigned char *data,
				 size_t length);

#endif
