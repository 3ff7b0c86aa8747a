/* SPDX-License-Identifier: MIT */
/* From the points at which an allocator said its totals to the memory of steps. */
#include "run/step_memory.h"

#include "base/bisect.h"

#include <string.h>

/* The memory of a step's window. */
struct window_memory {
	int64_t bytes[STEP_MEMORY_COUNT];
	int64_t peak_ns; /* when PEAK_ALLOC was reached first, on the trace's clock */
};

/* One past the last point of the same device as points[first]. */
static size_t end_of_device(const struct tscope_trace *trace, size_t first)
{
	size_t end = first + 1;

	while (end < trace->allocator_point_count &&
	       trace->allocator_points[end].device == trace->allocator_points[first].device)
		end++;
	return end;
}

static int64_t highest(const struct allocator_point *points, size_t count)
{
	int64_t bytes = NO_BYTES;

	for (size_t i = 0; i < count; i++)
		if (points[i].allocated_bytes > bytes)
			bytes = points[i].allocated_bytes;
	return bytes;
}

struct memory_curve tsi_find_memory_curve(const struct tscope_trace *trace)
{
	struct memory_curve curve = { 0 };
	int64_t peak_bytes = NO_BYTES;

	for (size_t first = 0, end; first < trace->allocator_point_count; first = end) {
		end = end_of_device(trace, first);
		struct memory_curve device_curve = { &trace->allocator_points[first], end - first };
		int64_t bytes = highest(device_curve.points, device_curve.count);

		if (bytes > peak_bytes) {
			peak_bytes = bytes;
			curve = device_curve;
		}
	}
	return curve;
}

size_t tsi_memory_curve_find(const struct memory_curve *curve, int64_t time_ns)
{
	size_t low = 0, high = curve->count;

	TSI_BISECT(low, high, curve->points[middle].time_ns < time_ns);
	return low;
}

/* Totals that are in force from time_ns on. */
static void take_point(struct window_memory *memory, const struct allocator_point *point,
		       int64_t time_ns)
{
	int64_t *bytes = memory->bytes, allocated = point->allocated_bytes,
		reserved = point->reserved_bytes == NO_NUMBER ? NO_BYTES : point->reserved_bytes;

	if (allocated > bytes[STEP_MEMORY_PEAK_ALLOC]) {
		bytes[STEP_MEMORY_PEAK_ALLOC] = allocated;
		memory->peak_ns = time_ns;
	}
	if (reserved > bytes[STEP_MEMORY_PEAK_RESERVED])
		bytes[STEP_MEMORY_PEAK_RESERVED] = reserved;
	bytes[STEP_MEMORY_ALLOC] = allocated;
	bytes[STEP_MEMORY_RESERVED] = reserved;
}

static struct window_memory measure_window(const struct memory_curve *curve, int64_t start_ns,
					   int64_t end_ns)
{
	struct window_memory memory = { .peak_ns = start_ns };
	size_t first = tsi_memory_curve_find(curve, start_ns);

	for (size_t i = 0; i < STEP_MEMORY_COUNT; i++)
		memory.bytes[i] = NO_BYTES;
	if (first > 0)
		take_point(&memory, &curve->points[first - 1], start_ns);
	for (size_t i = first; i < curve->count && curve->points[i].time_ns < end_ns; i++)
		take_point(&memory, &curve->points[i], curve->points[i].time_ns);
	return memory;
}

static void note_step(struct step_series *steps, const struct tscope_timeline *timeline,
		      const struct memory_curve *curve, uint32_t index)
{
	const struct tscope_step *step = &timeline->steps[index];
	struct step_record *record = &steps->records[steps->count - timeline->step_count + index];
	struct window_memory memory =
		measure_window(curve, step->start_ns, step->start_ns + step->wall_ns);

	memcpy(record->memory_bytes, memory.bytes, sizeof(memory.bytes));
	if (record->budget == NO_ROW)
		return;
	struct step_budget *budget = &steps->budgets[record->budget];
	budget->has_alloc_peak = memory.bytes[STEP_MEMORY_PEAK_ALLOC] != NO_BYTES;
	if (budget->has_alloc_peak)
		budget->alloc_peak_ns = tsi_time_of_run(timeline->trace, memory.peak_ns);
}

void tsi_note_memory(struct step_series *steps, const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	struct memory_curve curve = tsi_find_memory_curve(trace);

	steps->memory_event_count += (int64_t)curve.count;
	for (size_t i = 0; i < trace->allocator_point_count; i++)
		steps->oom_count += trace->allocator_points[i].is_oom;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		note_step(steps, timeline, &curve, i);
}
