/* SPDX-License-Identifier: MIT */
/*
 * The waits of the host threads, looked up wherever a device is idle because
 * nothing was launched: was the thread that launched next waiting for data, for
 * the device, or simply slow?
 */
#include "timeline/waits.h"

static void add_track(struct waits *waits, const struct landmarks *marks, uint32_t track,
		      size_t *next)
{
	const struct tscope_trace *trace = marks->trace;

	for (; *next < marks->count && marks->items[*next].track == track; ++*next) {
		const struct landmark *mark = &marks->items[*next];
		if (mark->labels & (LABEL_DATA | LABEL_SYNC))
			tsi_flatten_add(&waits->flat, tsi_start_ns(&trace->spans, mark->row),
					tsi_span_end(trace, mark->row), mark->row);
	}
	tsi_flatten_end(&waits->flat);
}

void tsi_waits_init(struct waits *waits, const struct landmarks *marks, struct arena *arena)
{
	uint32_t track_count = marks->trace->host_track_count;
	size_t next = 0; /* landmark */

	*waits = (struct waits){ .flat.arena = arena };
	waits->first_of_track =
		tsi_arena_new(arena, (size_t)track_count + 1, sizeof(*waits->first_of_track));
	for (uint32_t i = 0; waits->first_of_track && i < track_count; i++) {
		add_track(waits, marks, i, &next);
		waits->first_of_track[i + 1] = waits->flat.count;
	}
}

/* The first segment in [low, high) that ends after t, or high. */
static size_t first_ending_after(const struct flat_segment *segments, size_t low, size_t high,
				 int64_t t_ns)
{
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (segments[middle].end_ns > t_ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

uint32_t tsi_waits_next(const struct waits *waits, uint32_t track, int64_t *start_ns,
			int64_t end_ns)
{
	const struct flat_segment *segments = waits->flat.segments;
	int64_t t_ns = *start_ns;

	*start_ns = end_ns;
	if (track == NO_ROW)
		return NO_ROW;
	size_t high = waits->first_of_track[track + 1];
	size_t at = first_ending_after(segments, waits->first_of_track[track], high, t_ns);
	if (at == high || segments[at].start_ns >= end_ns)
		return NO_ROW;
	if (segments[at].start_ns > t_ns) {
		*start_ns = segments[at].start_ns;
		return NO_ROW;
	}
	if (segments[at].end_ns < end_ns)
		*start_ns = segments[at].end_ns;
	return segments[at].label;
}
