/* SPDX-License-Identifier: MIT */
/*
 * Allocations on accelerators while the trace was taken: PyTorch writes an instant for each block
 * that comes or goes, with the totals of the whole process. The CPU's are left out: its totals
 * count only blocks that came while they were watched.
 */
#include "base/error.h"
#include "decode/json.h"
#include "model/trace/args.h"
#include "model/trace/build.h"
#include "model/trace/order.h"

#include <inttypes.h>

enum { DEVICE_TYPE_CPU = 0 };

static bool is_oom_event(struct str name)
{
	return tsi_str_is(name, "[OutOfMemory]");
}

bool tsi_is_memory_event(struct str name)
{
	return tsi_str_is(name, "[memory]") || is_oom_event(name);
}

/* NO_NUMBER: not said. */
struct memory_numbers {
	int64_t device_type, device, allocated, reserved, bytes, address;
};

static int64_t number_of(struct str value)
{
	int64_t number;

	return tsi_json_to_int64(value, &number) ? number : NO_NUMBER;
}

static void read_args(struct builder *b, struct str args, struct memory_numbers *numbers)
{
	struct members members = tsi_members_open(b->isa, &b->memory_args, tsi_find_arg, args);
	struct str value;
	unsigned arg;

	*numbers = (struct memory_numbers){ NO_NUMBER, NO_NUMBER, NO_NUMBER,
					    NO_NUMBER, NO_NUMBER, NO_NUMBER };
	while (tsi_members_next(&members, &arg, &value)) {
		if (arg == ARG_DEVICE_TYPE)
			numbers->device_type = number_of(value);
		else if (arg == ARG_DEVICE_ID)
			numbers->device = number_of(value);
		else if (arg == ARG_ALLOCATED)
			numbers->allocated = number_of(value);
		else if (arg == ARG_RESERVED)
			numbers->reserved = number_of(value);
		else if (arg == ARG_BLOCK_BYTES)
			numbers->bytes = number_of(value);
		else if (arg == ARG_ADDRESS)
			numbers->address = number_of(value);
	}
}

/* The sign is enough for blocks that go, and all that known.c reads of those. */
static int64_t block_bytes(int64_t bytes)
{
	return bytes == NO_NUMBER ? 0 : bytes < 0 ? BLOCK_WENT : bytes;
}

void tsi_keep_allocator_point(struct builder *b, const struct allocator_point *point)
{
	struct tscope_trace *trace = b->trace;

	if (tsi_builder_reserve(b, &trace->allocator_points, &trace->allocator_point_capacity,
				trace->allocator_point_count + 1, sizeof(*trace->allocator_points)))
		trace->allocator_points[trace->allocator_point_count++] = *point;
}

void tsi_add_allocator_point(struct builder *b, const struct raw_event *event)
{
	struct memory_numbers numbers;

	read_args(b, event->args, &numbers);
	if (numbers.device_type == DEVICE_TYPE_CPU)
		return;
	if (numbers.device_type == NO_NUMBER || numbers.allocated < 0 ||
	    numbers.device < INT32_MIN || numbers.device > INT32_MAX) {
		b->sink.diagnostics[TSCOPE_DIAGNOSTIC_memory_without_total]++;
		return;
	}
	struct allocator_point point = {
		.time_ns = event->ts_ns,
		.allocated_bytes = numbers.allocated,
		.reserved_bytes = numbers.reserved < 0 ? NO_NUMBER : numbers.reserved,
		.block_bytes = block_bytes(numbers.bytes),
		.address = numbers.address < 0 ? 0 : (uint64_t)numbers.address,
		.device = (int32_t)numbers.device,
		.track = tsi_find_host_track(b, event) & NO_POINT_TRACK,
		.is_oom = is_oom_event(event->name),
	};
	tsi_keep_allocator_point(b, &point);
}

/* ---- their order --------------------------------------------------------------------- */

static bool is_sorted(const struct allocator_point *points, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (points[i - 1].device > points[i].device ||
		    (points[i - 1].device == points[i].device &&
		     points[i - 1].time_ns > points[i].time_ns))
			return false;
	return true;
}

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	const struct allocator_point *points = context;
	if (points[a].device != points[b].device)
		return points[a].device > points[b].device;
	return points[a].time_ns > points[b].time_ns;
}

/* Makes point list[i] the i-th. They move up in rings, in each of which one waits. */
static void reorder(struct allocator_point *points, uint32_t *list, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct allocator_point waiting = points[i];
		uint32_t to = i;
		for (uint32_t from; (from = list[to]) != i; to = from) {
			points[to] = points[from];
			list[to] = to;
		}
		points[to] = waiting;
		list[to] = to;
	}
}

/* Those of one thread came in order, or nearly: a list of numbers sorts that with little memory. */
void tsi_sort_allocator_points(struct builder *b)
{
	struct allocator_point *points = b->trace->allocator_points;
	size_t count = b->trace->allocator_point_count;

	if (is_sorted(points, count))
		return;
	if (count > UINT32_MAX) {
		struct tscope_error err;
		tsi_fail(&err, TSCOPE_E_LIMIT, "more than %" PRIu32 " memory events", UINT32_MAX);
		tsi_builder_fail(b, &err);
		return;
	}
	uint32_t *list = tsi_arena_new(&b->scratch, count, sizeof(*list));
	if (!list)
		return;
	for (uint32_t i = 0; i < count; i++)
		list[i] = i;
	tsi_sort_list(b, list, (uint32_t)count, is_behind, points);
	reorder(points, list, (uint32_t)count);
}
