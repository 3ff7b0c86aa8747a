/* SPDX-License-Identifier: MIT */
/*
 * The window between any two stages of the input, and the last one, which the
 * decoder looks through. Alone it has one block, read into again and again
 * while it stays in the cache; with a thread a few that go round. The thread
 * begins with the second block that is peeked at: what is small needs none, nor
 * does who reads.
 */
#include "input/window.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/input.h"
#include "input/read_ahead.h"

enum {
	RING_BLOCKS = 4,
	/* The part of a block that is kept free before its data, for tails. */
	HEADROOM_SHARE = 4,
};

struct window {
	struct reader *reader;
	size_t block_bytes, headroom_bytes;
	const char *at, *end; /* what is shown: inside the current block or gathered */
	bool is_aside;        /* it is gathered */
	_Atomic uint64_t
		offset; /* written by the reader alone; progress looks at it from elsewhere */
	struct block *current; /* the block read last: its status is what follows `end` */
	bool may_read_ahead;
	struct read_ahead *ahead; /* NULL: no thread */
	char *gathered;           /* the side buffer */
	size_t gathered_capacity;
	char *memory[RING_BLOCKS]; /* of the blocks */
	struct block blocks[RING_BLOCKS];
};

static enum tscope_status allocate_block(struct window *window, size_t i, struct tscope_error *err)
{
	size_t bytes = window->headroom_bytes + window->block_bytes + TSI_INPUT_PADDING;
	if (tsi_array_make(&window->memory[i], bytes, 1, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	window->blocks[i].data = window->memory[i] + window->headroom_bytes;
	window->blocks[i].room = window->block_bytes;
	return TSCOPE_OK;
}

enum tscope_status tsi_window_new(struct window **ret, struct reader *reader, size_t block_bytes,
				  struct tscope_error *err)
{
	struct window *window = calloc(1, sizeof(*window));
	if (!window) {
		reader->close(reader);
		return tsi_fail_nomem(err);
	}
	window->reader = reader;
	window->block_bytes = block_bytes;
	window->headroom_bytes = block_bytes / HEADROOM_SHARE;
	if (allocate_block(window, 0, err) != TSCOPE_OK) {
		tsi_window_free(window);
		return TSCOPE_E_NOMEM;
	}
	window->current = &window->blocks[0];
	window->at = window->end = window->current->data;
	*ret = window;
	return TSCOPE_OK;
}

void tsi_window_free(struct window *window)
{
	if (!window)
		return;
	tsi_read_ahead_stop(window->ahead);
	window->reader->close(window->reader);
	for (size_t i = 0; i < RING_BLOCKS; i++)
		free(window->memory[i]);
	free(window->gathered);
	free(window);
}

void tsi_window_read_ahead(struct window *window)
{
	window->may_read_ahead = true;
}

static enum tscope_status start_thread(struct window *window, struct tscope_error *err)
{
	for (size_t i = 1; i < RING_BLOCKS; i++)
		if (!window->memory[i] && allocate_block(window, i, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	if (tsi_read_ahead_start(&window->ahead, window->reader, RING_BLOCKS, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	/* One block is being shown; it joins the others when the next one is. */
	for (size_t i = 1; i < RING_BLOCKS; i++)
		tsi_read_ahead_give(window->ahead, &window->blocks[i]);
	return TSCOPE_OK;
}

/* The block that comes next. Without a thread the one block: save the tail, then fill it. */
static struct block *next_block(struct window *window)
{
	return window->ahead ? tsi_read_ahead_take(window->ahead) : window->current;
}

static void enter_block(struct window *window, struct block *next)
{
	if (window->ahead)
		tsi_read_ahead_give(window->ahead, window->current);
	else
		tsi_block_fill(next, window->reader);
	window->current = next;
}

/* Brings the tail into the side buffer, so that one more block fits behind it. */
static enum tscope_status move_tail_aside(struct window *window, size_t tail,
					  struct tscope_error *err)
{
	size_t start = 0;
	if (window->is_aside) {
		const char *limit =
			window->gathered + window->gathered_capacity - TSI_INPUT_PADDING;
		if ((size_t)(limit - window->end) >= window->block_bytes)
			return TSCOPE_OK;
		start = (size_t)(window->at - window->gathered);
	}

	/* Twice the need: a tail then moves only once for as many new bytes as it is long. */
	if (tsi_array_reserve(&window->gathered, &window->gathered_capacity,
			      2 * (tail + window->block_bytes) + TSI_INPUT_PADDING, 1,
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memmove(window->gathered, window->is_aside ? window->gathered + start : window->at, tail);
	window->at = window->gathered;
	window->end = window->gathered + tail;
	window->is_aside = true;
	return TSCOPE_OK;
}

/* Status behind the shown bytes, once no more bytes follow. */
static enum tscope_status end_status(const struct window *window, struct tscope_error *err)
{
	const struct block *current = window->current;
	if (current->status < 0 && err)
		*err = current->error;
	return current->status;
}

static enum tscope_status refill(struct window *window, struct tscope_error *err)
{
	if (window->current->status != TSCOPE_OK)
		return end_status(window, err);
	if (window->may_read_ahead && !window->ahead && start_thread(window, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;

	size_t tail = (size_t)(window->end - window->at);
	if (tail <= window->headroom_bytes) {
		struct block *next = next_block(window);
		window->at = memmove(next->data - tail, window->at, tail);
		enter_block(window, next);
		window->end = next->data + next->length;
		window->is_aside = false;
		return TSCOPE_OK;
	}

	if (move_tail_aside(window, tail, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct block *next = next_block(window);
	enter_block(window, next);
	memcpy(window->gathered + (window->end - window->gathered), next->data, next->length);
	window->end += next->length;
	return TSCOPE_OK;
}

enum tscope_status tsi_window_peek(struct window *window, size_t min, const char **data,
				   size_t *available, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	while ((size_t)(window->end - window->at) < min && status == TSCOPE_OK)
		status = refill(window, err);
	*data = window->at;
	*available = status == TSCOPE_E_NOMEM ? 0 : (size_t)(window->end - window->at);
	return status;
}

static void move_offset(struct window *window, size_t count)
{
	atomic_store_explicit(&window->offset, tsi_window_offset(window) + count,
			      memory_order_relaxed);
}

void tsi_window_consume(struct window *window, size_t count)
{
	window->at += count;
	move_offset(window, count);
}

/* Returns the shown bytes first, then reads straight from the reader: no block in between. */
static enum tscope_status read_some(struct window *window, char *into, size_t room, size_t *got,
				    struct tscope_error *err)
{
	struct block *current = window->current;
	if (window->at == window->end && current->status == TSCOPE_OK && !window->ahead) {
		current->status =
			window->reader->read(window->reader, into, room, got, &current->error);
		move_offset(window, *got);
		return end_status(window, err);
	}

	const char *data;
	size_t available;
	enum tscope_status status = tsi_window_peek(window, 1, &data, &available, err);
	*got = available < room ? available : room;
	memcpy(into, data, *got);
	tsi_window_consume(window, *got);
	return status;
}

enum tscope_status tsi_window_read(struct window *window, char *into, size_t room, size_t *got,
				   struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	*got = 0;
	while (status == TSCOPE_OK && *got < room) {
		size_t count = 0;
		status = read_some(window, into + *got, room - *got, &count, err);
		*got += count;
	}
	return status;
}

void tsi_window_skip_to(struct window *window, uint64_t offset)
{
	atomic_store_explicit(&window->offset, offset, memory_order_relaxed);
}

uint64_t tsi_window_offset(const struct window *window)
{
	return atomic_load_explicit(&window->offset, memory_order_relaxed);
}

struct reader *tsi_window_source(const struct window *window)
{
	return window->reader->read_at ? window->reader : NULL;
}

/*
 * Blocks begin where they would have begun without seeking: so damage behind is
 * met after as many bytes of the source as there.
 */
void tsi_window_seek(struct window *window, uint64_t offset)
{
	struct block *current = window->current;
	size_t behind = (size_t)(offset % window->block_bytes);
	if (offset - tsi_window_offset(window) <= (uint64_t)(window->end - window->at)) {
		tsi_window_consume(window, (size_t)(offset - tsi_window_offset(window)));
		return;
	}
	window->reader->seek(window->reader, offset - behind);
	tsi_block_fill(current, window->reader);
	behind = behind < current->length ? behind : current->length;
	window->at = current->data + behind;
	window->end = current->data + current->length;
	window->is_aside = false;
	atomic_store_explicit(&window->offset, offset, memory_order_relaxed);
}
