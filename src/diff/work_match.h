/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_WORK_MATCH_H
#define TSCOPE_DIFF_WORK_MATCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Which kernel (or operator) of A is which of B: first those of one name, then those whose names
 * are equal once normalised (kernel_name.h), then those that the same operator launches with the
 * same shapes. Kernels that one such operator launches in A only are replaced by those that it
 * launches in B only: one by several, or several by one.
 */
struct work_item {
	const char *name;
	/* The operator that launches most of its time ("aten::mm [[8,8],[8,8]]"), or NULL. */
	const char *launcher;
	bool is_plain; /* matched by its name only */
};

#define WORK_MATCHES(X)                                                                            \
	X(WORK_BY_NAME, "name")                                                                    \
	X(WORK_BY_NORMAL_NAME, "normalised_name")                                                  \
	X(WORK_BY_LAUNCHER, "launcher")                                                            \
	X(WORK_UNMATCHED, "none") /* only one side has it */

enum work_match { WORK_MATCHES(TSI_NAMED_ID) };

/* Items [first, first + count) of a_items and b_items; one of the counts may be 0. */
struct work_pair {
	enum work_match match;
	size_t a_first, a_count, b_first, b_count;
	size_t place; /* of its first item: those of A count first */
};

struct work_pairs {
	struct work_pair *pairs; /* in the order of their first items, those of A first */
	size_t count;
	size_t *a_items, *b_items; /* indices of items, as pairs refer to them */
};

/* No pairs without memory. O(n log n) of the items of both. */
struct work_pairs tsi_work_match(const struct work_item *a, size_t a_count,
				 const struct work_item *b, size_t b_count, struct arena *arena);

/* "name", "normalised_name", "launcher", "none". */
const char *tsi_work_match_name(enum work_match match);

#endif
