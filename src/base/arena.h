/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_ARENA_H
#define TSCOPE_BASE_ARENA_H

#include "base/attributes.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tscope/error.h>

struct tscope_spill;

/*
 * Memory that is freed all at once, with the thing it belongs to: a trace's tables, a world, an
 * analysis, the scratch room of one analyzer.
 *
 * Running out of memory is sticky: the call that fails returns NULL, so do all later ones, and
 * tsi_arena_status() says so once, at the end. Code between only has to stop where it would
 * use what it did not get; it needs no status and no error of its own:
 *
 *	int64_t *starts_ns = tsi_arena_new(arena, count, sizeof(*starts_ns));
 *	if (!starts_ns)
 *		return;
 *
 * A zeroed struct is an empty arena. Not thread-safe.
 */
struct arena {
	struct arena_block *blocks; /* a ring through all of them, newest first; or NULL */
	char *free, *end;           /* what is left of the block that small pieces come from */
	bool has_failed;
	struct tscope_spill *spill; /* for large pieces (base/column.h); NULL: none */
};

/* Frees everything; the failure is forgotten, `spill` not. Fine on a zeroed struct. */
void tsi_arena_deinit(struct arena *arena);

/*
 * Zeroed room for count items, aligned for any type. NULL only without memory: of no items a
 * pointer that may not be read. A large piece has a block of its own, whose pages cost nothing
 * until they are touched.
 */
TSI_MUST_CHECK
void *tsi_arena_new(struct arena *arena, size_t count, size_t item_bytes);

/* tsi_arena_reserve() where there is no room. */
TSI_MUST_CHECK
void *tsi_arena_grow(struct arena *arena, void *items, size_t *capacity, size_t wanted,
		     size_t item_bytes);

/*
 * Makes room for `wanted` items of a growing array: returns the array, moved if need be, or NULL
 * without memory, when the array is as before. items: NULL, or what this function returned, with
 * *capacity as it left it. New items are not initialised. Appending is amortised O(1).
 *
 *	items = tsi_arena_reserve(arena, items, &capacity, count + more, sizeof(*items));
 */
TSI_MUST_CHECK
static inline void *tsi_arena_reserve(struct arena *arena, void *items, size_t *capacity,
				      size_t wanted, size_t item_bytes)
{
	if (tsi_likely(items && wanted <= *capacity))
		return items;
	return tsi_arena_grow(arena, items, capacity, wanted, item_bytes);
}

/*
 * Appends one zeroed item to the array that `items`, a pointer variable, points to, and returns it;
 * NULL without memory.
 *
 *	struct lane *lane = tsi_arena_push(arena, &list->lanes, &list->count, &list->capacity,
 *					   sizeof(*lane));
 */
TSI_MUST_CHECK
static inline void *tsi_arena_push(struct arena *arena, void *items, size_t *count,
				   size_t *capacity, size_t item_bytes)
{
	char *array;

	memcpy(&array, items, sizeof(array));
	array = tsi_arena_reserve(arena, array, capacity, *count + 1, item_bytes);
	if (tsi_unlikely(!array))
		return NULL;
	memcpy(items, &array, sizeof(array));
	return memset(array + (*count)++ * item_bytes, 0, item_bytes);
}

/* Copies a text and ends it with NUL. "" without memory: never NULL. */
const char *tsi_arena_copy(struct arena *arena, struct str text);

/* Formats a text of any length; "" without memory. */
TSI_PRINTF(2, 3)
const char *tsi_arena_print(struct arena *arena, const char *format, ...);
TSI_PRINTF(2, 0)
const char *tsi_arena_vprint(struct arena *arena, const char *format, va_list arguments);

/*
 * Gives the system the pages back that much freed memory stood on, where the C library can: it
 * keeps those between pieces that are in use. Takes a while: for gigabytes.
 */
void tsi_release_freed(void);

/* TSCOPE_OK, or TSCOPE_E_NOMEM with err filled, if any call failed. */
TSI_MUST_CHECK
enum tscope_status tsi_arena_status(const struct arena *arena, struct tscope_error *err);

#endif
