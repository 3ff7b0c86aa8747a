/* SPDX-License-Identifier: MIT */
/*
 * From markers to windows: a step lasts until the next one starts or an evaluation begins, the
 * last one until its own end or that of the last GPU work it launched. Then the
 * work of each step is counted, by the time of its launch, and the steps that
 * statistics must not use are marked.
 */
#include "timeline/build.h"

#include <inttypes.h>

#include "base/bisect.h"
#include "base/error.h"
#include "model/trace/device_rows.h"

/* The profiler's own work in the first step, as a share of its window, from which it is marked. */
enum { STARTUP_MIN_PCT = 1 };

/* A tail step has a cut end if it has fewer device events than this share of the step before. */
enum { COMPLETE_MIN_PCT = 80 };

static int64_t window_end(const struct tscope_step *step)
{
	return step->start_ns + step->wall_ns;
}

uint32_t tsi_timeline_step_at(const struct tscope_timeline *timeline, int64_t t_ns)
{
	uint32_t low = 0, high = timeline->step_count; /* the first step that starts after t */

	TSI_BISECT(low, high, timeline->steps[middle].start_ns <= t_ns);
	return low && t_ns < window_end(&timeline->steps[low - 1]) ? low - 1 : NO_ROW;
}

bool tsi_cut_rest(struct step_cutter *cutter, uint32_t *step, int64_t *length_ns)
{
	const struct tscope_timeline *timeline = cutter->timeline;

	while (cutter->step < timeline->step_count) {
		const struct tscope_step *window = &timeline->steps[cutter->step];
		int64_t start_ns = window->start_ns, end_ns = window_end(window);

		if (start_ns >= cutter->end_ns)
			return false;
		if (start_ns < cutter->start_ns)
			start_ns = cutter->start_ns;
		if (end_ns > cutter->end_ns)
			end_ns = cutter->end_ns;
		if (start_ns < end_ns) {
			cutter->start_ns = end_ns;
			*step = cutter->step;
			*length_ns = end_ns - start_ns;
			return true;
		}
		cutter->step++;
	}
	return false;
}

int64_t tsi_timeline_launch_time(const struct tscope_trace *trace, uint32_t row)
{
	uint32_t launch = tsi_launch_row(trace, row);

	return tsi_start_ns(&trace->spans, launch == NO_ROW ? row : launch);
}

/* The end of the last GPU work that was launched in [start, end), or end. */
static int64_t end_with_launched_work(const struct tscope_trace *trace, int64_t start_ns,
				      int64_t end_ns)
{
	int64_t last_ns = end_ns;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		int64_t row_end_ns = tsi_span_end(trace, row);
		if (row_end_ns <= last_ns) /* nearly all: their calls are not looked at */
			continue;
		uint32_t launch = tsi_launch_row(trace, row);
		if (launch != NO_ROW && tsi_start_ns(&trace->spans, launch) >= start_ns &&
		    tsi_start_ns(&trace->spans, launch) < end_ns)
			last_ns = row_end_ns;
	}
	return last_ns;
}

/*
 * Composer evaluates between the batches. That is no training: the step before ends where
 * it begins, and what lies between then and the next batch is in no step.
 */
static void end_with_evaluation(struct tscope_timeline *timeline)
{
	const struct landmarks *marks = timeline->marks;
	const struct spans *spans = &timeline->trace->spans;
	uint32_t i = 0;

	for (size_t k = 0; k < marks->count; k++) {
		const struct landmark *mark = &marks->items[k];
		int64_t start_ns = tsi_start_ns(spans, mark->row);

		if (mark->track != timeline->main_track || !(mark->labels & LABEL_EVALUATION))
			continue;
		while (i < timeline->step_count && window_end(&timeline->steps[i]) <= start_ns)
			i++;
		if (i == timeline->step_count)
			return;
		struct tscope_step *step = &timeline->steps[i];
		if (start_ns >= step->start_ns + step->dur_ns)
			step->wall_ns = start_ns - step->start_ns;
	}
}

/* Rounding may let marks overlap by so small a part of one. */
enum { HARMLESS_OVERLAP = 100 };

static void set_windows(struct tscope_timeline *timeline)
{
	struct tscope_step *last = &timeline->steps[timeline->step_count - 1];

	for (struct tscope_step *step = timeline->steps; step < last; step++) {
		step->wall_ns = step[1].start_ns - step->start_ns;
		timeline->overlap_count +=
			step->dur_ns - step->wall_ns > step->dur_ns / HARMLESS_OVERLAP;
	}
	if (timeline->boundary == TSCOPE_BOUNDARY_TRAIN_BATCH)
		end_with_evaluation(timeline);
	last->wall_ns = end_with_launched_work(timeline->trace, last->start_ns,
					       last->start_ns + last->dur_ns) -
			last->start_ns;
}

static void count_device_events(struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	uint32_t last = 0;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		uint32_t step = tsi_timeline_step_near(timeline,
						       tsi_timeline_launch_time(trace, row), &last);
		if (step == NO_ROW)
			continue;
		timeline->step_device_events[step]++;
		timeline->attributed_by_time += tsi_launch_row(trace, row) == NO_ROW;
	}
}

/* Did the profiler start up in the first step? Then it worked for 1 % of it or more. */
static bool holds_startup(const struct tscope_timeline *timeline)
{
	const struct landmarks *marks = timeline->marks;
	const struct tscope_trace *trace = timeline->trace;
	const struct tscope_step *first = &timeline->steps[0];
	int64_t overhead_ns = 0;

	for (size_t i = 0; i < marks->count; i++) {
		if (!(marks->items[i].labels & LABEL_OVERHEAD))
			continue;
		uint32_t row = marks->items[i].row;
		int64_t start_ns = tsi_start_ns(&trace->spans, row),
			end_ns = tsi_span_end(trace, row);
		if (start_ns < first->start_ns)
			start_ns = first->start_ns;
		if (end_ns > window_end(first))
			end_ns = window_end(first);
		if (end_ns > start_ns)
			overhead_ns += end_ns - start_ns;
	}
	return overhead_ns > 0 && overhead_ns >= first->wall_ns / 100 * STARTUP_MIN_PCT;
}

/*
 * Steps differ: only some update accumulated gradients, evaluate, or hold a prompt. The last one is
 * cut if it has less than any. The recording may have begun within the first: that one counts only
 * where steps are the short iterations of an engine.
 */
static bool has_cut_end(const struct tscope_timeline *timeline, const bool *is_lacking)
{
	const uint32_t *counts = timeline->step_device_events;
	uint64_t last = counts[timeline->step_count - 1], least = UINT32_MAX;
	uint32_t first =
		timeline->step_count > 2 && timeline->boundary != TSCOPE_BOUNDARY_ITERATION;

	for (uint32_t i = first; i < timeline->step_count - 1; i++)
		if (!is_lacking[i])
			least = counts[i] < least ? counts[i] : least;
	return least != UINT32_MAX && last * 100 < least * COMPLETE_MIN_PCT;
}

/*
 * The last of Composer's batches lacks its callbacks and the wait for the next: the recording ends
 * among them.
 */
static bool is_last_cut(const struct tscope_timeline *timeline, const bool *is_lacking)
{
	return timeline->boundary == TSCOPE_BOUNDARY_TRAIN_BATCH ||
	       has_cut_end(timeline, is_lacking);
}

/* Steps that lack work would seem idle. They count where no other would. */
static void mark_lost_work(struct tscope_timeline *timeline, const bool *is_lacking)
{
	uint32_t lost_count = 0, whole_count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		bool counts = timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
		lost_count += counts && is_lacking[i];
		whole_count += counts && !is_lacking[i];
	}
	timeline->lacks_work = lost_count > 0 && whole_count == 0;
	for (uint32_t i = 0; whole_count && i < timeline->step_count; i++)
		if (timeline->steps[i].mark == TSCOPE_STEP_COUNTED && is_lacking[i])
			timeline->steps[i].mark = TSCOPE_STEP_UNRECORDED;
}

static void mark_steps(struct tscope_timeline *timeline, const bool *is_lacking, unsigned warmup)
{
	uint32_t next = 0; /* the first step that is not marked */

	if (timeline->captured.is_all) {
		while (next < timeline->step_count)
			timeline->steps[next++].mark = TSCOPE_STEP_CAPTURE;
		return;
	}
	if (timeline->boundary == TSCOPE_BOUNDARY_WHOLE_TRACE)
		return;
	if (timeline->step_count > 1) {
		if (is_last_cut(timeline, is_lacking))
			timeline->steps[timeline->step_count - 1].mark = TSCOPE_STEP_INCOMPLETE;
		if (holds_startup(timeline))
			timeline->steps[next++].mark = TSCOPE_STEP_FIRST;
	}
	for (; warmup && next < timeline->step_count; warmup--)
		timeline->steps[next++].mark = TSCOPE_STEP_WARMUP;
}

void tsi_timeline_finish_steps(struct tscope_timeline *timeline, unsigned warmup)
{
	timeline->step_device_events = tsi_arena_new(&timeline->arena, timeline->step_count,
						     sizeof(*timeline->step_device_events));
	if (!timeline->step_device_events)
		return;
	set_windows(timeline);
	count_device_events(timeline);
	timeline->captured = tsi_find_captured(timeline->trace);
	const bool *is_lacking = tsi_find_lost_work(timeline);
	if (!is_lacking)
		return;
	mark_steps(timeline, is_lacking, warmup);
	mark_lost_work(timeline, is_lacking);
}

enum tscope_status tsi_timeline_keep_range(struct tscope_timeline *timeline, int64_t first,
					   int64_t last, struct tscope_error *err)
{
	int64_t lowest = timeline->steps[0].number, highest = lowest;
	uint32_t kept_count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t number = timeline->steps[i].number;
		lowest = number < lowest ? number : lowest;
		highest = number > highest ? number : highest;
		if (number < first || number > last)
			continue;
		timeline->steps[kept_count] = timeline->steps[i];
		timeline->step_device_events[kept_count++] = timeline->step_device_events[i];
	}
	if (!kept_count)
		return tsi_fail(err, TSCOPE_E_EMPTY,
				"no step from %" PRId64 " to %" PRId64
				": the trace has steps %" PRId64 " to %" PRId64,
				first, last, lowest, highest);
	timeline->step_count = kept_count;
	return TSCOPE_OK;
}

void tsi_timeline_keep_slice(struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	uint32_t kept_count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		struct tscope_step step = timeline->steps[i];

		if (step.start_ns < trace->slice_first_ns || step.start_ns > trace->slice_last_ns)
			continue;
		/* Steps without numbers of their own are counted on from the first. */
		if (!timeline->is_numbered)
			step.number = (int64_t)((uint64_t)trace->slice_number + kept_count);
		timeline->steps[kept_count] = step;
		timeline->step_device_events[kept_count++] = timeline->step_device_events[i];
	}
	if (kept_count > 0)
		timeline->step_count = kept_count;
}
