/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_INPUT_READ_AHEAD_H
#define TSCOPE_INPUT_READ_AHEAD_H

#include "base/attributes.h"
#include "input/reader.h"

#include <stddef.h>
#include <tscope/error.h>

/* A piece of a stream, and what comes after it. */
struct block {
	char *data;                /* where readers write */
	size_t room;               /* bytes that fit there */
	size_t length;             /* bytes that were read */
	enum tscope_status status; /* after them: TSCOPE_OK if the stream goes on */
	struct tscope_error error; /* if status < 0 */
};

/* One read of the reader: sets everything but data and room. */
void tsi_block_fill(struct block *block, struct reader *reader);

/*
 * A thread that fills blocks ahead of whoever takes them. As many blocks are
 * in circulation as have been given to it.
 */
struct read_ahead;

/* max_blocks: the most blocks that will ever be given. The reader is borrowed until stop. */
TSI_MUST_CHECK
enum tscope_status tsi_read_ahead_start(struct read_ahead **ret, struct reader *reader,
					size_t max_blocks, struct tscope_error *err);

/* Ends the thread, wherever it is, after the read that it is in. NULL is fine. */
void tsi_read_ahead_stop(struct read_ahead *ahead);

/* Gives a block to be filled. */
void tsi_read_ahead_give(struct read_ahead *ahead, struct block *block);

/* Takes the next block; waits for it. Not to be called after one whose status ended the stream. */
struct block *tsi_read_ahead_take(struct read_ahead *ahead);

#endif
