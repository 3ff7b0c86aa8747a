/* SPDX-License-Identifier: MIT */
/*
 * From the peak backwards: the last event of an address says whether its block is live then. The
 * rest of the total was allocated before the recording began.
 */
#include "analyze/modules/peak_blocks.h"

#include "base/pair_set.h"
#include "base/sum.h"
#include "run/step_memory.h"

/* The first of the points with the highest total that is in force in a step that counts. */
static size_t find_peak(const struct places *places, const struct memory_curve *curve)
{
	const struct tscope_timeline *timeline = places->timeline;
	size_t peak = SIZE_MAX;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t start_ns = timeline->steps[i].start_ns;
		int64_t end_ns = start_ns + timeline->steps[i].wall_ns;
		size_t at = tsi_memory_curve_find(curve, start_ns);

		if (!tsi_place_step_counts(places, i))
			continue;
		for (at -= at > 0; at < curve->count && curve->points[at].time_ns < end_ns; at++)
			if (peak == SIZE_MAX ||
			    curve->points[at].allocated_bytes > curve->points[peak].allocated_bytes)
				peak = at;
	}
	return peak;
}

struct peak_blocks tsi_find_peak_blocks(const struct places *places, struct arena *arena)
{
	struct memory_curve curve = tsi_find_memory_curve(places->timeline->trace);
	struct pair_set seen = { .arena = arena };
	struct peak_blocks blocks = { 0 };
	size_t peak = find_peak(places, &curve), capacity = 0;
	int64_t live_bytes = 0;

	if (peak == SIZE_MAX)
		return blocks;
	for (size_t i = peak + 1; i-- > 0 && !arena->has_failed;) {
		const struct allocator_point *point = &curve.points[i];
		size_t seen_count = seen.count;

		if (point->is_oom)
			continue;
		if (!point->address)
			return (struct peak_blocks){ 0 };
		if (tsi_pair_set_add(&seen, (uint32_t)(point->address >> 32),
				     (uint32_t)point->address) < seen_count ||
		    point->block_bytes <= 0)
			continue;
		const struct allocator_point **live = tsi_arena_push(
			arena, &blocks.points, &blocks.count, &capacity, sizeof(*blocks.points));
		if (live)
			*live = point;
		tsi_sum(&live_bytes, point->block_bytes);
	}
	blocks.bytes = curve.points[peak].allocated_bytes;
	blocks.unrecorded_bytes = blocks.bytes - live_bytes;
	blocks.is_known = blocks.unrecorded_bytes >= 0;
	return blocks;
}
