/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_ARRAY_H
#define TSCOPE_BASE_ARRAY_H

#include "base/attributes.h"

#include <stddef.h>
#include <tscope/error.h>

/*
 * Growing arrays without a container type: an array is a pointer, a count and
 * a capacity in somebody's struct, freed with free().
 *
 *	if (tsi_array_reserve(&list->items, &list->capacity, list->count + 1,
 *			      sizeof(*list->items), err) != TSCOPE_OK)
 *		return TSCOPE_E_NOMEM;
 *	list->items[list->count++] = item;
 */

/* tsi_array_reserve() where there is no room. */
TSI_MUST_CHECK
enum tscope_status tsi_array_grow(void *items, size_t *capacity, size_t wanted, size_t item_bytes,
				  struct tscope_error *err);

/*
 * Makes room for at least `wanted` items of item_bytes each. items points to
 * the pointer variable. Capacity at least doubles, so appending is amortised
 * O(1). On failure array and capacity are as before.
 */
TSI_MUST_CHECK
static inline enum tscope_status tsi_array_reserve(void *items, size_t *capacity, size_t wanted,
						   size_t item_bytes, struct tscope_error *err)
{
	if (tsi_likely(wanted <= *capacity))
		return TSCOPE_OK;
	return tsi_array_grow(items, capacity, wanted, item_bytes, err);
}

/* calloc that fails like everything else; memory points to a pointer variable. count 0: NULL. */
TSI_MUST_CHECK
enum tscope_status tsi_array_new(void *memory, size_t count, size_t item_bytes,
				 struct tscope_error *err);

/* As above, of items that the caller fills: they are not zeroed. */
TSI_MUST_CHECK
enum tscope_status tsi_array_make(void *memory, size_t count, size_t item_bytes,
				  struct tscope_error *err);

#endif
