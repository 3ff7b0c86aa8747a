/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_MODULES_PEAK_BLOCKS_H
#define TSCOPE_ANALYZE_MODULES_PEAK_BLOCKS_H

#include "analyze/modules/places.h"

/*
 * The blocks that were live when the steps that count had most allocated, on the device whose
 * allocation peaks highest: that of memory.peak_alloc_bytes.
 */
struct peak_blocks {
	bool is_known;
	int64_t bytes;                         /* all that was allocated then */
	int64_t unrecorded_bytes;              /* of it, allocated before the recording began */
	const struct allocator_point **points; /* allocations of the live blocks, latest first */
	size_t count;
};

/* Not known where blocks have no addresses. The arena says whether memory ran out. */
struct peak_blocks tsi_find_peak_blocks(const struct places *places, struct arena *arena);

#endif
