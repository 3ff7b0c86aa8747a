/* SPDX-License-Identifier: MIT */
/*
 * Blocks in a ring. Small pieces are cut off the newest block for such; a piece that is
 * large has a block of its own, so that a growing array is moved as a whole and leaves no copy.
 */
#include "base/arena.h"

#include "base/ckd.h"
#include "base/column.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#if HAVE_MALLOC_TRIM
#include <malloc.h>
#endif

struct arena_block {
	struct arena_block *older, *newer;
};

/* A block's header, so long that what follows is aligned for any type. */
enum { ALIGNMENT = 16, HEADER_BYTES = 16 };
_Static_assert(sizeof(struct arena_block) <= HEADER_BYTES, "a header has room for the links");

/* With AddressSanitizer each piece has a block of its own, so that its ends are guarded. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
enum { LARGE_BYTES = 1, MIN_CAPACITY = 2 };
#else
enum { LARGE_BYTES = 4096, MIN_CAPACITY = 16 };
#endif
enum { BLOCK_BYTES = 8192 };

static char *memory_of(struct arena_block *block)
{
	return (char *)block + HEADER_BYTES;
}

static struct arena_block *block_of(void *memory)
{
	return (struct arena_block *)((char *)memory - HEADER_BYTES);
}

static void *fail(struct arena *arena)
{
	arena->has_failed = true;
	return NULL;
}

/* Puts a block into the ring, as the newest. */
static void link_block(struct arena *arena, struct arena_block *block)
{
	struct arena_block *newest = arena->blocks;

	block->older = newest ? newest : block;
	block->newer = newest ? newest->newer : block;
	block->older->newer = block;
	block->newer->older = block;
	arena->blocks = block;
}

static void *add_block(struct arena *arena, size_t bytes, bool is_zeroed)
{
	struct arena_block *block = NULL;

	if (tsi_ckd_add(&bytes, bytes, (size_t)HEADER_BYTES))
		return fail(arena);
	if (is_zeroed)
		block = tsi_column_new(arena->spill, bytes);
	else if (!tsi_column_make(&block, arena->spill, bytes, 1))
		return fail(arena);
	if (!block)
		return fail(arena);
	link_block(arena, block);
	return memory_of(block);
}

/* Zeroes only what is asked for: of most blocks little is used, and arrays that grow need none. */
static void *take(struct arena *arena, size_t count, size_t item_bytes, bool is_zeroed)
{
	size_t bytes;

	if (arena->has_failed || tsi_ckd_mul(&bytes, count, item_bytes) ||
	    bytes > SIZE_MAX - ALIGNMENT)
		return fail(arena);
	if (bytes >= LARGE_BYTES)
		return add_block(arena, bytes, is_zeroed);
	bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!arena->free || bytes > (size_t)(arena->end - arena->free)) {
		char *block = add_block(arena, BLOCK_BYTES, false);
		if (!block)
			return NULL;
		arena->free = block;
		arena->end = block + BLOCK_BYTES;
	}
	void *memory = arena->free;
	arena->free += bytes;
	return is_zeroed ? memset(memory, 0, bytes) : memory;
}

void *tsi_arena_new(struct arena *arena, size_t count, size_t item_bytes)
{
	return take(arena, count, item_bytes, true);
}

/* Moves an array with a block of its own. */
static void *move_block(struct arena *arena, void *items, size_t bytes)
{
	struct arena_block *block = block_of(items);
	bool is_newest = arena->blocks == block, is_only = block->older == block;
	struct arena_block *moved = block;

	if (!tsi_column_make(&moved, arena->spill, HEADER_BYTES + bytes, 1))
		return fail(arena);
	if (is_only)
		moved->older = moved->newer = moved;
	moved->older->newer = moved;
	moved->newer->older = moved;
	if (is_newest)
		arena->blocks = moved;
	return memory_of(moved);
}

void *tsi_arena_grow(struct arena *arena, void *items, size_t *capacity, size_t wanted,
		     size_t item_bytes)
{
	size_t grown = *capacity < MIN_CAPACITY ? MIN_CAPACITY : *capacity, bytes;

	while (grown < wanted)
		if (tsi_ckd_mul(&grown, grown, (size_t)2))
			return fail(arena);
	if (arena->has_failed || tsi_ckd_mul(&bytes, grown, item_bytes) ||
	    bytes > SIZE_MAX - HEADER_BYTES)
		return fail(arena);
	void *moved;
	if (items && *capacity * item_bytes >= LARGE_BYTES) {
		moved = move_block(arena, items, bytes);
	} else {
		moved = take(arena, grown, item_bytes, false);
		if (moved && items)
			memcpy(moved, items, *capacity * item_bytes);
	}
	if (moved)
		*capacity = grown;
	return moved;
}

const char *tsi_arena_copy(struct arena *arena, struct str text)
{
	char *copy = text.length < SIZE_MAX ? tsi_arena_new(arena, text.length + 1, 1) : NULL;

	if (!copy)
		return "";
	if (text.length)
		memcpy(copy, text.data, text.length);
	return copy;
}

const char *tsi_arena_vprint(struct arena *arena, const char *format, va_list arguments)
{
	va_list again;

	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	char *text = length >= 0 ? tsi_arena_new(arena, (size_t)length + 1, 1) : NULL;
	if (!text)
		return "";
	vsnprintf(text, (size_t)length + 1, format, arguments);
	return text;
}

const char *tsi_arena_print(struct arena *arena, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	const char *text = tsi_arena_vprint(arena, format, arguments);
	va_end(arguments);
	return text;
}

enum tscope_status tsi_arena_status(const struct arena *arena, struct tscope_error *err)
{
	return arena->has_failed ? tsi_fail_nomem(err) : TSCOPE_OK;
}

void tsi_release_freed(void)
{
#if HAVE_MALLOC_TRIM
	(void)malloc_trim(0);
#endif
}

void tsi_arena_deinit(struct arena *arena)
{
	if (arena->blocks)
		arena->blocks->newer->older = NULL; /* the oldest: the ring's end */
	for (struct arena_block *block = arena->blocks, *older; block; block = older) {
		older = block->older;
		tsi_column_free(block);
	}
	*arena = (struct arena){ .spill = arena->spill };
}
