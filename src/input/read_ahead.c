/* SPDX-License-Identifier: MIT */
/*
 * Reading ahead: decompression and parsing are about equally long, so the last
 * filter runs in its own thread and hands blocks over. Two queues make the
 * ring: empty blocks go in, filled ones come out. Nothing is allocated while it
 * turns, and a thread that has no block to work on sleeps.
 */
#include "input/read_ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/queue.h"
#include "input/input.h"

struct read_ahead {
	struct reader *reader;
	struct queue *empty, *filled;
	struct thread *thread;
};

void tsi_block_fill(struct block *block, struct reader *reader)
{
	block->length = 0;
	block->status =
		reader->read(reader, block->data, block->room, &block->length, &block->error);
	memset(block->data + block->length, 0, TSI_INPUT_PADDING);
}

static void fill_blocks(void *argument)
{
	struct read_ahead *ahead = argument;
	struct block *block;
	enum tscope_status status = TSCOPE_OK;
	while (status == TSCOPE_OK && (block = tsi_queue_pop(ahead->empty)) != NULL) {
		tsi_block_fill(block, ahead->reader);
		status = block->status;
		if (!tsi_queue_push(ahead->filled, block))
			return;
	}
}

enum tscope_status tsi_read_ahead_start(struct read_ahead **ret, struct reader *reader,
					size_t max_blocks, struct tscope_error *err)
{
	struct read_ahead *ahead = calloc(1, sizeof(*ahead));
	if (!ahead)
		return tsi_fail_nomem(err);
	ahead->reader = reader;
	if (tsi_queue_new(&ahead->empty, max_blocks, err) != TSCOPE_OK ||
	    tsi_queue_new(&ahead->filled, max_blocks, err) != TSCOPE_OK ||
	    tsi_thread_start(&ahead->thread, fill_blocks, ahead, err) != TSCOPE_OK) {
		tsi_read_ahead_stop(ahead);
		return TSCOPE_E_NOMEM;
	}
	*ret = ahead;
	return TSCOPE_OK;
}

void tsi_read_ahead_stop(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->thread) {
		tsi_queue_close(ahead->empty);
		tsi_queue_close(ahead->filled);
		tsi_thread_join(ahead->thread);
	}
	tsi_queue_free(ahead->empty);
	tsi_queue_free(ahead->filled);
	free(ahead);
}

void tsi_read_ahead_give(struct read_ahead *ahead, struct block *block)
{
	/* Refused only once the queue is closed, and only stop closes it. */
	bool taken = tsi_queue_push(ahead->empty, block);
	(void)taken;
}

struct block *tsi_read_ahead_take(struct read_ahead *ahead)
{
	return tsi_queue_pop(ahead->filled);
}
