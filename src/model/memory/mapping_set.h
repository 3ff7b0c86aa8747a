/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_MAPPING_SET_H
#define TSCOPE_MODEL_MEMORY_MAPPING_SET_H

#include "base/attributes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses [begin, end) that mmap gave, with who asked. */
struct mapping {
	uint64_t begin, end;
	uint32_t node, thread;
};

/*
 * Mappings, none of which overlaps another. munmap may take any part of any of them. A zeroed
 * struct is an empty set.
 */
struct mapping_set {
	struct mapping_leaf **leaves; /* by address */
	size_t leaf_count, leaf_capacity;
};

void tsi_mapping_set_deinit(struct mapping_set *set);

/* Adds a mapping where nothing is; begin < end. O(√count). False without memory. */
TSI_MUST_CHECK
bool tsi_mapping_add(struct mapping_set *set, const struct mapping *mapping);

/* A hole in a mapping. */
struct mapping_cut {
	bool is_any;     /* else there was none */
	bool has_failed; /* no memory: the mapping has lost its left part, too */
	struct mapping piece;
	int more; /* mappings more than before: -1 it was a whole one, 0, 1 it was split */
};

/*
 * Cuts the addresses [begin, end) out of the first mapping that has any of them: call it until
 * there is none.
 */
struct mapping_cut tsi_mapping_cut(struct mapping_set *set, uint64_t begin, uint64_t end);

#endif
