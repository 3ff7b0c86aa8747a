/* SPDX-License-Identifier: MIT */
/*
 * Brings rows from the file's order into the model's: by track, threads before
 * device streams, and within a track by start, of equal starts the longest
 * first, then as in the file. Profilers write an operator when it ends, so most
 * threads need sorting; device streams mostly do not.
 *
 * The new order is found first, as a list of old row numbers; then the columns
 * are rewritten one at a time, so that no two copies of the rows exist.
 */
#include "base/array.h"
#include "base/sort.h"
#include "model/build.h"

#include <stdlib.h>

enum { SHORT_LIST = 16 };

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

/* Puts tracks that have rows in order, others away; new_index says where each went. */
static enum tscope_status order_tracks(struct tscope_trace *trace, uint32_t *new_index,
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

/* Counts the rows of each track and renumbers their tracks. */
static enum tscope_status group_tracks(struct tscope_trace *trace, struct tscope_error *err)
{
	struct spans *spans = &trace->spans;
	uint32_t *new_index = NULL;
	if (tsi_array_new(&new_index, trace->track_count, sizeof(*new_index), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count; row++)
		if (spans->track[row] != NO_ROW)
			trace->tracks[spans->track[row]].count++;
	enum tscope_status status = order_tracks(trace, new_index, err);
	for (uint32_t row = 0; status == TSCOPE_OK && row < spans->count; row++)
		if (spans->track[row] != NO_ROW)
			spans->track[row] = new_index[spans->track[row]];
	free(new_index);
	return status;
}

/* ---- the order of rows --------------------------------------------------------------- */

/* Lists the rows by track, those of a track as in the file: from then on place tells the track. */
static void list_rows(struct tscope_trace *trace, uint32_t *rows)
{
	struct spans *spans = &trace->spans;
	for (uint32_t row = 0; row < spans->count; row++)
		if (spans->track[row] != NO_ROW)
			rows[trace->tracks[spans->track[row]].first++] = row;
	for (uint32_t i = 0; i < trace->track_count; i++)
		trace->tracks[i].first -= trace->tracks[i].count;
	free(spans->track);
	spans->track = NULL;
}

struct row_order {
	const struct spans *spans;
	bool is_viztracer;
};

/*
 * Of spans that start and end together the one that encloses the others comes first: as in the
 * file, but VizTracer writes a call when it ends, the caller behind what it called, and it calls
 * the operators that torch added.
 */
static bool is_inner(const struct row_order *order, uint32_t a, uint32_t b)
{
	bool is_call = tsi_span_class(order->spans, a) == TSCOPE_SPAN_PYTHON;
	if (!order->is_viztracer)
		return a > b;
	if (is_call != (tsi_span_class(order->spans, b) == TSCOPE_SPAN_PYTHON))
		return !is_call;
	return is_call ? a < b : a > b;
}

/* Does a belong behind b? */
static bool is_behind(const struct row_order *order, uint32_t a, uint32_t b)
{
	const struct spans *spans = order->spans;
	if (tsi_start_ns(spans, a) != tsi_start_ns(spans, b))
		return tsi_start_ns(spans, a) > tsi_start_ns(spans, b);
	if (tsi_dur_ns(spans, a) != tsi_dur_ns(spans, b))
		return tsi_dur_ns(spans, a) < tsi_dur_ns(spans, b);
	return is_inner(order, a, b);
}

static void insertion_sort(const struct row_order *order, uint32_t *rows, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t row = rows[i], at = i;
		for (; at > 0 && is_behind(order, rows[at - 1], row); at--)
			rows[at] = rows[at - 1];
		rows[at] = row;
	}
}

/* How many of these sorted rows are in place before `row`. By halving: mostly all are. */
static uint32_t count_before(const struct row_order *order, const uint32_t *rows, uint32_t count,
			     uint32_t row)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (is_behind(order, rows[middle], row))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Makes one sorted list of two, rows[0 … left_count) and what follows it. */
static void merge(const struct row_order *order, uint32_t *rows, uint32_t left_count,
		  uint32_t count, uint32_t *scratch)
{
	if (!is_behind(order, rows[left_count - 1], rows[left_count]))
		return;
	uint32_t settled = count_before(order, rows, left_count, rows[left_count]);
	uint32_t *to = rows + settled;
	const uint32_t *right = rows + left_count, *right_end = rows + count;
	uint32_t moved = left_count - settled;
	memcpy(scratch, to, moved * sizeof(*scratch));
	for (const uint32_t *left = scratch; left < scratch + moved;) {
		if (right < right_end && is_behind(order, *left, *right))
			*to++ = *right++;
		else
			*to++ = *left++;
	}
}

/*
 * A merge sort of row numbers: operators lie close to where they belong, so
 * most halves are in order when they meet, and it takes a few bytes per row.
 */
static void sort_rows(const struct row_order *order, uint32_t *rows, uint32_t count,
		      uint32_t *scratch)
{
	if (count <= SHORT_LIST) {
		insertion_sort(order, rows, count);
		return;
	}
	uint32_t half = count / 2;
	sort_rows(order, rows, half, scratch);
	sort_rows(order, rows + half, count - half, scratch);
	merge(order, rows, half, count, scratch);
}

/* ---- the columns --------------------------------------------------------------------- */

/*
 * column[i] = old column[rows[i]], in new memory of just the right size; column points to the
 * pointer. Inlined, so that each width of item gets a loop of its own.
 */
static inline enum tscope_status permute(void *column, size_t item_bytes, const uint32_t *rows,
					 uint32_t count, struct tscope_error *err)
{
	char *fresh, *old;
	if (tsi_array_new(&fresh, count, item_bytes, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	memcpy(&old, column, sizeof(old));
	for (uint32_t i = 0; i < count; i++)
		memcpy(fresh + i * item_bytes, old + rows[i] * item_bytes, item_bytes);
	free(old);
	memcpy(column, &fresh, sizeof(fresh));
	return TSCOPE_OK;
}

static enum tscope_status permute_columns(struct spans *spans, const uint32_t *rows, uint32_t count,
					  struct tscope_error *err)
{
	if (permute(&spans->start_ns, sizeof(*spans->start_ns), rows, count, err) != TSCOPE_OK ||
	    permute(&spans->dur_ns, sizeof(*spans->dur_ns), rows, count, err) != TSCOPE_OK ||
	    permute(&spans->name, sizeof(*spans->name), rows, count, err) != TSCOPE_OK ||
	    permute(&spans->extra, sizeof(*spans->extra), rows, count, err) != TSCOPE_OK ||
	    permute(&spans->span_class, sizeof(*spans->span_class), rows, count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	spans->count = count;
	spans->capacity = count;
	return TSCOPE_OK;
}

enum tscope_status tsi_group_rows(struct tscope_trace *trace, struct tscope_error *err)
{
	struct spans *spans = &trace->spans;
	const struct row_order order = { spans, trace->is_viztracer };
	uint32_t *rows = NULL, *scratch = NULL, count = 0, longest = 0;
	enum tscope_status status = group_tracks(trace, err);
	if (status != TSCOPE_OK)
		return status;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		count += trace->tracks[i].count;
		if (trace->tracks[i].count > longest)
			longest = trace->tracks[i].count;
	}

	status = TSCOPE_E_NOMEM;
	if (tsi_array_new(&rows, count, sizeof(*rows), err) == TSCOPE_OK &&
	    tsi_array_new(&scratch, longest / 2, sizeof(*scratch), err) == TSCOPE_OK) {
		list_rows(trace, rows);
		for (uint32_t i = 0; i < trace->track_count; i++)
			sort_rows(&order, rows + trace->tracks[i].first, trace->tracks[i].count,
				  scratch);
		status = permute_columns(spans, rows, count, err);
	}
	free(rows);
	free(scratch);
	return status;
}
