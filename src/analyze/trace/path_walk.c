/* SPDX-License-Identifier: MIT */
/* The way back along the chain of causes; what it is made of stands in path_walk.h. */
#include "analyze/trace/path_walk.h"

#include "analyze/trace/path_device.h"
#include "analyze/trace/path_thread.h"

struct walk {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	struct path_devices devices;
	struct path_threads threads;
	struct path_cutter cutter;
	struct path_sink *sink;
	int64_t begin_ns; /* of the first step that counts: nothing before is of interest */
	/* Current end of the chain: a time, and either a device event or a thread. */
	int64_t t_ns;
	uint32_t event; /* its row, or NO_ROW */
	uint32_t track; /* of the thread, or NO_ROW */
};

static enum path_line line_of_class(uint8_t span_class)
{
	switch (span_class) {
	case TSCOPE_SPAN_KERNEL:
		return PATH_COMPUTE;
	case TSCOPE_SPAN_COMM:
		return PATH_COMM;
	default:
		return PATH_COPY;
	}
}

/* Goes back to start_ns: so long it took. */
static void go_back(struct walk *walk, int64_t start_ns, enum path_line line, uint32_t row)
{
	struct interval left = { start_ns, walk->t_ns }, part;

	if (start_ns >= walk->t_ns)
		return;
	walk->t_ns = start_ns;
	if (tsi_path_is_whole(&walk->cutter, left.start_ns, left.end_ns)) {
		struct path_piece whole = { left.start_ns, left.end_ns, row, (uint8_t)line };
		walk->sink->take(walk->sink, &whole);
		return;
	}
	while (tsi_path_cut(&walk->cutter, &left, &part)) {
		struct path_piece piece = { part.start_ns, part.end_ns, row, (uint8_t)line };
		walk->sink->take(walk->sink, &piece);
	}
}

static void go_to_event(struct walk *walk, uint32_t row)
{
	walk->event = row;
	walk->track = NO_ROW;
	tsi_path_take_event(&walk->devices, row);
}

static void go_to_thread(struct walk *walk, uint32_t track)
{
	walk->event = NO_ROW;
	walk->track = track;
}

static void leave_event(struct walk *walk)
{
	uint32_t row = walk->event;

	go_back(walk, tsi_start_ns(&walk->trace->spans, row),
		line_of_class(tsi_span_class(&walk->trace->spans, row)), row);
	if (walk->t_ns <= walk->begin_ns)
		return;
	struct path_cause cause = tsi_path_cause_of_event(&walk->devices, row);
	switch (cause.kind) {
	case CAUSE_NONE:
		go_to_thread(walk, NO_ROW);
		break;
	case CAUSE_EARLIER: /* a hole */
		walk->t_ns = cause.time_ns;
		go_to_event(walk, cause.row);
		break;
	case CAUSE_EVENT:
		go_back(walk, cause.time_ns, PATH_DEVICE_GAP, row);
		go_to_event(walk, cause.row);
		break;
	case CAUSE_LAUNCH:
		go_back(walk, cause.time_ns, PATH_LAUNCH, row);
		go_to_thread(walk, tsi_trace_track_of(walk->trace, cause.row));
		break;
	}
}

/* Back on the thread to start_ns, which may be as early as INT64_MIN. */
static void stay_on_thread(struct walk *walk, const struct path_moment *moment, int64_t start_ns)
{
	struct interval time = { start_ns, walk->t_ns };

	walk->t_ns = start_ns;
	tsi_path_put(&walk->threads, walk->track, moment, time);
}

static void leave_idle_time(struct walk *walk, const struct path_moment *moment)
{
	uint32_t other = moment->other;

	if (other != NO_ROW) {
		stay_on_thread(walk, moment, moment->other_ns);
	} else if (moment->start_ns == INT64_MIN && walk->track != walk->threads.main_track) {
		other = walk->threads.main_track; /* who else began it? */
	} else {
		stay_on_thread(walk, moment, moment->start_ns);
		return;
	}
	go_to_thread(walk, other);
	walk->threads.handed_over_ns = moment->other_ns;
}

static void leave_moment(struct walk *walk)
{
	struct path_moment moment =
		tsi_path_before(&walk->threads, walk->track, &walk->t_ns, walk->begin_ns);
	struct path_cause cause = { .kind = CAUSE_NONE };

	if (!moment.is_data && !moment.is_work) {
		leave_idle_time(walk, &moment);
		return;
	}
	if (moment.is_work && moment.span_class == TSCOPE_SPAN_RUNTIME)
		cause = tsi_path_cause_of_call(&walk->devices, moment.row, walk->t_ns);
	if (cause.kind == CAUSE_NONE || cause.time_ns <= moment.start_ns) {
		stay_on_thread(walk, &moment, moment.start_ns);
	} else {
		stay_on_thread(walk, &moment, cause.time_ns);
		go_to_event(walk, cause.row);
	}
}

/* ---- where it begins ----------------------------------------------------------------- */

/* The last event to end of those launched before t, or NO_ROW. */
static uint32_t last_event_launched_before(const struct tscope_trace *trace, int64_t t_ns)
{
	uint32_t best = NO_ROW;

	for (uint32_t d = 0; d < trace->device_count; d++) {
		const struct device *device = &trace->devices[d];
		for (uint32_t i = 0; i < device->row_count; i++) {
			uint32_t row = device->rows[i];
			if (best != NO_ROW && tsi_span_end(trace, row) <= tsi_span_end(trace, best))
				continue;
			if (tsi_timeline_launch_time(trace, row) < t_ns)
				best = row;
		}
	}
	return best;
}

/* Starts at what ended last in the last counted step: device work or the main thread. */
static void go_to_end(struct walk *walk, const struct tscope_step *step)
{
	int64_t end_ns = step->start_ns + step->wall_ns;
	uint32_t row = last_event_launched_before(walk->trace, end_ns);
	bool has_main = walk->timeline->main_track != NO_ROW;

	walk->t_ns = end_ns;
	go_to_thread(walk, walk->timeline->main_track);
	if (row == NO_ROW)
		return;
	int64_t event_end_ns = tsi_span_end(walk->trace, row);
	if (has_main && (event_end_ns < end_ns || event_end_ns <= step->start_ns + step->dur_ns))
		return;
	walk->t_ns = event_end_ns;
	go_to_event(walk, row);
}

/* False: no step counts. */
static bool begin(struct walk *walk)
{
	const struct tscope_timeline *timeline = walk->timeline;
	uint32_t first = 0, end = timeline->step_count;

	while (end > 0 && timeline->steps[end - 1].mark != TSCOPE_STEP_COUNTED)
		end--;
	if (end == 0)
		return false;
	while (timeline->steps[first].mark != TSCOPE_STEP_COUNTED)
		first++;
	walk->begin_ns = timeline->steps[first].start_ns;
	tsi_path_cutter_init(&walk->cutter, timeline, end);
	go_to_end(walk, &timeline->steps[end - 1]);
	return true;
}

void tsi_path_walk(const struct tscope_timeline *timeline, struct path_sink *sink,
		   struct arena *scratch)
{
	struct walk walk = { .trace = timeline->trace, .timeline = timeline, .sink = sink };

	tsi_path_devices_init(&walk.devices, timeline, scratch);
	tsi_path_threads_init(&walk.threads, timeline, scratch);
	walk.threads.cutter = &walk.cutter;
	walk.threads.sink = sink;
	if (scratch->has_failed || !begin(&walk))
		return;
	while (!scratch->has_failed && walk.t_ns > walk.begin_ns) {
		if (walk.event != NO_ROW)
			leave_event(&walk);
		else if (walk.track != NO_ROW)
			leave_moment(&walk);
		else
			break;
	}
	tsi_path_threads_finish(&walk.threads);
}
