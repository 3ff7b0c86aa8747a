/* SPDX-License-Identifier: MIT */
/* The gaps between iterations of an inference engine, and what its host does in them. */
#include "analyze/trace/inference_gaps.h"

#include "base/sum.h"

/* The ranges of gaps; before_ns: the end of the device work so far. */
static size_t find_ranges(struct host_gaps *gaps, const struct turns *turns,
			  struct time_range *ranges)
{
	int64_t before_ns = INT64_MIN;
	size_t count = 0;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		if (turn->is_counted && before_ns != INT64_MIN && turn->forward_ns != INT64_MAX) {
			if (turn->forward_ns > before_ns)
				ranges[count++] =
					(struct time_range){ before_ns, turn->forward_ns };
			if (turn->end_ns > before_ns)
				tsi_sum(&gaps->wall_ns, turn->end_ns - before_ns);
			gaps->count++;
		}
		before_ns = turn->end_ns > before_ns ? turn->end_ns : before_ns;
	}
	return count;
}

struct host_gaps tsi_find_host_gaps(const struct turns *turns, struct arena *scratch)
{
	struct host_gaps gaps = { 0 };
	struct time_range *ranges = tsi_arena_new(scratch, turns->count, sizeof(*ranges));

	if (!ranges)
		return gaps;
	size_t count = find_ranges(&gaps, turns, ranges);
	for (size_t i = 0; i < count; i++)
		tsi_sum(&gaps.total_ns, ranges[i].end_ns - ranges[i].start_ns);
	gaps.parts = tsi_host_parts(turns->scope->timeline, ranges, count, scratch);
	return gaps;
}
