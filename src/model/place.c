/* SPDX-License-Identifier: MIT */
/*
 * Puts the rows of each track side by side, as they came, and what stands beside some of them
 * likewise. From the last row to the first: memory behind a row that has moved is given back,
 * so that the rows are never there twice.
 */
#include "base/array.h"
#include "base/error.h"
#include "model/build.h"
#include "model/moving_rows.h"

#include <stdlib.h>

enum { GIVE_BACK_ROWS = 1 << 16 };

struct placer {
	struct tscope_trace *trace;
	struct moving_rows from, to;
	struct row_cursor at, end; /* where the rows to come end; how many there will be */
	struct row_cursor *places; /* by track: where those placed last begin; then `end` */
};

/* ---- where all of it goes ------------------------------------------------------------ */

/* How many rows each track has, and what is beside them. What is not of a track is dropped. */
static enum tscope_status count_rows(struct placer *p, struct tscope_error *err)
{
	const struct spans *spans = &p->trace->spans;
	uint32_t *counts;
	if (tsi_array_new(&counts, spans->kind_count, sizeof(*counts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count; row++)
		counts[spans->kind[row]]++;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		if (kind->track == NO_ROW)
			continue;
		struct row_cursor *place = &p->places[kind->track];
		place->row += counts[i];
		if (kind->span_class == TSCOPE_SPAN_CPU_OP)
			place->op += counts[i];
		else if (kind->span_class == TSCOPE_SPAN_RUNTIME)
			place->call += counts[i];
		else if (tsi_class_is_device((uint8_t)kind->span_class))
			place->event += counts[i];
	}
	free(counts);
	return TSCOPE_OK;
}

/* The tracks that have rows are in order now: where each ends. */
static void find_places(struct placer *p)
{
	for (uint32_t i = 0; i < p->trace->track_count; i++) {
		struct row_cursor *place = &p->places[i];
		place->row = p->end.row += place->row;
		place->op = p->end.op += place->op;
		place->call = p->end.call += place->call;
		place->event = p->end.event += place->event;
	}
	p->places[p->trace->track_count] = p->end;
}

/* Tells the tracks their counts, puts them in order, and the places of their rows likewise. */
static enum tscope_status place_tracks(struct placer *p, struct tscope_error *err)
{
	struct tscope_trace *trace = p->trace;
	struct row_cursor *places = NULL;
	uint32_t old_count = trace->track_count, *new_index = NULL;
	enum tscope_status status = TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < old_count; i++)
		trace->tracks[i].count = p->places[i].row;
	if (tsi_array_new(&places, (size_t)old_count + 1, sizeof(*places), err) == TSCOPE_OK &&
	    tsi_array_new(&new_index, old_count, sizeof(*new_index), err) == TSCOPE_OK)
		status = tsi_order_tracks(trace, new_index, err);
	for (uint32_t i = 0; status == TSCOPE_OK && i < old_count; i++)
		if (p->places[i].row)
			places[new_index[i]] = p->places[i];
	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->spans.kind_count; i++)
		if (trace->spans.kinds[i].track != NO_ROW)
			trace->spans.kinds[i].track = new_index[trace->spans.kinds[i].track];
	free(new_index);
	free(p->places);
	p->places = places;
	return status;
}

/* ---- the way ------------------------------------------------------------------------- */

/* Where that fails all stays as it was. */
static void shrink(void *items, size_t count, size_t item_bytes)
{
	void *memory, *smaller;
	memcpy(&memory, items, sizeof(memory));
	smaller = count ? realloc(memory, count * item_bytes) : NULL;
	if (smaller)
		memcpy(items, &smaller, sizeof(smaller));
}

static void give_back(struct moving_rows *rows, const struct row_cursor *end)
{
	tsi_time_column_shrink(&rows->starts, end->row);
	tsi_time_column_shrink(&rows->durations, end->row);
	shrink(&rows->kind, end->row, sizeof(*rows->kind));
	shrink(&rows->op_ids, end->op, sizeof(*rows->op_ids));
	shrink(&rows->calls, end->call, sizeof(*rows->calls));
	shrink(&rows->call_ids, end->call, sizeof(*rows->call_ids));
	shrink(&rows->events, end->event, sizeof(*rows->events));
}

/* Moves the rows of a track that came one after the other, down to the row `until`. */
static enum tscope_status place_stretch(struct placer *p, uint32_t track, uint32_t until,
					struct tscope_error *err)
{
	const struct span_kind *kinds = p->trace->spans.kinds;
	struct row_place to = { &p->to, p->places[track] }, from = { &p->from, p->at };
	enum tscope_status status = TSCOPE_OK;
	while (status == TSCOPE_OK && from.at.row > until) {
		const struct span_kind *kind = &kinds[p->from.kind[from.at.row - 1]];
		if (kind->track != track)
			break;
		tsi_move_side(&to, &from, kind->span_class);
		status = tsi_move_columns(&to, &from, tsi_time_at(&p->from.starts, from.at.row - 1),
					  err);
	}
	p->places[track] = to.at;
	p->at = from.at;
	return status;
}

static enum tscope_status place_all(struct placer *p, struct tscope_error *err)
{
	const struct span_kind *kinds = p->trace->spans.kinds;
	while (p->at.row > 0) {
		uint32_t track = kinds[p->from.kind[p->at.row - 1]].track;
		uint32_t until = (p->at.row - 1) / GIVE_BACK_ROWS * GIVE_BACK_ROWS;
		if (tsi_unlikely(track == NO_ROW)) { /* device work that is dropped */
			p->at.row--;
			p->at.event--;
			continue;
		}
		if (place_stretch(p, track, until, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (p->at.row == until)
			give_back(&p->from, &p->at);
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_place_rows(struct tscope_trace *trace, struct row_cursor **borders,
				  struct tscope_error *err)
{
	struct placer p = {
		.trace = trace,
		.at = { trace->spans.count, (uint32_t)trace->cpu_op_count,
			(uint32_t)trace->call_count, (uint32_t)trace->device_event_count },
	};
	enum tscope_status status =
		tsi_array_new(&p.places, trace->track_count, sizeof(*p.places), err);
	if (status == TSCOPE_OK)
		status = count_rows(&p, err);
	if (status == TSCOPE_OK)
		status = place_tracks(&p, err);
	if (status == TSCOPE_OK) {
		find_places(&p);
		status = tsi_moving_rows_init(&p.to, &p.end, err);
	}
	if (status == TSCOPE_OK) {
		tsi_take_rows(&p.from, trace);
		status = place_all(&p, err);
	}
	if (status == TSCOPE_OK) {
		tsi_give_rows(&p.to, trace);
		trace->spans.count = p.end.row;
		trace->spans.capacity = p.end.row;
		trace->device_event_count = p.end.event;
	}
	tsi_moving_rows_deinit(&p.from);
	tsi_moving_rows_deinit(&p.to);
	*borders = p.places; /* all rows are in place: that is where they begin */
	return status;
}

/* ---- which rows are of a class ------------------------------------------------------- */

static void count_set(struct row_set *set, size_t words)
{
	for (size_t i = 1; i < words; i++)
		set->before[i] = set->before[i - 1] + tsi_count_bits(set->bits[i - 1]);
}

enum tscope_status tsi_make_row_set(const struct spans *spans, enum tscope_span_class span_class,
				    struct row_set *set, struct tscope_error *err)
{
	size_t words = spans->count / 64 + 1; /* the rank behind the last row is asked for, too */
	*set = (struct row_set){ 0 };
	if (tsi_array_new(&set->bits, words, sizeof(*set->bits), err) != TSCOPE_OK ||
	    tsi_array_new(&set->before, words, sizeof(*set->before), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count;) {
		uint32_t first = row, end = spans->count - row < 64 ? spans->count : row + 64;
		uint64_t bits = 0;
		for (; row < end; row++)
			bits |= (uint64_t)(tsi_span_class(spans, row) == span_class)
				<< (row - first);
		set->bits[first / 64] = bits;
	}
	count_set(set, words);
	return TSCOPE_OK;
}
