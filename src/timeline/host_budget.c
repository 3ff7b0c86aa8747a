/* SPDX-License-Identifier: MIT */
/*
 * The budget of a trace without devices: what the main thread is in, innermost
 * first, by annotations and operators. Operators within nothing named are
 * forward work. Where it is in nothing while a backward thread works, it waits
 * for backward. Where other threads communicate (gloo has its own) and nothing
 * computes, it waits for that. The rest is other: lines sum to the wall time.
 */
#include "timeline/build.h"
#include "timeline/flatten.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"

struct host_walk {
	struct tscope_timeline *timeline;
	const struct landmarks *marks;
	/* When the main thread is in each line, in any of them, and in an operator. */
	struct interval_set lines[HOST_OTHER], named, operators;
	struct interval_set backward; /* when other threads work on it */
	struct interval_set exposed;  /* when they communicate, less what hides that */
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

/* The named rows of the main thread, with labels of enum host_line. */
static enum tscope_status flatten_main(struct host_walk *walk, struct flattener *flat,
				       struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	const struct track *track = &trace->tracks[walk->timeline->main_track];
	int64_t named_until_ns = INT64_MIN;

	for (uint32_t row = track->first; row < track->first + track->count; row++) {
		int64_t start_ns = trace->spans.start_ns[row], end_ns = tsi_span_end(trace, row);
		enum host_line line = line_of_labels(tsi_labels_of_row(walk->marks, row));
		bool is_operator = trace->spans.span_class[row] == TSCOPE_SPAN_CPU_OP;

		if (is_operator &&
		    tsi_intervals_append(&walk->operators, start_ns, end_ns, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (line != HOST_OTHER && end_ns > named_until_ns)
			named_until_ns = end_ns;
		if (line == HOST_OTHER && is_operator && start_ns >= named_until_ns)
			line = HOST_FORWARD;
		if (line != HOST_OTHER &&
		    tsi_flatten_add(flat, start_ns, end_ns, line, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return tsi_flatten_end(flat, err);
}

static enum tscope_status find_main(struct host_walk *walk, struct tscope_error *err)
{
	struct flattener flat = { 0 };
	enum tscope_status status = flatten_main(walk, &flat, err);

	for (size_t i = 0; status == TSCOPE_OK && i < flat.count; i++) {
		const struct flat_segment *segment = &flat.segments[i];
		status = tsi_intervals_append(&walk->lines[segment->label], segment->start_ns,
					      segment->end_ns, err);
		if (status == TSCOPE_OK)
			status = tsi_intervals_append(&walk->named, segment->start_ns,
						      segment->end_ns, err);
	}
	tsi_flatten_deinit(&flat);
	return status;
}

/* The rows of other threads that have the label, not sorted. */
static enum tscope_status list_elsewhere(const struct host_walk *walk, unsigned label,
					 struct sort_pair **pairs, size_t *count,
					 struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	size_t capacity = 0;

	for (uint32_t t = 0; t < trace->host_track_count; t++) {
		const struct track *track = &trace->tracks[t];
		for (uint32_t row = track->first; row < track->first + track->count; row++) {
			if (t == walk->timeline->main_track ||
			    !(tsi_labels_of_row(walk->marks, row) & label))
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

static enum tscope_status find_elsewhere(const struct host_walk *walk, unsigned label,
					 struct interval_set *out, struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->timeline->trace;
	struct sort_pair *pairs = NULL, *scratch = NULL;
	size_t count = 0;
	enum tscope_status status = list_elsewhere(walk, label, &pairs, &count, err);

	if (status == TSCOPE_OK)
		status = tsi_array_new(&scratch, count, sizeof(*scratch), err);
	if (status == TSCOPE_OK)
		tsi_sort_pairs(pairs, scratch, count);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++) {
		uint32_t row = (uint32_t)pairs[i].value;
		status = tsi_intervals_append(out, trace->spans.start_ns[row],
					      tsi_span_end(trace, row), err);
	}
	free(pairs);
	free(scratch);
	return status;
}

static void charge(struct tscope_timeline *timeline, const struct interval_set *set,
		   enum host_line line)
{
	struct step_cutter cutter = { .timeline = timeline };
	uint32_t step;
	int64_t length_ns;

	for (size_t i = 0; i < set->count; i++) {
		tsi_cut(&cutter, set->items[i].start_ns, set->items[i].end_ns);
		while (tsi_cut_next(&cutter, &step, &length_ns))
			timeline->host_budgets[step].line_ns[line] += length_ns;
	}
}

/* Charges the part of the set that is not in the other. */
static enum tscope_status charge_less(struct tscope_timeline *timeline,
				      const struct interval_set *set,
				      const struct interval_set *less, enum host_line line,
				      struct tscope_error *err)
{
	struct interval_set rest = { 0 };
	enum tscope_status status = tsi_intervals_subtract(&rest, set, less, err);

	if (status == TSCOPE_OK)
		charge(timeline, &rest, line);
	tsi_intervals_deinit(&rest);
	return status;
}

/*
 * As on a device, communication is exposed where nothing computes: neither the
 * main thread, in an operator, nor backward threads. That counts in a phase and
 * outside of all, for programs wait for collectives between phases, too; only a
 * wait for data, which has a name, comes first.
 */
static enum tscope_status find_exposed(struct host_walk *walk, struct tscope_error *err)
{
	const struct interval_set *const hiding[] = {
		&walk->operators, &walk->backward, &walk->lines[HOST_DATA],
		&walk->lines[HOST_COMM], /* has the time already */
	};
	struct interval_set rest = { 0 };
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < TSI_COUNT_OF(hiding); i++) {
		status = tsi_intervals_subtract(&rest, &walk->exposed, hiding[i], err);
		struct interval_set swap = walk->exposed;
		walk->exposed = rest;
		rest = swap;
	}
	tsi_intervals_deinit(&rest);
	return status;
}

static enum tscope_status charge_all(const struct host_walk *walk, struct tscope_error *err)
{
	struct tscope_timeline *timeline = walk->timeline;
	enum tscope_status status =
		charge_less(timeline, &walk->backward, &walk->named, HOST_BACKWARD, err);

	for (enum host_line line = 0; status == TSCOPE_OK && line < HOST_OTHER; line++)
		status = charge_less(timeline, &walk->lines[line], &walk->exposed, line, err);
	charge(timeline, &walk->exposed, HOST_COMM);
	return status;
}

static void charge_rest(struct tscope_timeline *timeline)
{
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		int64_t *line_ns = timeline->host_budgets[i].line_ns;
		line_ns[HOST_OTHER] = timeline->steps[i].wall_ns;
		for (unsigned line = 0; line < HOST_OTHER; line++)
			line_ns[HOST_OTHER] -= line_ns[line];
	}
}

static void walk_deinit(struct host_walk *walk)
{
	for (unsigned line = 0; line < HOST_OTHER; line++)
		tsi_intervals_deinit(&walk->lines[line]);
	tsi_intervals_deinit(&walk->named);
	tsi_intervals_deinit(&walk->operators);
	tsi_intervals_deinit(&walk->backward);
	tsi_intervals_deinit(&walk->exposed);
}

enum tscope_status tsi_timeline_find_host_budget(struct tscope_timeline *timeline,
						 const struct landmarks *marks,
						 struct tscope_error *err)
{
	struct host_walk walk = { .timeline = timeline, .marks = marks };
	enum tscope_status status = tsi_array_new(&timeline->host_budgets, timeline->step_count,
						  sizeof(*timeline->host_budgets), err);

	if (status == TSCOPE_OK && timeline->main_track != NO_ROW)
		status = find_main(&walk, err);
	if (status == TSCOPE_OK)
		status = find_elsewhere(&walk, LABEL_BACKWARD, &walk.backward, err);
	if (status == TSCOPE_OK)
		status = find_elsewhere(&walk, LABEL_COMM, &walk.exposed, err);
	if (status == TSCOPE_OK)
		status = find_exposed(&walk, err);
	if (status == TSCOPE_OK)
		status = charge_all(&walk, err);
	if (status == TSCOPE_OK)
		charge_rest(timeline);
	walk_deinit(&walk);
	return status;
}
