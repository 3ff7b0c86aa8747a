/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ERROR_H
#define TSCOPE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Every fallible function returns an enum tscope_status and takes a
 * struct tscope_error as its last argument. The caller owns the error; it is
 * of fixed size, needs no allocation and nothing in it is to be freed.
 *
 * On success the error is untouched. On failure it is filled once, where the
 * failure happened, and the outer stages put their place in front of the
 * message ("trace.json.zst: zstd frame 3: truncated"). A NULL error is
 * allowed everywhere: then only the status is known.
 */

enum tscope_status {
	TSCOPE_OK = 0,
	TSCOPE_END = 1,            /* an iterator or a stream is exhausted; not an error */
	TSCOPE_E_NOMEM = -1,       /* out of memory */
	TSCOPE_E_IO = -2,          /* the operating system refused: open, read */
	TSCOPE_E_FORMAT = -3,      /* not a format that tscope knows */
	TSCOPE_E_UNSUPPORTED = -4, /* known, named in the message, but not read by this build */
	TSCOPE_E_DAMAGED = -5,     /* a known format whose bytes are wrong or end too early */
	TSCOPE_E_LIMIT = -6,       /* a limit was hit; the message names it */
	TSCOPE_E_EMPTY = -7,       /* readable, but holds nothing to analyse */
	TSCOPE_E_WRITE = -8,       /* the report could not be written */
	TSCOPE_E_INTERNAL = -9,    /* a bug of ours */
};

struct tscope_error {
	enum tscope_status status;
	bool has_offset;
	uint64_t offset;   /* byte offset in the stream, if has_offset */
	char message[488]; /* lower case, no full stop, never longer than this; NUL-terminated */
};

/* A short text for a status ("out of memory"). Never NULL, static. */
const char *tscope_status_text(enum tscope_status status);

#endif
