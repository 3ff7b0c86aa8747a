/* SPDX-License-Identifier: MIT */
/* Which threads keep devices waiting, and when. */
#include "timeline/device_walk.h"

/* When each device waits for a launch that has not begun; counts the launches by thread. */
static void find_late_hosts(struct device_walk *devices, struct interval_set *late,
			    uint32_t *launch_counts)
{
	const struct tscope_trace *trace = devices->timeline->trace;

	for (uint32_t d = 0; d < trace->device_count; d++)
		for (size_t i = 0; i < devices->gaps[d].count; i++) {
			const struct idle_gap *gap = &devices->gaps[d].items[i];
			uint32_t call = gap->row == NO_ROW
						? NO_ROW
						: tsi_device_event(trace, gap->row)->call;
			if (call == NO_ROW)
				continue;
			int64_t end_ns =
				tsi_clamp_time(tsi_start_ns(&trace->spans, call), gap->start_ns,
					       tsi_start_ns(&trace->spans, gap->row));
			launch_counts[tsi_trace_track_of(trace, call)]++;
			if (end_ns > gap->start_ns)
				tsi_intervals_append(&late[d], gap->start_ns, end_ns,
						     &devices->timeline->scratch);
		}
}

static void add_thread(struct host_state *host, uint32_t track, uint32_t launch_count)
{
	uint32_t at = host->thread_count;

	while (at > 0 && host->threads[at - 1].launch_count < launch_count)
		at--;
	if (at == MAX_LAUNCHERS)
		return;
	if (host->thread_count < MAX_LAUNCHERS)
		host->thread_count++;
	for (uint32_t i = host->thread_count - 1; i > at; i--)
		host->threads[i] = host->threads[i - 1];
	host->threads[at] = (struct host_thread){ .track = track, .launch_count = launch_count };
}

void tsi_find_idle_hosts(struct device_walk *devices)
{
	struct tscope_timeline *timeline = devices->timeline;
	const struct tscope_trace *trace = timeline->trace;
	struct host_state *host = &devices->host;
	struct arena *arena = &timeline->scratch;
	struct interval_set *late = tsi_arena_new(arena, trace->device_count, sizeof(*late));
	uint32_t *counts = tsi_arena_new(arena, trace->host_track_count, sizeof(*counts));

	devices->uses = (struct first_uses){ .trace = trace, .arena = arena };
	*host = (struct host_state){
		.timeline = timeline,
		.marks = timeline->marks,
		.uses = &devices->uses,
		.arena = arena,
		.thread_of_track = tsi_arena_new(arena, trace->host_track_count, 1),
	};
	if (!late || !counts || !host->thread_of_track || !devices->gaps)
		return;
	find_late_hosts(devices, late, counts);
	host->wanted = tsi_intervals_union_all(late, trace->device_count, arena);
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		if (counts[i] || i == timeline->main_track)
			add_thread(host, i, counts[i]);
	for (uint32_t i = 0; i < host->thread_count; i++)
		host->thread_of_track[host->threads[i].track] = (uint8_t)(i + 1);
	tsi_host_state_find(host);
}
