/* SPDX-License-Identifier: MIT */
/*
 * Impossible durations. Now and then a profiler gives a device event an end
 * seconds too late; seven such events among 55,000 once made up 62 % of a
 * report's device time. Work on one stream runs in turn (but for a few
 * microseconds of overlap on newer devices), so an event that lasts far into
 * what comes after it, and is either ten times as long as its like or swallows
 * a whole later event, is clipped to the next start. Nothing is dropped.
 */
#include "base/ckd.h"
#include "base/sort.h"
#include "model/trace/build.h"
#include "model/trace/device_rows.h"

#define OVERLAP_SLACK_NS INT64_C(100000)          /* less is how devices work */
#define PLAUSIBLE_DURATION_NS INT64_C(1000000000) /* for an event that nothing follows */
enum { TIMES_LONGER = 10 };

struct repair {
	struct tscope_trace *trace;
	int64_t *median_ns; /* by name id, of names that are under suspicion; 0: not */
	bool has_suspects;
};

/* a > times * b, without overflow for any b >= 0 */
static bool is_times_longer(int64_t a, int64_t b)
{
	return a / TIMES_LONGER > b;
}

static void clip(struct repair *r, uint32_t row, int64_t end_ns)
{
	struct tscope_trace *trace = r->trace;
	int64_t removed = tsi_span_end(trace, row) - end_ns;
	tsi_length_shorten(&trace->spans.durations, row, tsi_dur_ns(&trace->spans, row) - removed);
	if (tsi_ckd_add(&trace->impossible_ns, trace->impossible_ns, removed))
		trace->impossible_ns = INT64_MAX;
	trace->diagnostics[TSCOPE_DIAGNOSTIC_impossible_duration]++;
}

/*
 * Looks at the events of a stream, the last one first, and calls `judge` for
 * each that lasts far into the next one that starts later (`next`, a row).
 */
static void for_each_overlap(struct repair *r, const struct track *track,
			     void (*judge)(struct repair *r, uint32_t row, uint32_t next))
{
	const struct span_times times = tsi_span_times(&r->trace->spans);
	uint32_t next = NO_ROW; /* the first row that starts later than the one looked at */
	int64_t before_ns = INT64_MIN, next_ns = 0; /* starts of the row behind, and of next */
	for (uint32_t row = track->first + track->count; row-- > track->first;) {
		int64_t start_ns = tsi_start_of(times, row);
		if (before_ns > start_ns) {
			next = row + 1;
			next_ns = before_ns;
		}
		before_ns = start_ns;
		if (next != NO_ROW &&
		    start_ns + tsi_dur_of(times, row) - next_ns > OVERLAP_SLACK_NS)
			judge(r, row, next);
	}
}

static void suspect(struct repair *r, uint32_t row, uint32_t next)
{
	(void)next;
	r->has_suspects = true;
	r->median_ns[tsi_name_id(&r->trace->spans, row)] = 1;
}

static void judge_overlap(struct repair *r, uint32_t row, uint32_t next)
{
	struct tscope_trace *trace = r->trace;
	bool is_longer = is_times_longer(tsi_dur_ns(&trace->spans, row),
					 r->median_ns[tsi_name_id(&trace->spans, row)]);
	bool swallows = tsi_span_end(trace, next) < tsi_span_end(trace, row);
	if (is_longer || swallows)
		clip(r, row, tsi_start_ns(&trace->spans, next));
}

static bool is_suspicious(const struct repair *r, uint32_t row)
{
	return r->median_ns[tsi_name_id(&r->trace->spans, row)] != 0;
}

/* Writes the medians of runs of equal names in items, which are sorted by name, then duration. */
static void store_medians(struct repair *r, const struct sort_pair *items, size_t count)
{
	const struct spans *spans = &r->trace->spans;
	for (size_t start = 0, end; start < count; start = end) {
		for (end = start + 1; end < count && items[end].key == items[start].key;)
			end++;
		r->median_ns[items[start].key] =
			tsi_dur_ns(spans, (uint32_t)items[start + (end - start) / 2].value);
	}
}

/* Replaces the mark of each name under suspicion by the median duration of its events. */
static void find_medians(struct repair *r, struct arena *scratch)
{
	const struct spans *spans = &r->trace->spans;
	uint32_t first_row = tsi_first_device_row(r->trace);
	size_t count = 0, filled = 0;
	for (uint32_t row = first_row; row < spans->count; row++)
		count += is_suspicious(r, row);
	struct sort_pair *items = tsi_arena_new(scratch, count, sizeof(*items));
	struct sort_pair *room = tsi_arena_new(scratch, count, sizeof(*room));
	if (!room)
		return;
	for (uint32_t row = first_row; row < spans->count; row++)
		if (is_suspicious(r, row))
			items[filled++] =
				(struct sort_pair){ (uint64_t)tsi_dur_ns(spans, row), row };
	tsi_sort_pairs(items, room, count);
	for (size_t i = 0; i < count; i++)
		items[i].key = tsi_name_id(spans, (uint32_t)items[i].value);
	tsi_sort_pairs(items, room, count);
	store_medians(r, items, count);
}

/*
 * Measures the time that the trace certainly spans: ends of host spans and starts of all. Durations
 * of device events prove nothing here.
 */
static void measure_certain_span(const struct tscope_trace *trace, int64_t *first_ns,
				 int64_t *last_ns)
{
	const struct spans *spans = &trace->spans;
	*first_ns = INT64_MAX;
	*last_ns = INT64_MIN;
	for (uint32_t row = 0; row < spans->count; row++) {
		int64_t start = tsi_start_ns(spans, row);
		int64_t end = tsi_class_is_device(tsi_span_class(spans, row))
				      ? start
				      : tsi_span_end(trace, row);
		*first_ns = start < *first_ns ? start : *first_ns;
		*last_ns = end > *last_ns ? end : *last_ns;
	}
}

/* An event that nothing follows must not outlast the rest of the trace many times. */
static void judge_lengths(struct repair *r)
{
	const struct spans *spans = &r->trace->spans;
	int64_t first_ns = 0, last_ns = 0;
	bool is_measured = false;
	for (uint32_t row = tsi_first_device_row(r->trace); row < spans->count; row++) {
		if (tsi_dur_ns(spans, row) <= PLAUSIBLE_DURATION_NS)
			continue;
		if (!is_measured)
			measure_certain_span(r->trace, &first_ns, &last_ns);
		is_measured = true;
		if (last_ns > first_ns &&
		    is_times_longer(tsi_dur_ns(spans, row), last_ns - first_ns))
			clip(r, row, last_ns);
	}
}

/* Clips what lasts far into what comes after it. */
static void judge_overlaps(struct repair *r, struct arena *scratch)
{
	struct tscope_trace *trace = r->trace;
	for (uint32_t i = trace->host_track_count; i < trace->track_count; i++)
		for_each_overlap(r, &trace->tracks[i], suspect);
	if (!r->has_suspects)
		return;
	find_medians(r, scratch);
	for (uint32_t i = trace->host_track_count; i < trace->track_count; i++)
		for_each_overlap(r, &trace->tracks[i], judge_overlap);
}

void tsi_repair_durations(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	struct repair r = { .trace = trace };
	if (trace->host_track_count == trace->track_count)
		return;
	r.median_ns = tsi_arena_new(&b->scratch, trace->names.count, sizeof(*r.median_ns));
	if (!r.median_ns)
		return;
	judge_overlaps(&r, &b->scratch);
	judge_lengths(&r);
}
