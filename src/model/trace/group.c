/* SPDX-License-Identifier: MIT */
/*
 * Brings rows from the file's order into the model's: by track, threads before
 * device streams, and within a track by start, of equal starts the longest
 * first, then as in the file. Profilers write most threads and streams in that
 * order, or nearly.
 *
 * The rows of all tracks are first put side by side, as they came (place.c). Of the tracks
 * that are not in order then most are a few runs that are (merge_runs.c). The others are
 * sorted, one at a time: the new order is found as a list of row numbers, by which
 * the rows are moved where they are.
 */
#include "base/array.h"
#include "base/sort.h"
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"
#include "model/trace/order.h"

#include <stdlib.h>

/* ---- the order of tracks ------------------------------------------------------------- */

/* Threads as they came; device streams by device and stream. */
static void sort_tracks(struct tscope_trace *trace, struct sort_pair *order,
			struct sort_pair *scratch)
{
	for (uint32_t i = 0; i < trace->track_count; i++)
		order[i] =
			(struct sort_pair){ tsi_sort_key_of_int64(trace->tracks[i].is_device
									  ? trace->tracks[i].stream
									  : -1),
					    i };
	tsi_sort_pairs(order, scratch, trace->track_count);
	for (uint32_t i = 0; i < trace->track_count; i++)
		order[i].key = (uint64_t)(trace->tracks[order[i].value].device + 1);
	tsi_sort_pairs(order, scratch, trace->track_count);
}

enum tscope_status tsi_order_tracks(struct tscope_trace *trace, uint32_t *new_index,
				    struct tscope_error *err)
{
	struct sort_pair *order = NULL, *scratch = NULL;
	struct track *tracks = NULL;
	enum tscope_status status = TSCOPE_E_NOMEM;
	if (tsi_array_new(&order, trace->track_count, sizeof(*order), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, trace->track_count, sizeof(*scratch), err) != TSCOPE_OK ||
	    tsi_array_new(&tracks, trace->track_count, sizeof(*tracks), err) != TSCOPE_OK)
		goto out;

	sort_tracks(trace, order, scratch);
	uint32_t count = 0, first = 0;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct track *track = &trace->tracks[order[i].value];
		if (track->count == 0)
			continue;
		new_index[order[i].value] = count;
		trace->host_track_count += !track->is_device;
		tracks[count] = *track;
		tracks[count++].first = first;
		first += track->count;
	}
	free(trace->tracks);
	trace->tracks = tracks;
	trace->track_capacity = trace->track_count;
	trace->track_count = count;
	status = TSCOPE_OK;
out:
	free(order);
	free(scratch);
	return status;
}

/* ---- the order of rows --------------------------------------------------------------- */

static struct order_key key_of(const struct spans *spans, uint32_t row)
{
	return (struct order_key){
		.start_ns = tsi_start_ns(spans, row),
		.dur_ns = tsi_dur_ns(spans, row),
		.is_call = tsi_span_class(spans, row) == TSCOPE_SPAN_PYTHON,
	};
}

bool tsi_is_row_behind(const struct tscope_trace *trace, uint32_t a, uint32_t b)
{
	int64_t start_a = tsi_start_ns(&trace->spans, a), start_b = tsi_start_ns(&trace->spans, b);
	if (start_a != start_b)
		return start_a > start_b;
	struct order_key key_a = key_of(&trace->spans, a), key_b = key_of(&trace->spans, b);
	return a < b ? tsi_is_key_behind(&key_a, &key_b, trace->is_viztracer)
		     : !tsi_is_key_behind(&key_b, &key_a, trace->is_viztracer);
}

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	return tsi_is_row_behind(context, a, b);
}

struct grouper {
	struct tscope_trace *trace;
	struct row_cursor *borders; /* of tracks; see tsi_place_rows() */
	/* Where rows stood when the first track was found to be in disorder, if one was. */
	struct bit_set ops, calls;
	bool has_moved;
};

struct moved_row {
	int64_t start_ns, dur_ns;
	uint32_t kind;
	struct device_event event;
};

static struct moved_row take_row(const struct tscope_trace *trace, uint32_t row, bool is_device)
{
	const struct spans *spans = &trace->spans;
	struct moved_row moved = {
		.start_ns = tsi_start_ns(spans, row),
		.dur_ns = tsi_dur_ns(spans, row),
		.kind = spans->kind[row],
	};
	if (is_device)
		moved.event = *tsi_device_event(trace, row);
	return moved;
}

static enum tscope_status put_row(struct tscope_trace *trace, uint32_t row,
				  const struct moved_row *moved, bool is_device,
				  struct tscope_error *err)
{
	struct spans *spans = &trace->spans;
	spans->kind[row] = moved->kind;
	if (is_device)
		*tsi_device_event(trace, row) = moved->event;
	enum tscope_status status = tsi_time_put(&spans->starts, row, moved->start_ns, err);
	return status == TSCOPE_OK ? tsi_length_put(&spans->durations, row, moved->dur_ns, err)
				   : status;
}

/*
 * Moves the rows of a track: old row list[i] becomes its i-th. Rows change places in rings, in
 * each of which one waits while the others move up; list is used up to mark what is done.
 */
static enum tscope_status move_rows(struct tscope_trace *trace, const struct track *track,
				    uint32_t *list, struct tscope_error *err)
{
	for (uint32_t i = 0; i < track->count; i++) {
		uint32_t to = track->first + i;
		if (list[i] == to)
			continue;
		struct moved_row waiting = take_row(trace, to, track->is_device);
		while (list[to - track->first] != track->first + i) {
			uint32_t from = list[to - track->first];
			struct moved_row moved = take_row(trace, from, track->is_device);
			if (put_row(trace, to, &moved, track->is_device, err) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
			list[to - track->first] = to;
			to = from;
		}
		list[to - track->first] = to;
		if (put_row(trace, to, &waiting, track->is_device, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/*
 * Moves what stands beside those rows of a track that are of the set, item by item in the order
 * of the rows, to the order of the list. items: of all tracks.
 */
static enum tscope_status move_side(const struct bit_set *set, const struct track *track,
				    const uint32_t *list, void *items, size_t item_bytes,
				    struct tscope_error *err)
{
	uint32_t first = tsi_bit_set_rank(set, track->first);
	uint32_t count = tsi_bit_set_rank(set, track->first + track->count) - first, moved = 0;
	char *from = items, *fresh;
	if (count == 0)
		return TSCOPE_OK;
	if (tsi_array_new(&fresh, count, item_bytes, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < track->count; i++)
		if (tsi_bit_set_has(set, list[i]))
			memcpy(fresh + moved++ * item_bytes,
			       from + tsi_bit_set_rank(set, list[i]) * item_bytes, item_bytes);
	memcpy(from + first * item_bytes, fresh, count * item_bytes);
	free(fresh);
	return TSCOPE_OK;
}

static enum tscope_status move_sides(struct grouper *g, const struct track *track,
				     const uint32_t *list, struct tscope_error *err)
{
	struct tscope_trace *trace = g->trace;
	if (move_side(&g->calls, track, list, trace->calls, sizeof(*trace->calls), err) !=
		    TSCOPE_OK ||
	    move_side(&g->calls, track, list, trace->call_ids, sizeof(*trace->call_ids), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return move_side(&g->ops, track, list, trace->op_ids, sizeof(*trace->op_ids), err);
}

static enum tscope_status make_sets(struct grouper *g, struct tscope_error *err)
{
	const struct spans *spans = &g->trace->spans;
	if (g->ops.words)
		return TSCOPE_OK;
	if (tsi_make_row_set(spans, TSCOPE_SPAN_CPU_OP, &g->ops, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_make_row_set(spans, TSCOPE_SPAN_RUNTIME, &g->calls, err);
}

static enum tscope_status sort_track(struct grouper *g, const struct track *track,
				     struct tscope_error *err)
{
	struct tscope_trace *trace = g->trace;
	uint32_t *list;
	if (make_sets(g, err) != TSCOPE_OK ||
	    tsi_array_new(&list, track->count, sizeof(*list), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < track->count; i++)
		list[i] = track->first + i;
	enum tscope_status status = tsi_sort_list(list, track->count, is_behind, trace, err);
	if (status == TSCOPE_OK)
		status = move_sides(g, track, list, err);
	if (status == TSCOPE_OK)
		status = move_rows(trace, track, list, err);
	free(list);
	return status;
}

/* Puts a track in order. */
static enum tscope_status settle_track(struct grouper *g, uint32_t index, struct tscope_error *err)
{
	const struct track *track = &g->trace->tracks[index];
	enum track_order order;
	enum tscope_status status =
		tsi_merge_runs(g->trace, track, &g->borders[index], &order, err);
	g->has_moved |= order != TRACK_WAS_IN_ORDER;
	if (status == TSCOPE_OK && order == TRACK_IS_IN_DISORDER)
		status = sort_track(g, track, err);
	return status;
}

enum tscope_status tsi_group_rows(struct tscope_trace *trace, struct tscope_error *err)
{
	struct grouper g = { .trace = trace };
	enum tscope_status status = tsi_place_rows(trace, &g.borders, err);
	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->track_count; i++)
		status = settle_track(&g, i, err);
	free(g.borders);
	tsi_bit_set_deinit(&g.ops);
	tsi_bit_set_deinit(&g.calls);
	if (status != TSCOPE_OK)
		return status;
	if (g.has_moved)
		tsi_time_column_settle(&trace->spans.starts, trace->spans.count);
	return tsi_make_row_set(&trace->spans, TSCOPE_SPAN_RUNTIME, &trace->spans.calls, err);
}
