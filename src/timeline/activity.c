/* SPDX-License-Identifier: MIT */
/*
 * Activity of each device, as unions over its streams: kernels, communication kernels, and copies
 * with fills. Rows of a device come by start, so every union is one pass of appending.
 */
#include "timeline/build.h"

static struct interval_set *set_of_class(struct device_activity *activity, uint8_t span_class)
{
	switch (span_class) {
	case TSCOPE_SPAN_KERNEL:
		return &activity->compute;
	case TSCOPE_SPAN_COMM:
		return &activity->comm;
	default:
		return &activity->copy;
	}
}

/* As many as there can be: sets that grow would leave their smaller copies behind. */
static void make_room(struct device_activity *activity, const struct tscope_trace *trace,
		      const struct device *device, struct arena *arena)
{
	struct interval_set *const sets[] = { &activity->compute, &activity->comm,
					      &activity->copy };

	for (uint32_t i = 0; i < device->row_count; i++)
		set_of_class(activity, tsi_span_class(&trace->spans, device->rows[i]))->capacity++;
	for (size_t i = 0; i < TSI_COUNT_OF(sets); i++)
		*sets[i] = tsi_intervals_new(sets[i]->capacity, arena);
}

static void add_device(struct device_activity *activity, const struct tscope_trace *trace,
		       const struct device *device, struct arena *arena)
{
	int64_t busy_until_ns = INT64_MIN; /* a device has work: it ends later */

	make_room(activity, trace, device, arena);
	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);
		struct interval_set *set =
			set_of_class(activity, tsi_span_class(&trace->spans, row));

		tsi_intervals_append(set, start_ns, end_ns, arena);
		if (i == 0)
			activity->span_start_ns = start_ns;
		struct interval busy = tsi_unclaimed(&busy_until_ns, start_ns, end_ns);
		if (busy.end_ns > busy.start_ns)
			activity->busy_ns += busy.end_ns - busy.start_ns;
	}
	activity->span_end_ns = busy_until_ns;
}

void tsi_timeline_find_activity(struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	struct arena *arena = &timeline->arena;

	timeline->activity = tsi_arena_new(arena, trace->device_count, sizeof(*timeline->activity));
	for (uint32_t d = 0; timeline->activity && d < trace->device_count; d++)
		add_device(&timeline->activity[d], trace, &trace->devices[d], arena);
}
