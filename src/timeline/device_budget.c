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
#include "timeline/waits.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/error.h"

/* Steps times devices: far more than any capture holds, and half a gigabyte. */
enum { MAX_BUDGETS = 1 << 22 };

struct budget_walk { /* over the time of one device, in order */
	struct tscope_timeline *timeline;
	const struct waits *waits;
	uint32_t device;
	struct step_cutter cutter;
	uint32_t launch_track; /* of the launch call seen last: often that of the next, too */
};

static struct budget *budget_of(struct budget_walk *walk, uint32_t step)
{
	size_t device_count = walk->timeline->trace->device_count;

	return &walk->timeline->budgets[step * device_count + walk->device];
}

static void charge(struct budget_walk *walk, int64_t start_ns, int64_t end_ns,
		   enum tscope_budget_line line)
{
	uint32_t step;
	int64_t length_ns;

	tsi_cut(&walk->cutter, start_ns, end_ns);
	while (tsi_cut_next(&walk->cutter, &step, &length_ns))
		budget_of(walk, step)->line_ns[line] += length_ns;
}

static void charge_compute(struct budget_walk *walk, int64_t start_ns, int64_t end_ns,
			   uint8_t phase)
{
	uint32_t step;
	int64_t length_ns;

	tsi_cut(&walk->cutter, start_ns, end_ns);
	while (tsi_cut_next(&walk->cutter, &step, &length_ns)) {
		budget_of(walk, step)->line_ns[TSCOPE_BUDGET_COMPUTE] += length_ns;
		budget_of(walk, step)->compute_phase_ns[phase] += length_ns;
	}
}

static void charge_set(struct budget_walk *walk, const struct interval_set *set,
		       enum tscope_budget_line line)
{
	walk->cutter.step = 0;
	for (size_t i = 0; i < set->count; i++)
		charge(walk, set->items[i].start_ns, set->items[i].end_ns, line);
}

static enum tscope_budget_line stall_of_label(unsigned label)
{
	if (label == LABEL_DATA)
		return TSCOPE_BUDGET_DATA_STALL;
	return label == LABEL_SYNC ? TSCOPE_BUDGET_SYNC_STALL : TSCOPE_BUDGET_LAUNCH_STALL;
}

/* The host was late: what did the launching thread wait for, or else the main thread? */
static void charge_late_host(struct budget_walk *walk, uint32_t track, int64_t start_ns,
			     int64_t end_ns)
{
	while (start_ns < end_ns) {
		int64_t until_ns = start_ns;
		unsigned label = tsi_waits_next(walk->waits, track, &until_ns, end_ns);
		while (!label && start_ns < until_ns) {
			int64_t main_until_ns = start_ns;
			unsigned main_label = tsi_waits_next(
				walk->waits, walk->timeline->main_track, &main_until_ns, until_ns);
			charge(walk, start_ns, main_until_ns, stall_of_label(main_label));
			start_ns = main_until_ns;
		}
		charge(walk, start_ns, until_ns, stall_of_label(label));
		start_ns = until_ns;
	}
}

static uint32_t launch_track(struct budget_walk *walk, uint32_t call)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *last = &trace->tracks[walk->launch_track];

	if (call < last->first || call - last->first >= last->count)
		walk->launch_track = tsi_trace_track_of(trace, call);
	return walk->launch_track;
}

/* The device is idle in [start, end), until the event of this row. */
static void charge_idle(struct budget_walk *walk, int64_t start_ns, int64_t end_ns, uint32_t row)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	uint32_t call = tsi_device_event(trace, row)->call;

	if (call == NO_ROW) {
		charge(walk, start_ns, end_ns, TSCOPE_BUDGET_UNATTRIBUTED);
		return;
	}
	int64_t launch_ns = trace->spans.start_ns[call];
	if (launch_ns > end_ns)
		launch_ns = end_ns;
	if (launch_ns > start_ns) {
		charge_late_host(walk, launch_track(walk, call), start_ns, launch_ns);
		start_ns = launch_ns;
	}
	charge(walk, start_ns, end_ns, TSCOPE_BUDGET_DEVICE_GAP);
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
		int64_t start_ns = trace->spans.start_ns[row], end_ns = tsi_span_end(trace, row);

		if (start_ns > busy_until_ns)
			charge_idle(walk, busy_until_ns, start_ns, row);
		if (end_ns > busy_until_ns)
			busy_until_ns = end_ns;
		if (trace->spans.span_class[row] != TSCOPE_SPAN_KERNEL)
			continue;
		charge_compute(walk, start_ns > compute_until_ns ? start_ns : compute_until_ns,
			       end_ns, tsi_device_event(trace, row)->phase);
		if (end_ns > compute_until_ns)
			compute_until_ns = end_ns;
	}
	const struct tscope_step *last = &timeline->steps[timeline->step_count - 1];
	charge(walk, busy_until_ns, last->start_ns + last->wall_ns, TSCOPE_BUDGET_UNATTRIBUTED);
}

/* Communication that no kernel hides, and copies that neither hides. */
static enum tscope_status charge_exposed(struct budget_walk *walk, struct interval_set *exposed,
					 struct interval_set *kernels, struct tscope_error *err)
{
	const struct device_activity *activity = &walk->timeline->activity[walk->device];

	if (tsi_intervals_subtract(exposed, &activity->comm, &activity->compute, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	charge_set(walk, exposed, TSCOPE_BUDGET_EXPOSED_COMM);
	if (tsi_intervals_union(kernels, &activity->comm, &activity->compute, err) != TSCOPE_OK ||
	    tsi_intervals_subtract(exposed, &activity->copy, kernels, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	charge_set(walk, exposed, TSCOPE_BUDGET_EXPOSED_COPY);
	return TSCOPE_OK;
}

static enum tscope_status charge_devices(struct tscope_timeline *timeline,
					 const struct waits *waits, struct tscope_error *err)
{
	struct interval_set exposed = { 0 }, kernels = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t d = 0; status == TSCOPE_OK && d < timeline->trace->device_count; d++) {
		struct budget_walk walk = {
			.timeline = timeline,
			.waits = waits,
			.device = d,
			.cutter.timeline = timeline,
		};
		charge_events(&walk);
		status = charge_exposed(&walk, &exposed, &kernels, err);
	}
	tsi_intervals_deinit(&exposed);
	tsi_intervals_deinit(&kernels);
	return status;
}

enum tscope_status tsi_timeline_find_device_budget(struct tscope_timeline *timeline,
						   const struct landmarks *marks,
						   struct tscope_error *err)
{
	uint64_t budget_count = (uint64_t)timeline->step_count * timeline->trace->device_count;
	struct waits waits = { 0 };

	if (budget_count > MAX_BUDGETS)
		return tsi_fail(err, TSCOPE_E_LIMIT,
				"more than %d budgets: %" PRIu32 " steps on %" PRIu32
				" devices; narrow the range of steps",
				MAX_BUDGETS, timeline->step_count, timeline->trace->device_count);
	if (tsi_array_new(&timeline->budgets, (size_t)budget_count, sizeof(*timeline->budgets),
			  err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status = tsi_waits_init(&waits, marks, err);
	if (status == TSCOPE_OK)
		status = charge_devices(timeline, &waits, err);
	tsi_waits_deinit(&waits);
	return status;
}
