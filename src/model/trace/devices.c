/* SPDX-License-Identifier: MIT */
/*
 * The devices that ran something: which they are, and all their work over all
 * streams in the order of time.
 */
#include "base/array.h"
#include "model/trace/build.h"
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

/* The start of the launch call; before all others what was launched before the capture. */
static int64_t launch_time(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t call = tsi_device_event(trace, row)->call;
	return call == NO_ROW ? INT64_MIN : tsi_start_ns(&trace->spans, call);
}

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	const struct tscope_trace *trace = context;
	int64_t start_a = tsi_start_ns(&trace->spans, a), start_b = tsi_start_ns(&trace->spans, b);
	return start_a != start_b ? start_a > start_b
				  : launch_time(trace, a) > launch_time(trace, b);
}

/* A device's tracks lie side by side: its rows are one range, stream after stream. */
static enum tscope_status add_device(struct tscope_trace *trace, uint32_t first_track,
				     uint32_t track_end, struct tscope_error *err)
{
	uint32_t first_row = trace->tracks[first_track].first;
	const struct track *last = &trace->tracks[track_end - 1];
	struct device *device = &trace->devices[trace->device_count];
	device->ordinal = last->device;
	device->properties = find_properties(trace, device->ordinal);
	device->row_count = last->first + last->count - first_row;
	if (tsi_array_new(&device->rows, device->row_count, sizeof(*device->rows), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	trace->device_count++;
	for (uint32_t i = 0; i < device->row_count; i++)
		device->rows[i] = first_row + i;
	return tsi_sort_list(device->rows, device->row_count, is_behind, trace, err);
}

enum tscope_status tsi_list_devices(struct tscope_trace *trace, struct tscope_error *err)
{
	uint32_t count = 0, first = trace->host_track_count;
	for (uint32_t i = first; i < trace->track_count; i++)
		count += i == first || trace->tracks[i].device != trace->tracks[i - 1].device;
	if (tsi_array_new(&trace->devices, count, sizeof(*trace->devices), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t end = first; first < trace->track_count; first = end) {
		while (end < trace->track_count &&
		       trace->tracks[end].device == trace->tracks[first].device)
			end++;
		if (add_device(trace, first, end, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}
