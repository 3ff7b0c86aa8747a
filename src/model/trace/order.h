/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_ORDER_H
#define TSCOPE_MODEL_TRACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/* Does a belong behind b? False for what is equal. */
typedef bool tsi_is_behind(const void *context, uint32_t a, uint32_t b);

struct builder;

/*
 * Sorts row numbers, or other numbers of things; what is equal stays as it was. Takes room for half
 * as many meanwhile, and fails the builder without it; list may be NULL where count is 0. O(count)
 * for a list that is in order, O(count × log runs) for one of a few sorted runs.
 */
void tsi_sort_list(struct builder *b, uint32_t *list, uint32_t count, tsi_is_behind *is_behind,
		   const void *context);

#endif
