/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_BLOCK_RUNS_H
#define TSCOPE_ANALYZE_OPS_BLOCK_RUNS_H

#include "base/arena.h"

/*
 * Blocks of kernels that repeat one behind the other, as layers of a model do: the same names in
 * the same order, four times at least. Where blocks repeat within blocks, the inner ones are found;
 * a block holds an anchor, which loops within layers do not: attention, or what else a model has
 * one of in each layer. One block may differ between others that are alike; it has as many anchors,
 * half of their items or more, and is no border between two passes.
 */
enum block_border {
	BORDER_NONE,
	BORDER_MAYBE, /* begins or ends a pass over a model, if layers have no such item */
	BORDER_SURE,
};

struct block_item {
	uint32_t name; /* below name_count */
	bool is_anchor;
	uint8_t border; /* enum block_border */
	uint8_t part;   /* blocks with items of two parts but 0 are none: forward and backward */
};

enum { LEAST_BLOCKS = 4, LEAST_BLOCK_ITEMS = 3 };

struct block_run {
	size_t *bounds; /* block i is items [bounds[i], bounds[i + 1]) */
	size_t count;   /* blocks */
	size_t period;  /* items of those that are alike */
	size_t alike;   /* index of one that is */
};

struct block_runs {
	struct block_run *items; /* by start */
	size_t count, capacity;
};

/* Appends the runs of a sequence, which begins at `first` of whole. The arena says of memory. */
void tsi_find_blocks(struct block_runs *runs, const struct block_item *whole, size_t first,
		     size_t count, uint32_t name_count, struct arena *arena);

/* Is a block of a run, all of whose blocks lie in `whole`, like the others? */
bool tsi_is_block_alike(const struct block_run *run, const struct block_item *whole, size_t block);

#endif
