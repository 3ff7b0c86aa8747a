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
#include "base/column.h"
#include "base/sort.h"
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"
#include "model/trace/order.h"

#include <string.h>

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

void tsi_order_tracks(struct tscope_trace *trace, uint32_t *new_index, struct arena *arena)
{
	uint32_t old_count = trace->track_count, count = 0, first = 0;
	struct sort_pair *order = tsi_arena_new(arena, old_count, sizeof(*order));
	struct sort_pair *room = tsi_arena_new(arena, old_count, sizeof(*room));
	struct track *tracks = tsi_arena_new(arena, old_count, sizeof(*tracks));
	if (!tracks)
		return;

	sort_tracks(trace, order, room);
	for (uint32_t i = 0; i < old_count; i++) {
		const struct track *track = &trace->tracks[order[i].value];
		if (track->count == 0)
			continue;
		new_index[order[i].value] = count;
		trace->host_track_count += !track->is_device;
		tracks[count] = *track;
		tracks[count++].first = first;
		first += track->count;
	}
	for (size_t i = 0; i < trace->allocator_point_count; i++) {
		struct allocator_point *point = &trace->allocator_points[i];
		bool has_rows = point->track < old_count && trace->tracks[point->track].count > 0;
		point->track =
			(has_rows ? new_index[point->track] : NO_POINT_TRACK) & NO_POINT_TRACK;
	}
	if (count)
		memcpy(trace->tracks, tracks, count * sizeof(*tracks));
	trace->track_count = count;
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

/* Rows of a track while these are sorted: most are identified by their starts. */
struct sorted_rows {
	const struct tscope_trace *trace;
	uint32_t first;
	int64_t *starts_ns;
};

static bool is_behind(const void *context, uint32_t a, uint32_t b)
{
	const struct sorted_rows *rows = context;
	int64_t start_a = rows->starts_ns[a - rows->first];
	int64_t start_b = rows->starts_ns[b - rows->first];

	return start_a != start_b ? start_a > start_b : tsi_is_row_behind(rows->trace, a, b);
}

/* Sorts the track's rows in the list, which holds them as they stand. */
static void sort_rows(struct builder *b, const struct track *track, uint32_t *list)
{
	struct sorted_rows rows = {
		.trace = b->trace,
		.first = track->first,
		.starts_ns = tsi_builder_new_array(b, track->count, sizeof(*rows.starts_ns)),
	};

	for (uint32_t i = 0; rows.starts_ns && i < track->count; i++)
		rows.starts_ns[i] = tsi_start_ns(&b->trace->spans, track->first + i);
	if (rows.starts_ns)
		tsi_sort_list(b, list, track->count, is_behind, &rows);
	tsi_column_free(rows.starts_ns);
}

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

static void put_row(struct tscope_trace *trace, uint32_t row, const struct moved_row *moved,
		    bool is_device)
{
	struct spans *spans = &trace->spans;
	spans->kind[row] = moved->kind;
	if (is_device)
		*tsi_device_event(trace, row) = moved->event;
	tsi_time_put(&spans->starts, row, moved->start_ns);
	tsi_length_put(&spans->durations, row, moved->dur_ns);
}

/*
 * Moves the rows of a track: old row list[i] becomes its i-th. Rows change places in rings, in
 * each of which one waits while the others move up; list is used up to mark what is done.
 */
static void move_rows(struct tscope_trace *trace, const struct track *track, uint32_t *list)
{
	for (uint32_t i = 0; i < track->count; i++) {
		uint32_t to = track->first + i;
		if (list[i] == to)
			continue;
		struct moved_row waiting = take_row(trace, to, track->is_device);
		while (list[to - track->first] != track->first + i) {
			uint32_t from = list[to - track->first];
			struct moved_row moved = take_row(trace, from, track->is_device);
			put_row(trace, to, &moved, track->is_device);
			list[to - track->first] = to;
			to = from;
		}
		list[to - track->first] = to;
		put_row(trace, to, &waiting, track->is_device);
	}
}

/* Where what stands beside each row is, as the rows came; of none 0. */
static uint32_t *index_sides(struct builder *b, const struct track *track, struct row_cursor at)
{
	uint32_t *sides = tsi_builder_new_array(b, track->count, sizeof(*sides));

	for (uint32_t i = 0; sides && i < track->count; i++) {
		uint8_t span_class = tsi_span_class(&b->trace->spans, track->first + i);
		sides[i] = span_class == TSCOPE_SPAN_CPU_OP    ? at.op++
			   : span_class == TSCOPE_SPAN_RUNTIME ? at.call++
							       : 0;
	}
	return sides;
}

/* Room for those of a track. */
struct fresh_sides {
	uint32_t *op_ids, *call_ids;
	struct op_sequence *op_sequences;
	struct runtime_call *calls;
};

static void fill_sides(const struct tscope_trace *trace, const struct track *track,
		       const uint32_t *list, const uint32_t *sides, struct fresh_sides to)
{
	for (uint32_t i = 0; i < track->count; i++) {
		uint32_t side = sides[list[i] - track->first];
		uint8_t span_class = tsi_span_class(&trace->spans, list[i]);
		if (span_class == TSCOPE_SPAN_CPU_OP) {
			if (trace->op_ids)
				*to.op_ids++ = trace->op_ids[side];
			if (trace->op_sequences)
				*to.op_sequences++ = trace->op_sequences[side];
		} else if (span_class == TSCOPE_SPAN_RUNTIME) {
			if (trace->call_ids)
				*to.call_ids++ = trace->call_ids[side];
			*to.calls++ = trace->calls[side];
		}
	}
}

/* Behind the first items; nothing where there are none, or no room. */
static void put_back(void *items, size_t first, const void *fresh, size_t count, size_t item_bytes)
{
	if (items && count)
		memcpy((char *)items + first * item_bytes, fresh, count * item_bytes);
}

/* Moves what stands beside rows of a track to the order of the list. */
static void move_sides(struct builder *b, const struct track *track,
		       const struct row_cursor *borders, const uint32_t *list)
{
	struct tscope_trace *trace = b->trace;
	uint32_t op = borders[0].op, call = borders[0].call;
	size_t op_count = borders[1].op - op, call_count = borders[1].call - call;
	if (!op_count && !call_count)
		return;
	uint32_t *sides = index_sides(b, track, borders[0]);
	struct fresh_sides fresh = {
		.op_ids = tsi_builder_new_array(b, op_count, sizeof(*fresh.op_ids)),
		.op_sequences = tsi_builder_new_array(b, op_count, sizeof(*fresh.op_sequences)),
		.call_ids = tsi_builder_new_array(b, call_count, sizeof(*fresh.call_ids)),
		.calls = tsi_builder_new_array(b, call_count, sizeof(*fresh.calls)),
	};
	if (b->status == TSCOPE_OK) {
		fill_sides(trace, track, list, sides, fresh);
		put_back(trace->op_ids, op, fresh.op_ids, op_count, sizeof(*fresh.op_ids));
		put_back(trace->op_sequences, op, fresh.op_sequences, op_count,
			 sizeof(*fresh.op_sequences));
		put_back(trace->call_ids, call, fresh.call_ids, call_count,
			 sizeof(*fresh.call_ids));
		put_back(trace->calls, call, fresh.calls, call_count, sizeof(*fresh.calls));
	}
	tsi_column_free(sides);
	tsi_column_free(fresh.op_ids);
	tsi_column_free(fresh.op_sequences);
	tsi_column_free(fresh.call_ids);
	tsi_column_free(fresh.calls);
}

static void sort_track(struct builder *b, const struct track *track,
		       const struct row_cursor *borders)
{
	uint32_t *list = tsi_builder_new_array(b, track->count, sizeof(*list));

	for (uint32_t i = 0; list && i < track->count; i++)
		list[i] = track->first + i;
	if (list)
		sort_rows(b, track, list);
	if (b->status == TSCOPE_OK)
		move_sides(b, track, borders, list);
	if (b->status == TSCOPE_OK)
		move_rows(b->trace, track, list);
	tsi_column_free(list);
}

void tsi_group_rows(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	bool has_moved = false;
	const struct row_cursor *borders = tsi_place_rows(b);
	for (uint32_t i = 0; b->status == TSCOPE_OK && borders && i < trace->track_count; i++) {
		enum track_order order = tsi_merge_runs(b, &trace->tracks[i], &borders[i]);
		has_moved |= order != TRACK_WAS_IN_ORDER;
		if (order == TRACK_IS_IN_DISORDER)
			sort_track(b, &trace->tracks[i], &borders[i]);
	}
	if (b->status != TSCOPE_OK || !borders)
		return;
	if (has_moved)
		tsi_time_column_settle(&trace->spans.starts, trace->spans.count);
	tsi_make_row_set(b, TSCOPE_SPAN_RUNTIME, &trace->spans.calls);
}
