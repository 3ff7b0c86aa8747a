/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_PAIR_SET_H
#define TSCOPE_BASE_PAIR_SET_H

#include "base/attributes.h"

#include <stddef.h>
#include <stdint.h>
#include <tscope/error.h>

/*
 * Numbers pairs of ids from 0 in the order in which they first come: the rows
 * of a table by two keys. For three keys, pair the number of the first two
 * with the third. A zeroed struct is an empty set.
 */
struct pair {
	uint32_t first, second;
};

struct pair_set {
	struct pair *pairs; /* by number */
	size_t count, capacity;
	uint32_t *slots;   /* open addressing; number + 1, 0 is free */
	size_t slot_count; /* a power of two, or 0 */
};

void tsi_pair_set_deinit(struct pair_set *set);

/* The number of a pair, which is added if it is new. */
TSI_MUST_CHECK
enum tscope_status tsi_pair_set_add(struct pair_set *set, uint32_t first, uint32_t second,
				    uint32_t *number, struct tscope_error *err);

#endif
