/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_MEMORY_STATS_H
#define TSCOPE_MODEL_MEMORY_MEMORY_STATS_H

#include "base/arena.h"
#include "decode/plain/plain.h"

#include <stdint.h>

/*
 * Statistics that finetuning-scheduler's MemProfiler took (rank_*_memory_stats.yaml, .pickle): for
 * each moment, rank.function.iteration.start or .end, any of the keys of
 * torch.cuda.memory_stats(), of the process's memory and of its hooks.
 */
struct memory_moment {
	int64_t rank, iteration;
	struct str function; /* lives as long as the plain data */
	bool is_end;
	struct plain_value values; /* dict: name to number or None */
};

struct memory_stats {
	const struct plain *plain;     /* borrowed */
	struct arena arena;            /* of moments */
	struct memory_moment *moments; /* by rank, function, iteration, start before end */
	size_t count;
	uint64_t value_count;   /* None included */
	uint64_t dropped_count; /* keys that are no such moment, values that are no number */
};

/* A dict of which a key is such a moment (or empty)? */
bool tsi_is_memory_stats(const struct plain *plain);

/*
 * The plain data must outlive it. Its arena, the owner's to deinit, says whether there was memory.
 */
void tsi_memory_stats_init(struct memory_stats *stats, const struct plain *plain);

#endif
