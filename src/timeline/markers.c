/* SPDX-License-Identifier: MIT */
/*
 * Which marks of an optimizer end a step, and which ProfilerSteps hide steps: identified by the
 * backward passes between the marks, and by the batches that were fetched.
 */
#include "timeline/markers.h"

#include "base/bisect.h"

static int64_t end_of(const struct tscope_step *marker)
{
	return marker->start_ns + marker->dur_ns;
}

/* The first marker that ends at or after t; count: none. Ends ascend as starts do. */
static size_t first_ending_after(const struct markers *markers, int64_t t_ns)
{
	size_t low = 0, high = markers->count;

	TSI_BISECT(low, high, end_of(&markers->items[middle]) < t_ns);
	return low;
}

/* ---- turns of optimizers ------------------------------------------------------------------ */

/* Facts about a marker. */
enum {
	AFTER_BACKWARD = 1 << 0, /* a backward pass began since the marker before it ended */
	WITHIN_BACKWARD = 1 << 1,
};

/* A closure's backward pass lies within its own marker: that is behind the one before, too. */
static bool find_backward(unsigned char *seen, const struct markers *markers,
			  const struct landmarks *marks)
{
	const struct tscope_trace *trace = marks->trace;
	bool has_any = false;

	for (uint32_t track = 0; track < trace->track_count; track++) {
		uint32_t first = trace->tracks[track].first, count = trace->tracks[track].count;

		for (uint32_t row = first; row < first + count; row++) {
			if (!(tsi_labels_of_row(marks, row) & LABEL_BACKWARD))
				continue;
			size_t next = first_ending_after(markers, tsi_start_ns(&trace->spans, row));
			if (next < markers->count)
				seen[next] |= AFTER_BACKWARD;
			has_any = true;
		}
	}
	return has_any;
}

/* On the markers' own thread, whose rows ascend by start. */
static void find_within_backward(unsigned char *seen, const struct markers *markers,
				 const struct landmarks *marks)
{
	const struct tscope_trace *trace = marks->trace;
	const struct track *track = &trace->tracks[markers->track];
	uint32_t row = track->first, end = track->first + track->count;
	int64_t latest_end_ns = INT64_MIN; /* of those that began so far */

	for (size_t i = 0; i < markers->count; i++) {
		for (; row < end && tsi_start_ns(&trace->spans, row) <= markers->items[i].start_ns;
		     row++)
			if ((tsi_labels_of_row(marks, row) & LABEL_BACKWARD) &&
			    tsi_span_end(trace, row) > latest_end_ns)
				latest_end_ns = tsi_span_end(trace, row);
		if (end_of(&markers->items[i]) <= latest_end_ns)
			seen[i] |= WITHIN_BACKWARD;
	}
}

static void join_turns(struct markers *markers, const unsigned char *seen)
{
	size_t kept = 0;
	bool is_after_backward = true;

	for (size_t i = 0; i < markers->count; i++) {
		struct tscope_step marker = markers->items[i];

		is_after_backward |= (seen[i] & AFTER_BACKWARD) != 0;
		if (seen[i] & WITHIN_BACKWARD)
			continue;
		if (is_after_backward) {
			marker.number = (int64_t)kept;
			markers->items[kept++] = marker;
		} else {
			struct tscope_step *last = &markers->items[kept - 1];
			last->dur_ns = end_of(&marker) - last->start_ns;
		}
		is_after_backward = false;
	}
	markers->count = kept;
}

void tsi_markers_join_turns(struct markers *markers, const struct landmarks *marks,
			    struct arena *scratch)
{
	unsigned char *seen = tsi_arena_new(scratch, markers->count, sizeof(*seen));

	if (markers->count == 0 || !seen || !find_backward(seen, markers, marks))
		return;
	find_within_backward(seen, markers, marks);
	join_turns(markers, seen);
}

/* ---- hidden steps ------------------------------------------------------------------------- */

/* Counts the waits for a loader by the marker that they begin in; not those within another. */
static bool count_fetches(uint32_t *counts, const struct markers *markers,
			  const struct landmarks *marks)
{
	const struct tscope_trace *trace = marks->trace;
	int64_t last_end_ns = INT64_MIN;
	uint32_t last_track = NO_ROW;
	bool has_any = false;

	for (size_t i = 0; i < marks->count; i++) {
		const struct landmark *mark = &marks->items[i];
		int64_t start_ns = tsi_start_ns(&trace->spans, mark->row);

		if (!(mark->labels & LABEL_DATA) ||
		    (mark->track == last_track && start_ns < last_end_ns))
			continue;
		last_track = mark->track;
		last_end_ns = tsi_span_end(trace, mark->row);
		has_any = true;

		size_t marker = first_ending_after(markers, start_ns);
		if (marker < markers->count && markers->items[marker].start_ns <= start_ns)
			counts[marker]++;
	}
	return has_any;
}

/* How many ends of inner markers the outer one holds; *next is the first that was not asked yet. */
static size_t count_within(const struct tscope_step *outer, const struct markers *inner,
			   size_t *next)
{
	size_t count = 0;

	for (; *next < inner->count; ++*next) {
		int64_t end_ns = end_of(&inner->items[*next]);
		if (end_ns > end_of(outer))
			break;
		count += end_ns > outer->start_ns;
	}
	return count;
}

/* fetches: by outer marker; NULL: the trace shows none. */
static bool hide_steps(const struct markers *outer, const struct markers *inner,
		       const uint32_t *fetches)
{
	size_t holding_count = 0, hiding_count = 0, next = 0;

	for (size_t i = 0; i < outer->count; i++) {
		size_t count = count_within(&outer->items[i], inner, &next);

		holding_count += count > 0;
		/* The first batch may have been fetched before, the one after the last here. */
		hiding_count += count >= 2 && (!fetches || 2 * (size_t)fetches[i] > count);
	}
	return 2 * hiding_count > holding_count;
}

bool tsi_markers_hold_several(const struct markers *outer, const struct markers *inner)
{
	return hide_steps(outer, inner, NULL);
}

bool tsi_markers_hide_steps(const struct markers *outer, const struct markers *inner,
			    const struct landmarks *marks, struct arena *scratch)
{
	uint32_t *fetches = tsi_arena_new(scratch, outer->count, sizeof(*fetches));

	if (!fetches)
		return false;
	return hide_steps(outer, inner, count_fetches(fetches, outer, marks) ? fetches : NULL);
}
