/* SPDX-License-Identifier: MIT */
/*
 * The devices that ran something: which they are, and all their work over all
 * streams in the order of time.
 */
#include "model/trace/build.h"
#include "model/trace/device_rows.h"
#include "model/trace/order.h"

static bool is_same_model(const struct device_properties *a, const struct device_properties *b)
{
	return a->name == b->name && a->sm_count == b->sm_count && a->total_bytes == b->total_bytes;
}

/*
 * ROCm numbers the devices of its kernels by the machine and lists those of the process,
 * from 0 on. Where all that are listed are of one model it is that, whatever the number.
 */
static uint32_t find_properties(const struct tscope_trace *trace, int32_t ordinal)
{
	const struct device_properties *listed = trace->device_properties;
	bool is_one_model = true;
	for (uint32_t i = 0; i < trace->device_properties_count; i++) {
		if (listed[i].id == ordinal)
			return i;
		is_one_model &= is_same_model(&listed[i], &listed[0]);
	}
	return trace->device_properties_count && is_one_model ? 0 : NO_ROW;
}

/* The start of the launch; before all others what was launched before the capture. */
static int64_t launch_time(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t launch = tsi_launch_row(trace, row);
	return launch == NO_ROW ? INT64_MIN : tsi_start_ns(&trace->spans, launch);
}

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	const struct tscope_trace *trace = context;
	int64_t start_a = tsi_start_ns(&trace->spans, a), start_b = tsi_start_ns(&trace->spans, b);
	return start_a != start_b ? start_a > start_b
				  : launch_time(trace, a) > launch_time(trace, b);
}

/* A device's tracks lie side by side: its rows are one range, stream after stream. */
static void add_device(struct builder *b, uint32_t first_track, uint32_t track_end)
{
	struct tscope_trace *trace = b->trace;
	uint32_t first_row = trace->tracks[first_track].first;
	const struct track *last = &trace->tracks[track_end - 1];
	struct device *device = &trace->devices[trace->device_count];
	device->ordinal = last->device;
	device->properties = find_properties(trace, device->ordinal);
	device->row_count = last->first + last->count - first_row;
	device->rows = tsi_builder_new_array(b, device->row_count, sizeof(*device->rows));
	if (!device->rows)
		return;
	trace->device_count++;
	for (uint32_t i = 0; i < device->row_count; i++)
		device->rows[i] = first_row + i;
	tsi_sort_list(b, device->rows, device->row_count, is_behind, trace);
}

void tsi_list_devices(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	uint32_t count = 0, first = trace->host_track_count;
	for (uint32_t i = first; i < trace->track_count; i++)
		count += i == first || trace->tracks[i].device != trace->tracks[i - 1].device;
	trace->devices = tsi_arena_new(&trace->arena, count, sizeof(*trace->devices));
	for (uint32_t end = first; trace->devices && first < trace->track_count; first = end) {
		while (end < trace->track_count &&
		       trace->tracks[end].device == trace->tracks[first].device)
			end++;
		add_device(b, first, end);
	}
}
