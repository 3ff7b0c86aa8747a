/* SPDX-License-Identifier: MIT */
/*
 * The budget of a trace without devices: what the main thread is in, innermost
 * first, by annotations and operators. Operators within nothing named are
 * forward work. Where the main thread is in nothing while a backward thread
 * works, it waits for backward. The rest is other: lines sum to the wall time.
 */
#include "timeline/build.h"
#include "timeline/flatten.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

struct host_walk {
	struct tscope_timeline *timeline;
	const struct landmarks *marks;
	struct flattener main;          /* labels: enum host_line */
	struct interval_set main_named; /* when the main thread is in something */
	struct interval_set backward;   /* when other threads work on backward */
	struct interval_set waits;      /* backward less main_named */
};

static enum host_line line_of_labels(unsigned labels)
{
	if (labels & LABEL_DATA)
		return HOST_DATA;
	if (labels & LABEL_COMM)
		return HOST_COMM;
	if (labels & LABEL_OPTIMIZER)
		return HOST_OPTIMIZER;
	if (labels & LABEL_BACKWARD)
		return HOST_BACKWARD;
	return labels & LABEL_FORWARD ? HOST_FORWARD : HOST_OTHER;
}

static enum tscope_status flatten_main(struct host_walk *walk, struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *track = &trace->tracks[walk->timeline->main_track];
	int64_t named_until_ns = INT64_MIN;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = trace->spans.start_ns[row], end_ns = tsi_span_end(trace, row);
		enum host_line line = line_of_labels(tsi_labels_of_row(walk->marks, row));

		if (line != HOST_OTHER && end_ns > named_until_ns)
			named_until_ns = end_ns;
		if (line == HOST_OTHER && start_ns >= named_until_ns &&
		    trace->spans.span_class[row] == TSCOPE_SPAN_CPU_OP)
			line = HOST_FORWARD;
		if (line != HOST_OTHER &&
		    tsi_flatten_add(&walk->main, start_ns, end_ns, line, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	if (tsi_flatten_end(&walk->main, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < walk->main.count; i++)
		if (tsi_intervals_append(&walk->main_named, walk->main.segments[i].start_ns,
					 walk->main.segments[i].end_ns, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* The rows of other threads that are backward work, by start. */
static enum tscope_status list_backward(const struct host_walk *walk, struct sort_pair **pairs,
					size_t *count, struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	size_t capacity = 0;

	for (uint32_t t = 0; t < trace->host_track_count; t++) {
		const struct track *track = &trace->tracks[t];
		for (uint32_t row = track->first; row < track->first + track->count; row++) {
			if (t == walk->timeline->main_track ||
			    !(tsi_labels_of_row(walk->marks, row) & LABEL_BACKWARD))
				continue;
			if (tsi_array_reserve(pairs, &capacity, *count + 1, sizeof(**pairs), err) !=
			    TSCOPE_OK)
				return TSCOPE_E_NOMEM;
			uint64_t key = tsi_sort_key_of_int64(trace->spans.start_ns[row]);
			(*pairs)[(*count)++] = (struct sort_pair){ key, row };
		}
	}
	return TSCOPE_OK;
}

static enum tscope_status find_backward(struct host_walk *walk, struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct sort_pair *pairs = NULL, *scratch = NULL;
	size_t count = 0;
	enum tscope_status status = list_backward(walk, &pairs, &count, err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, count, sizeof(*scratch), err);
	if (status == TSCOPE_OK)
		tsi_sort_pairs(pairs, scratch, count);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		uint32_t row = (uint32_t)pairs[i].value;
		status = tsi_intervals_append(&walk->backward, trace->spans.start_ns[row],
					      tsi_span_end(trace, row), err);
	}
	free(pairs);
	free(scratch);
	return status;
}

static void charge(struct host_walk *walk, struct step_cutter *cutter, struct interval piece,
		   enum host_line line)
{
	uint32_t step;
	int64_t length_ns;

	tsi_cut(cutter, piece.start_ns, piece.end_ns);
	while (tsi_cut_next(cutter, &step, &length_ns))
		walk->timeline->host_budgets[step].line_ns[line] += length_ns;
}

static void charge_all(struct host_walk *walk)
{
	struct tscope_timeline *timeline = walk->timeline;
	struct step_cutter main = { .timeline = timeline }, others = main;

	for (size_t i = 0; i < walk->main.count; i++) {
		const struct flat_segment *segment = &walk->main.segments[i];
		charge(walk, &main, (struct interval){ segment->start_ns, segment->end_ns },
		       (enum host_line)segment->label);
	}
	for (size_t i = 0; i < walk->waits.count; i++)
		charge(walk, &others, walk->waits.items[i], HOST_BACKWARD);

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t *line_ns = timeline->host_budgets[i].line_ns;
		line_ns[HOST_OTHER] = timeline->steps[i].wall_ns;
		for (unsigned line = 0; line < HOST_OTHER; line++)
			line_ns[HOST_OTHER] -= line_ns[line];
	}
}

enum tscope_status tsi_timeline_find_host_budget(struct tscope_timeline *timeline,
						 const struct landmarks *marks,
						 struct tscope_error *err)
{
	struct host_walk walk = { .timeline = timeline, .marks = marks };
	enum tscope_status status = tsi_array_new(&timeline->host_budgets, timeline->step_count,
						  sizeof(*timeline->host_budgets), err);

	if (status == TSCOPE_OK && timeline->main_track != NO_ROW)
		status = flatten_main(&walk, err);
	if (status == TSCOPE_OK)
		status = find_backward(&walk, err);
	if (status == TSCOPE_OK)
		status = tsi_intervals_subtract(&walk.waits, &walk.backward, &walk.main_named, err);
	if (status == TSCOPE_OK)
		charge_all(&walk);
	tsi_flatten_deinit(&walk.main);
	tsi_intervals_deinit(&walk.main_named);
	tsi_intervals_deinit(&walk.backward);
	tsi_intervals_deinit(&walk.waits);
	return status;
}
