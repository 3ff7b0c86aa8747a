/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_COLUMN_H
#define TSCOPE_BASE_COLUMN_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>

struct tscope_spill;

/*
 * Memory of columns, arrays that grow with the events of a trace: from the heap, or from a file
 * that is mapped (struct tscope_spill), whose pages the system writes out and takes for others
 * when it needs them. A column knows where it is, so that it may go from one to the other.
 */

/*
 * Gives a column, or a new one where it is NULL, room for so many items: in the file, or where that
 * is NULL in the heap. It keeps its items, wherever they were, as far as they fit; others are not
 * zeroed. column points to the pointer variable. False: there is no room, and nothing has changed.
 */
TSI_MUST_CHECK
bool tsi_column_resize(void *column, struct tscope_spill *spill, size_t count, size_t item_bytes);

/*
 * As above, for what nobody counts: in the file only where it is large, and in the heap where the
 * file has no room.
 */
TSI_MUST_CHECK
bool tsi_column_make(void *column, struct tscope_spill *spill, size_t count, size_t item_bytes);

/* A new one likewise, zeroed; NULL: there is no memory. */
TSI_MUST_CHECK
void *tsi_column_new(struct tscope_spill *spill, size_t bytes);

/*
 * Gives back what is behind the first items, as far as that can be done; without any the column is
 * NULL then. NULL stays NULL.
 */
void tsi_column_shrink(void *column, size_t count, size_t item_bytes);

/* NULL is fine. */
void tsi_column_free(void *column);

#endif
