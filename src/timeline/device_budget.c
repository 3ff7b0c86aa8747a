/* SPDX-License-Identifier: MIT */
/*
 * The budget of each step on each device: every instant of the window goes to
 * exactly one line, so the lines sum to the wall time.
 *
 * Where kernels or copies run the line follows from the unions of the device's
 * activity. Idle time is judged by the next device event n and the start L of
 * its launch call: from L on the device was slow to begin (device_gap); before
 * L the host was late, and what its thread waited for says why.
 *
 *	host     |---- data ----|   launch n
 *	device   === busy ===|                      |=== n ===
 *	line     compute      data  launch  device
 *	                     _stall _stall  _gap
 */
#include "timeline/build.h"
#include "timeline/parts.h"
#include "timeline/pieces.h"
#include "timeline/waits.h"

#include <inttypes.h>

#include "base/error.h"

/* Steps times devices: far more than any capture holds, and half a gigabyte. */
enum { MAX_BUDGETS = 1 << 22 };

struct budget_walk { /* over the time of one device, in order */
	struct tscope_timeline *timeline;
	const struct waits *waits;
	struct part_collector *parts;
	struct piece_collector pieces;
	uint32_t device;
	struct step_cutter cutter;
	uint32_t launch_track; /* of the launch call seen last: often that of the next, too */
};

static struct budget *budget_of(struct budget_walk *walk, uint32_t step)
{
	size_t device_count = walk->timeline->trace->device_count;

	return &walk->timeline->budgets[step * device_count + walk->device];
}

/* row: the event that the time is charged to; it names the part. */
static void charge(struct budget_walk *walk, struct interval piece, enum tscope_budget_line line,
		   uint32_t row)
{
	struct line_piece charged = { .line = (uint8_t)line };
	uint32_t step;
	int64_t length_ns;

	if (line == TSCOPE_BUDGET_COMPUTE)
		charged.phase = tsi_device_event(walk->timeline->trace, row)->phase;
	tsi_cut(&walk->cutter, piece.start_ns, piece.end_ns);
	while (tsi_cut_next(&walk->cutter, &step, &length_ns)) {
		struct budget *budget = budget_of(walk, step);
		budget->line_ns[line] += length_ns;
		if (line == TSCOPE_BUDGET_COMPUTE)
			budget->compute_phase_ns[charged.phase] += length_ns;
		tsi_part_add(walk->parts, step, line, row, length_ns);
		charged.end_ns = walk->cutter.start_ns; /* what is behind it is left */
		charged.start_ns = charged.end_ns - length_ns;
		tsi_piece_add(&walk->pieces, &charged);
	}
}

/* Idle before a launch: because of a wait, or because of who launches. */
static void charge_stall(struct budget_walk *walk, struct interval piece, uint32_t wait,
			 uint32_t call)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	uint32_t op = tsi_call(trace, call)->op;

	if (wait == NO_ROW)
		charge(walk, piece, TSCOPE_BUDGET_LAUNCH_STALL, op == NO_ROW ? call : op);
	else if (tsi_span_class(&trace->spans, wait) == TSCOPE_SPAN_RUNTIME)
		charge(walk, piece, TSCOPE_BUDGET_SYNC_STALL, wait);
	else
		charge(walk, piece, TSCOPE_BUDGET_DATA_STALL, wait);
}

static uint32_t launch_track(struct budget_walk *walk, uint32_t call)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *last = &trace->tracks[walk->launch_track];

	if (call < last->first || call - last->first >= last->count)
		walk->launch_track = tsi_trace_track_of(trace, call);
	return walk->launch_track;
}

/* The host was late: what did the launching thread wait for, or else the main thread? */
static void charge_late_host(struct budget_walk *walk, struct interval late, uint32_t call)
{
	uint32_t track = launch_track(walk, call);

	while (late.start_ns < late.end_ns) {
		struct interval piece = { late.start_ns, late.start_ns };
		uint32_t wait = tsi_waits_next(walk->waits, track, &piece.end_ns, late.end_ns);
		if (wait == NO_ROW) {
			int64_t until_ns = piece.end_ns;
			piece.end_ns = late.start_ns;
			wait = tsi_waits_next(walk->waits, walk->timeline->main_track,
					      &piece.end_ns, until_ns);
		}
		charge_stall(walk, piece, wait, call);
		late.start_ns = piece.end_ns;
	}
}

/* The device is idle until the event of this row. */
static void charge_idle(struct budget_walk *walk, struct interval idle, uint32_t row)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	uint32_t call = tsi_device_event(trace, row)->call;

	if (call == NO_ROW) {
		charge(walk, idle, TSCOPE_BUDGET_UNATTRIBUTED, NO_ROW);
		return;
	}
	struct interval late = { idle.start_ns, tsi_start_ns(&trace->spans, call) };
	if (late.end_ns > idle.end_ns)
		late.end_ns = idle.end_ns;
	if (late.end_ns > late.start_ns) {
		charge_late_host(walk, late, call);
		idle.start_ns = late.end_ns;
	}
	charge(walk, idle, TSCOPE_BUDGET_DEVICE_GAP, row);
}

/*
 * One pass over the events by start: idle time before each, and the compute
 * line with its phases. Where kernels overlap, the one that started first has
 * the instant.
 */
static void charge_events(struct budget_walk *walk)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct device *device = &trace->devices[walk->device];
	const struct tscope_timeline *timeline = walk->timeline;
	int64_t busy_until_ns = timeline->steps[0].start_ns, compute_until_ns = INT64_MIN;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);

		if (start_ns > busy_until_ns)
			charge_idle(walk, (struct interval){ busy_until_ns, start_ns }, row);
		if (end_ns > busy_until_ns)
			busy_until_ns = end_ns;
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_KERNEL)
			continue;
		struct interval piece = tsi_unclaimed(&compute_until_ns, start_ns, end_ns);
		charge(walk, piece, TSCOPE_BUDGET_COMPUTE, row);
	}
	const struct tscope_step *last = &timeline->steps[timeline->step_count - 1];
	struct interval rest = { busy_until_ns, last->start_ns + last->wall_ns };
	charge(walk, rest, TSCOPE_BUDGET_UNATTRIBUTED, NO_ROW);
}

static enum tscope_budget_line line_of_class(uint8_t span_class)
{
	switch (span_class) {
	case TSCOPE_SPAN_KERNEL:
		return TSCOPE_BUDGET_COMPUTE;
	case TSCOPE_SPAN_COMM:
		return TSCOPE_BUDGET_EXPOSED_COMM;
	default:
		return TSCOPE_BUDGET_EXPOSED_COPY;
	}
}

/* One pass over the events of a line, which gets of their time what is in the set. */
static void charge_within(struct budget_walk *walk, const struct interval_set *set,
			  enum tscope_budget_line line)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct device *device = &trace->devices[walk->device];
	struct interval_cursor cursor = { .set = set };
	int64_t claimed_until_ns = INT64_MIN;
	struct interval part;

	walk->cutter.step = 0;
	for (uint32_t i = 0; i < device->row_count && cursor.at < set->count; i++) {
		uint32_t row = device->rows[i];
		if (line_of_class(tsi_span_class(&trace->spans, row)) != line)
			continue;
		struct interval piece =
			tsi_unclaimed(&claimed_until_ns, tsi_start_ns(&trace->spans, row),
				      tsi_span_end(trace, row));
		while (tsi_intervals_next(&cursor, &piece, &part))
			charge(walk, part, line, row);
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

static void charge_devices(struct tscope_timeline *timeline, const struct waits *waits)
{
	struct interval_set exposed = { 0 }, beside_kernels = { 0 };
	struct part_collector parts;

	tsi_parts_begin(&parts, timeline);
	for (uint32_t d = 0; d < timeline->trace->device_count; d++) {
		struct budget_walk walk = {
			.timeline = timeline,
			.waits = waits,
			.parts = &parts,
			.pieces = tsi_pieces_begin(timeline, d),
			.device = d,
			.cutter.timeline = timeline,
		};
		charge_events(&walk);
		tsi_pieces_end_pass(&walk.pieces);
		charge_exposed(&walk, &exposed, &beside_kernels);
	}
}

static bool has_comm(const struct tscope_timeline *timeline)
{
	bool has_kernels = false;

	for (uint32_t d = 0; d < timeline->trace->device_count; d++)
		has_kernels |= timeline->activity[d].comm.count > 0;
	return has_kernels || timeline->trace->collective_count > 0;
}

enum tscope_status tsi_timeline_find_device_budget(struct tscope_timeline *timeline,
						   struct tscope_error *err)
{
	uint64_t budget_count = (uint64_t)timeline->step_count * timeline->trace->device_count;
	struct waits waits;

	if (budget_count > MAX_BUDGETS)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %d budgets: %" PRIu32 " steps on %" PRIu32
				" devices; narrow the range of steps",
				MAX_BUDGETS, timeline->step_count, timeline->trace->device_count);
	timeline->budgets =
		tsi_arena_new(&timeline->arena, (size_t)budget_count, sizeof(*timeline->budgets));
	tsi_pieces_init(timeline, timeline->wants_pieces && has_comm(timeline));
	tsi_waits_init(&waits, timeline->marks, &timeline->scratch);
	if (timeline->budgets && waits.first_of_track)
		charge_devices(timeline, &waits);
	return TSCOPE_OK;
}
