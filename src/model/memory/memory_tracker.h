/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MEMORY_MEMORY_TRACKER_H
#define TSCOPE_MODEL_MEMORY_MEMORY_TRACKER_H

#include "base/arena.h"
#include "decode/plain/plain.h"

#include <stdint.h>

/*
 * Statistics of torch's memory trackers about one call (fsdp_mem_rank_*.log): bytes by kind at the
 * peak, and at each state of each module. The reader of such logs (plain_tracker.c) yields
 *
 *	{ "tracker": "fsdp", "iteration": 2, "function": "training_step",
 *	  "peak": [ { "device": "cuda:0", "bytes": { "sharded param": 1024 },
 *		      "total": 1024 } ],
 *	  "modules": [ { "module": "net.0", "state": "Before Pre-Forward", "call": 1,
 *			 "device": "cuda:0", "bytes": { … }, "total": … } ] }
 *
 * with names in the words of the newer versions, lower case: "sharded param", "activation".
 * The total is not among the kinds: the log rounds each of them, and the total once. Where a log
 * does not say it, it is their sum.
 */
struct tracked_bytes {
	struct str module, state; /* "" at the peak; live as long as the plain data */
	int64_t call;             /* 0 at the peak */
	struct str device;
	struct plain_value bytes; /* dict: kind to number */
	int64_t total_bytes;
};

struct memory_tracker {
	const struct plain *plain; /* borrowed */
	struct arena arena;        /* of rows */
	struct str function;
	int64_t iteration;
	struct tracked_bytes *rows; /* those of the peak first */
	size_t count, peak_count;
	uint64_t value_count;   /* bytes of a kind */
	uint64_t dropped_count; /* rows and bytes without what makes them such */
};

/*
 * A kind of memory of a row, by its index in `bytes`, and its *bytes; a text without data where
 * that is no name or no number, which was counted as dropped.
 */
struct str tsi_tracked_kind(const struct memory_tracker *tracker, const struct tracked_bytes *row,
			    size_t index, int64_t *bytes);

bool tsi_is_memory_tracker(const struct plain *plain);

/*
 * The plain data must outlive it. Its arena, the owner's to deinit, says whether there was memory.
 */
void tsi_memory_tracker_init(struct memory_tracker *tracker, const struct plain *plain);

#endif
