/* SPDX-License-Identifier: MIT */
/*
 * The budget of each step on each device: every instant of the window goes to
 * exactly one line, so the lines sum to the wall time.
 *
 * Where kernels or copies run the line follows from the unions of the device's
 * activity. The gaps between are listed, and divided by their causes (idle_walk.c) once it is
 * known what the threads did meanwhile.
 */
#include "timeline/device_walk.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"

/* Steps times devices: far more than any capture holds, and half a gigabyte. */
enum { MAX_BUDGETS = 1 << 21 };

void tsi_charge(struct budget_walk *walk, struct interval piece, unsigned slot, uint32_t row)
{
	tsi_charge_inline(walk, piece, slot, row);
}

static void add_gap(struct budget_walk *walk, int64_t start_ns, uint32_t row)
{
	struct idle_gaps *gaps = &walk->devices->gaps[walk->device];
	struct idle_gap *items =
		tsi_arena_reserve(&walk->timeline->scratch, gaps->items, &gaps->capacity,
				  gaps->count + 1, sizeof(*items));

	if (!items)
		return;
	gaps->items = items;
	items[gaps->count++] = (struct idle_gap){ start_ns, row };
}

static void add_other(struct budget_walk *walk, uint32_t row)
{
	uint32_t *other = tsi_arena_push(&walk->timeline->scratch, &walk->others,
					 &walk->other_count, &walk->other_capacity, sizeof(*other));
	if (other)
		*other = row;
}

/*
 * One pass over the events by start: the gap before each, and the compute
 * line with its phases. Where kernels overlap, the one that started first has
 * the instant.
 */
static void charge_events(struct budget_walk *walk)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct device *device = &trace->devices[walk->device];
	const struct tscope_timeline *timeline = walk->timeline;
	const struct tscope_step *last = &timeline->steps[timeline->step_count - 1];
	int64_t busy_until_ns = timeline->steps[0].start_ns, compute_until_ns = INT64_MIN;
	int64_t last_ns = last->start_ns + last->wall_ns;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);

		if (start_ns > busy_until_ns && busy_until_ns < last_ns)
			add_gap(walk, busy_until_ns, row);
		if (end_ns > busy_until_ns)
			busy_until_ns = end_ns;
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_KERNEL) {
			add_other(walk, row);
			continue;
		}
		struct interval piece = tsi_unclaimed(&compute_until_ns, start_ns, end_ns);
		tsi_charge_inline(walk, piece, TSCOPE_BUDGET_COMPUTE, row);
	}
	if (busy_until_ns < last_ns)
		add_gap(walk, busy_until_ns, NO_ROW);
}

/* The line of anything but kernels. */
static enum tscope_budget_line line_of_class(uint8_t span_class)
{
	return span_class == TSCOPE_SPAN_COMM ? TSCOPE_BUDGET_EXPOSED_COMM
					      : TSCOPE_BUDGET_EXPOSED_COPY;
}

/* One pass over the events of a line, which gets of their time what is in the set. */
static void charge_within(struct budget_walk *walk, const struct interval_set *set,
			  enum tscope_budget_line line)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct interval_cursor cursor = { .set = set };
	int64_t claimed_until_ns = INT64_MIN;
	struct interval part;

	walk->cutter.step = 0;
	for (size_t i = 0; i < walk->other_count && cursor.at < set->count; i++) {
		uint32_t row = walk->others[i];
		if (line_of_class(tsi_span_class(&trace->spans, row)) != line)
			continue;
		struct interval piece =
			tsi_unclaimed(&claimed_until_ns, tsi_start_ns(&trace->spans, row),
				      tsi_span_end(trace, row));
		while (tsi_intervals_next(&cursor, &piece, &part))
			tsi_charge(walk, part, line, row);
	}
}

/*
 * Communication that no kernel hides, and copies that neither hides. Copies are few: to take the
 * two sets from them, one after the other, costs no list of all kernels.
 */
static void charge_exposed(struct budget_walk *walk, struct interval_set *exposed,
			   struct interval_set *beside_kernels)
{
	const struct device_activity *activity = &walk->timeline->activity[walk->device];
	struct arena *scratch = &walk->timeline->scratch;

	tsi_intervals_subtract(exposed, &activity->comm, &activity->compute, scratch);
	charge_within(walk, exposed, TSCOPE_BUDGET_EXPOSED_COMM);
	tsi_pieces_end_pass(&walk->pieces);
	tsi_intervals_subtract(beside_kernels, &activity->copy, &activity->compute, scratch);
	tsi_intervals_subtract(exposed, beside_kernels, &activity->comm, scratch);
	charge_within(walk, exposed, TSCOPE_BUDGET_EXPOSED_COPY);
	tsi_pieces_end_pass(&walk->pieces);
}

static struct budget_walk begin_walk(struct device_walk *devices, struct part_collector *parts,
				     uint32_t device)
{
	return (struct budget_walk){
		.timeline = devices->timeline,
		.devices = devices,
		.parts = parts,
		.pieces = tsi_pieces_begin(devices->timeline, device),
		.device = device,
		.cutter.timeline = devices->timeline,
		.lost.set = &devices->timeline->lost_work,
		.track = NO_ROW,
		.inside = NO_ROW,
	};
}

static void charge_devices(struct tscope_timeline *timeline)
{
	uint32_t device_count = timeline->trace->device_count;
	struct device_walk devices = { .timeline = timeline };
	struct interval_set exposed = { 0 }, beside_kernels = { 0 };
	struct part_collector parts;

	devices.gaps = tsi_arena_new(&timeline->scratch, device_count, sizeof(*devices.gaps));
	tsi_parts_begin(&parts, timeline);
	for (uint32_t d = 0; devices.gaps && d < device_count; d++) {
		struct budget_walk walk = begin_walk(&devices, &parts, d);
		charge_events(&walk);
		tsi_pieces_end_pass(&walk.pieces);
		charge_exposed(&walk, &exposed, &beside_kernels);
	}
	tsi_find_idle_hosts(&devices);
	for (uint32_t d = 0; d < device_count && !timeline->scratch.has_failed; d++) {
		struct budget_walk walk = begin_walk(&devices, &parts, d);
		tsi_charge_gaps(&walk);
		tsi_pieces_end_pass(&walk.pieces);
	}
}

/* Forgets what the steps' time went to: other steps count now. */
static void start_again(struct tscope_timeline *timeline)
{
	size_t budget_count = (size_t)timeline->step_count * timeline->trace->device_count;

	memset(timeline->budgets, 0, budget_count * sizeof(*timeline->budgets));
	for (unsigned slot = 0; slot < TSI_PART_SLOTS; slot++)
		timeline->parts[slot].count = 0;
	for (uint32_t i = 0; timeline->pieces && i < tsi_piece_list_count(timeline); i++)
		timeline->pieces[i].count = timeline->pieces[i].pass_count = 0;
	timeline->long_gap_count = 0;
}

static bool has_comm(const struct tscope_timeline *timeline)
{
	bool has_kernels = false;

	for (uint32_t d = 0; d < timeline->trace->device_count; d++)
		has_kernels |= timeline->activity[d].comm.count > 0;
	return has_kernels || timeline->trace->collective_count > 0;
}

enum tscope_status tsi_timeline_find_device_budget(struct tscope_timeline *timeline, bool keep_cold,
						   struct tscope_error *err)
{
	uint64_t budget_count = (uint64_t)timeline->step_count * timeline->trace->device_count;

	if (budget_count > MAX_BUDGETS)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %d budgets: %" PRIu32 " steps on %" PRIu32
				" devices; narrow the range of steps",
				MAX_BUDGETS, timeline->step_count, timeline->trace->device_count);
	timeline->budgets =
		tsi_arena_new(&timeline->arena, (size_t)budget_count, sizeof(*timeline->budgets));
	tsi_pieces_init(timeline,
			timeline->keeps_causes || (timeline->wants_pieces && has_comm(timeline)));
	if (!timeline->budgets)
		return TSCOPE_OK; /* the arena remembers */
	charge_devices(timeline);
	if (!keep_cold && tsi_timeline_mark_cold(timeline)) {
		start_again(timeline);
		if (!timeline->scratch.has_failed)
			tsi_arena_deinit(&timeline->scratch);
		charge_devices(timeline);
	}
	return TSCOPE_OK;
}
