/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_WINDOW_H
#define TSCOPE_INPUT_WINDOW_H

#include "base/attributes.h"
#include "input/reader.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * A window over the bytes of a reader: peek shows, consume moves on. It keeps the promises of
 * tsi_input_peek (input.h).
 *
 * Bytes are shown where they were read, inside a block. Only what is left of
 * one block when more is asked for is copied: in front of the next block,
 * which keeps room there, or, where that is too small, into a side buffer
 * together with the whole next block.
 *
 *	block 1  [ headroom | ......................tail ]
 *	block 2  [     tail | ........................... ]
 *	                ^ shown from here on
 */
struct window;

/*
 * block_bytes: how much the reader is asked for at a time. The window owns the
 * reader, even where this fails.
 */
TSI_MUST_CHECK
enum tscope_status tsi_window_new(struct window **ret, struct reader *reader, size_t block_bytes,
				  struct tscope_error *err);

/* Stops the thread, frees the reader and all behind it. NULL is fine. */
void tsi_window_free(struct window *window);

/* From the second block on that is peeked at, the reader runs in a thread, some blocks ahead. */
void tsi_window_read_ahead(struct window *window);

/* As tsi_input_peek, tsi_input_read, tsi_input_consume and tsi_input_offset. */
TSI_MUST_CHECK
enum tscope_status tsi_window_peek(struct window *window, size_t min, const char **data,
				   size_t *available, struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_window_read(struct window *window, char *into, size_t room, size_t *got,
				   struct tscope_error *err);
void tsi_window_consume(struct window *window, size_t count);
uint64_t tsi_window_offset(const struct window *window);

/* The reader, if it is a source that can be read at any place; else NULL. */
struct reader *tsi_window_source(const struct window *window);

/* Goes on at this offset of such a source, which is not before the present one. */
void tsi_window_seek(struct window *window, uint64_t offset);

/* As tsi_input_skip_to. */
void tsi_window_skip_to(struct window *window, uint64_t offset);

#endif
