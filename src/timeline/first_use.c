/* SPDX-License-Identifier: MIT */
#include "timeline/first_use.h"

#include "model/trace/device_rows.h"
#include "timeline/timeline.h"

/* Room for the rows by name, each NO_ROW. */
static uint32_t *new_rows(struct first_uses *uses)
{
	size_t count = uses->trace->names.count;
	uint32_t *rows = tsi_arena_new(uses->arena, count, sizeof(*rows));

	if (rows)
		memset(rows, 0xff, count * sizeof(*rows));
	return rows;
}

static void find_events(struct first_uses *uses)
{
	const struct tscope_trace *trace = uses->trace;
	size_t name_count = trace->names.count;
	uint32_t *first = new_rows(uses);
	uint32_t *calls = tsi_arena_new(uses->arena, trace->call_count / 32 + 1, sizeof(*calls));
	int64_t *times_ns = tsi_arena_new(uses->arena, name_count, sizeof(*times_ns));

	if (!first || !calls || !times_ns)
		return;
	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		uint32_t name = tsi_name_id(&trace->spans, row);
		int64_t time_ns = tsi_timeline_launch_time(trace, row);
		if (first[name] != NO_ROW && times_ns[name] <= time_ns)
			continue;
		first[name] = row;
		times_ns[name] = time_ns;
	}
	for (size_t name = 0; name < name_count; name++) {
		uint32_t call =
			first[name] == NO_ROW ? NO_ROW : tsi_device_event(trace, first[name])->call;
		if (call != NO_ROW) {
			uint32_t index = tsi_call_index(trace, call);
			calls[index / 32] |= UINT32_C(1) << index % 32;
		}
	}
	uses->event_of_name = first;
	uses->first_calls = calls;
}

bool tsi_is_first_event(struct first_uses *uses, uint32_t row)
{
	if (!uses->event_of_name)
		find_events(uses);
	return uses->event_of_name &&
	       uses->event_of_name[tsi_name_id(&uses->trace->spans, row)] == row;
}

bool tsi_is_first_launch(struct first_uses *uses, uint32_t call)
{
	if (!uses->event_of_name)
		find_events(uses);
	if (!uses->event_of_name)
		return false;
	uint32_t index = tsi_call_index(uses->trace, call);
	return uses->first_calls[index / 32] >> index % 32 & 1;
}

static void find_spans(struct first_uses *uses)
{
	const struct tscope_trace *trace = uses->trace;
	uint32_t end = tsi_first_device_row(trace);
	uint32_t *first = new_rows(uses);

	for (uint32_t row = 0; first && row < end; row++) {
		uint32_t *best = &first[tsi_name_id(&trace->spans, row)];
		if (*best == NO_ROW ||
		    tsi_start_ns(&trace->spans, row) < tsi_start_ns(&trace->spans, *best))
			*best = row;
	}
	uses->host_of_name = first;
}

bool tsi_is_first_span(struct first_uses *uses, uint32_t row)
{
	if (!uses->host_of_name)
		find_spans(uses);
	return uses->host_of_name &&
	       uses->host_of_name[tsi_name_id(&uses->trace->spans, row)] == row;
}
