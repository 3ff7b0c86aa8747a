/* SPDX-License-Identifier: MIT */
/* The gaps between iterations of an inference engine, and what its host does in them. */
#include "analyze/trace/inference_gaps.h"

#include "base/sum.h"

/* before_ns: the end of the device work so far. */
static void find_stretches(struct host_gaps *gaps, const struct turns *turns,
			   struct interval_set *stretches, struct arena *scratch)
{
	int64_t before_ns = INT64_MIN;

	for (uint32_t i = 0; i < turns->count; i++) {
		const struct turn *turn = &turns->items[i];

		if (turn->is_counted && before_ns != INT64_MIN && turn->forward_ns != INT64_MAX) {
			if (turn->forward_ns > before_ns)
				tsi_intervals_append(stretches, before_ns, turn->forward_ns,
						     scratch);
			if (turn->end_ns > before_ns)
				tsi_sum(&gaps->wall_ns, turn->end_ns - before_ns);
			gaps->count++;
		}
		before_ns = turn->end_ns > before_ns ? turn->end_ns : before_ns;
	}
}

struct host_gaps tsi_find_host_gaps(const struct turns *turns, struct arena *scratch)
{
	struct host_gaps gaps = { 0 };
	struct interval_set stretches = { 0 };

	find_stretches(&gaps, turns, &stretches, scratch);
	gaps.total_ns = tsi_intervals_length(&stretches);
	gaps.parts = tsi_host_parts(turns->scope->timeline, &stretches, scratch);
	return gaps;
}
