/* SPDX-License-Identifier: MIT */
/*
 * The timeline of a trace for the page: steps, what each device's time went to, streams, threads.
 */
#include "report/html_lanes.h"
#include "timeline/pieces.h"

#include <inttypes.h>

enum { MAX_LANES = 120 };

static uint8_t tone_of_class(uint8_t span_class)
{
	static const uint8_t tones[] = {
		[TSCOPE_SPAN_CPU_OP] = SLICE_OPERATOR,
		[TSCOPE_SPAN_ANNOTATION] = SLICE_ANNOTATION,
		[TSCOPE_SPAN_RUNTIME] = SLICE_CALL,
		[TSCOPE_SPAN_PYTHON] = SLICE_PYTHON,
		[TSCOPE_SPAN_GC] = SLICE_PYTHON,
		[TSCOPE_SPAN_OVERHEAD] = SLICE_OTHER,
		[TSCOPE_SPAN_OTHER] = SLICE_OTHER,
		[TSCOPE_SPAN_KERNEL] = TSCOPE_BUDGET_COMPUTE,
		[TSCOPE_SPAN_COMM] = TSCOPE_BUDGET_EXPOSED_COMM,
		[TSCOPE_SPAN_MEMCPY] = TSCOPE_BUDGET_EXPOSED_COPY,
		[TSCOPE_SPAN_MEMSET] = TSCOPE_BUDGET_EXPOSED_COPY,
	};

	return tones[span_class];
}

static void put_steps(struct lanes *lanes, const struct tscope_timeline *timeline)
{
	tsi_lane_begin(lanes, "steps", "");
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		const struct tscope_step *step = &timeline->steps[i];
		char name[64];

		snprintf(name, sizeof(name), "step %" PRId64 "%s%s", step->number,
			 step->mark != TSCOPE_STEP_COUNTED ? ", " : "",
			 tscope_step_mark_name(step->mark));
		tsi_lane_add(lanes, &(struct slice){ .start_ns = step->start_ns,
						     .dur_ns = step->wall_ns,
						     .name = tsi_lane_name(lanes, name),
						     .count = 1,
						     .match = UINT32_MAX,
						     .tone = SLICE_STEP });
	}
	tsi_lane_end(lanes);
}

/* Which line each instant went to, the idle ones by cause. */
static void put_budget(struct lanes *lanes, const struct tscope_timeline *timeline, uint32_t device)
{
	struct piece_cursor cursor = tsi_piece_cursor(&timeline->pieces[device]);
	struct line_piece piece;
	char group[32];

	snprintf(group, sizeof(group), "device %" PRId32, timeline->trace->devices[device].ordinal);
	tsi_lane_begin(lanes, group, "busy and idle by cause");
	while (tsi_piece_next(&cursor, &piece)) {
		const char *name = tscope_budget_line_name((enum tscope_budget_line)piece.line);

		if (piece.line >= TSCOPE_BUDGET_DATA_STALL)
			name = tsi_idle_cause_words((enum idle_cause)piece.phase);
		tsi_lane_add(lanes, &(struct slice){ .start_ns = piece.start_ns,
						     .dur_ns = piece.end_ns - piece.start_ns,
						     .name = tsi_lane_name(lanes, name),
						     .count = 1,
						     .match = UINT32_MAX,
						     .tone = piece.line });
	}
	tsi_lane_end(lanes);
}

/* How many of the spans before enclose the start of this one: the ends of those that are open. */
static uint8_t depth_at(int64_t ends_ns[LANE_MAX_DEPTH], unsigned *open, int64_t start_ns,
			int64_t end_ns)
{
	unsigned depth;

	while (*open > 0 && ends_ns[*open - 1] <= start_ns)
		--*open;
	depth = *open;
	if (depth < LANE_MAX_DEPTH)
		ends_ns[(*open)++] = end_ns;
	return (uint8_t)(depth < LANE_MAX_DEPTH ? depth : LANE_MAX_DEPTH - 1);
}

static void put_track_head(struct lanes *lanes, const struct tscope_track *track)
{
	char group[32], label[160];

	if (track->is_device) {
		snprintf(group, sizeof(group), "device %" PRId32, track->device);
		snprintf(label, sizeof(label), "stream %" PRId64, track->stream);
	} else {
		snprintf(group, sizeof(group), "host");
		/* "thread 17 (python)" already says which. */
		snprintf(label, sizeof(label), "%s%s%.100s",
			 strstr(track->name, track->tid) ? "" : track->tid,
			 *track->name && !strstr(track->name, track->tid) ? " " : "", track->name);
	}
	tsi_lane_begin(lanes, group, label);
}

/* names: by id of the trace, that of the lanes + 1; 0: not asked for yet. */
static void put_track(struct lanes *lanes, const struct tscope_trace *trace, uint32_t index,
		      uint32_t *names)
{
	struct tscope_track track = tscope_trace_track(trace, index);
	int64_t ends_ns[LANE_MAX_DEPTH];
	unsigned open = 0;

	put_track_head(lanes, &track);
	for (uint32_t row = track.first; row - track.first < track.count; row++) {
		const struct span_kind *kind = tsi_span_kind(&trace->spans, row);
		struct slice slice = { .start_ns = tsi_start_ns(&trace->spans, row),
				       .dur_ns = tsi_dur_ns(&trace->spans, row),
				       .count = 1,
				       .match = UINT32_MAX,
				       .tone = tone_of_class((uint8_t)kind->span_class) };

		if (names[kind->name] == 0)
			names[kind->name] =
				tsi_lane_name(lanes,
					      tsi_intern_text(&trace->names, kind->name).data) +
				1;
		slice.name = names[kind->name] - 1;
		if (!track.is_device)
			slice.depth = depth_at(ends_ns, &open, slice.start_ns,
					       slice.start_ns + slice.dur_ns);
		tsi_lane_add(lanes, &slice);
	}
	tsi_lane_end(lanes);
}

/* Devices first; of a trace with more tracks than anybody looks at those that come first. */
static uint32_t put_tracks(struct lanes *lanes, const struct tscope_trace *trace,
			   bool wants_devices, uint32_t *names, uint32_t left)
{
	for (uint32_t i = 0; i < trace->track_count && left > 0; i++) {
		if (trace->tracks[i].is_device != wants_devices || trace->tracks[i].count == 0)
			continue;
		put_track(lanes, trace, i, names);
		left--;
	}
	return left;
}

static void put_lanes(struct lanes *lanes, const struct tscope_timeline *timeline)
{
	const struct tscope_trace *trace = timeline->trace;
	uint32_t *names = tsi_arena_new(&lanes->arena, trace->names.count, sizeof(*names));
	uint32_t left = MAX_LANES;

	put_steps(lanes, timeline);
	for (uint32_t i = 0; timeline->pieces && i < trace->device_count; i++)
		put_budget(lanes, timeline, i);
	if (names) {
		left = put_tracks(lanes, trace, true, names, left);
		(void)put_tracks(lanes, trace, false, names, left);
	}
}

void tsi_html_trace_lanes(struct json_writer *w, const struct tscope_analysis *analysis,
			  size_t limit)
{
	const struct tscope_timeline *timeline = tscope_analysis_timeline(analysis);
	const struct tscope_trace *trace = tscope_analysis_trace(analysis);
	struct slice_lengths lengths = { 0 };
	struct lanes lanes;

	if (!trace || !timeline)
		return;
	for (uint32_t row = 0; row < trace->spans.count; row++)
		tsi_count_slice(&lengths, tsi_start_ns(&trace->spans, row),
				tsi_dur_ns(&trace->spans, row));
	if (!tsi_lanes_begin(&lanes, w, &lengths, limit))
		return;
	put_lanes(&lanes, timeline);
	tsi_lanes_end(&lanes);
}
