/* SPDX-License-Identifier: MIT */
/*
 * Puts the rows of each track side by side, as they came, and what stands beside some of them
 * likewise. From the last row to the first, step by step: memory behind the rows that have moved
 * is given back, so that the rows are never there twice.
 */
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"

#include <stdlib.h>

enum {
	STEP_ROWS = 1 << 17,
	ROWS_FOR_THREADS = 1 << 15, /* for fewer no thread is worth its start */
};

struct placer {
	struct tscope_trace *trace;
	struct moving_rows from, to;
	uint32_t until;             /* the rows of this step begin here */
	struct row_cursor *borders; /* where the rows of each track begin; then where all end */
};

/* What a walk over the rows moves of them. Walks with different parts write to different memory. */
enum {
	PART_TIMES = 1 << 0,
	PART_REST = 1 << 1,
};

/* All that a walk writes is its own: threads that shared a line of the cache would wait for it. */
struct place_walk {
	struct placer *placer;
	struct row_cursor at;      /* where the rows to come end */
	struct row_cursor *places; /* by track: where those placed last begin */
};

/* ---- where all of it goes ------------------------------------------------------------ */

/* How many rows each track has, and what is beside them. What is not of a track is dropped. */
static enum tscope_status count_rows(const struct spans *spans, struct row_cursor *places,
				     struct tscope_error *err)
{
	uint32_t *counts;
	if (tsi_array_new(&counts, spans->kind_count, sizeof(*counts), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count; row++)
		counts[spans->kind[row]]++;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		if (kind->track == NO_ROW)
			continue;
		struct row_cursor *place = &places[kind->track];
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

/* Tells the tracks their counts, puts them in order, and the borders of their rows likewise. */
static enum tscope_status place_tracks(struct placer *p, const struct row_cursor *counts,
				       uint32_t *new_index, struct tscope_error *err)
{
	struct tscope_trace *trace = p->trace;
	uint32_t old_count = trace->track_count;
	for (uint32_t i = 0; i < old_count; i++)
		trace->tracks[i].count = counts[i].row;
	if (tsi_order_tracks(trace, new_index, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < old_count; i++)
		if (counts[i].row)
			p->borders[new_index[i] + 1] = counts[i];
	for (uint32_t i = 0; i < trace->track_count; i++) {
		struct row_cursor *end = &p->borders[i + 1];
		end->row += end[-1].row;
		end->op += end[-1].op;
		end->call += end[-1].call;
		end->event += end[-1].event;
	}
	for (uint32_t i = 0; i < trace->spans.kind_count; i++)
		if (trace->spans.kinds[i].track != NO_ROW)
			trace->spans.kinds[i].track = new_index[trace->spans.kinds[i].track];
	return TSCOPE_OK;
}

static enum tscope_status find_places(struct placer *p, struct tscope_error *err)
{
	uint32_t count = p->trace->track_count, *new_index = NULL;
	struct row_cursor *counts = NULL;
	enum tscope_status status = TSCOPE_E_NOMEM;
	if (tsi_array_new(&counts, count, sizeof(*counts), err) == TSCOPE_OK &&
	    tsi_array_new(&new_index, count, sizeof(*new_index), err) == TSCOPE_OK &&
	    tsi_array_new(&p->borders, (size_t)count + 1, sizeof(*p->borders), err) == TSCOPE_OK)
		status = count_rows(&p->trace->spans, counts, err);
	if (status == TSCOPE_OK)
		status = place_tracks(p, counts, new_index, err);
	free(counts);
	free(new_index);
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

static inline enum tscope_status place_row(struct row_place *to, struct row_place *from,
					   unsigned parts, uint32_t span_class,
					   struct tscope_error *err)
{
	uint32_t place = --to->at.row, row = --from->at.row;
	if (parts & PART_REST) {
		to->rows->kind[place] = from->rows->kind[row];
		tsi_move_side(to, from, span_class);
	}
	if (!(parts & PART_TIMES))
		return TSCOPE_OK;
	return tsi_move_times(to, from, tsi_time_at(&from->rows->starts, row), err);
}

/* Moves the rows of a track that came one after the other, as far as they are of this step. */
static inline enum tscope_status place_stretch(struct place_walk *w, unsigned parts, uint32_t track,
					       struct tscope_error *err)
{
	struct placer *p = w->placer;
	const struct span_kind *kinds = p->trace->spans.kinds;
	struct row_place to = { &p->to, w->places[track] }, from = { &p->from, w->at };
	enum tscope_status status = TSCOPE_OK;
	while (status == TSCOPE_OK && from.at.row > p->until) {
		const struct span_kind *kind = &kinds[p->from.kind[from.at.row - 1]];
		if (kind->track != track)
			break;
		status = place_row(&to, &from, parts, kind->span_class, err);
	}
	w->places[track] = to.at;
	w->at = from.at;
	return status;
}

static inline enum tscope_status place_parts(struct place_walk *w, unsigned parts,
					     struct tscope_error *err)
{
	const struct placer *p = w->placer;
	const struct span_kind *kinds = p->trace->spans.kinds;
	enum tscope_status status = TSCOPE_OK;
	while (status == TSCOPE_OK && w->at.row > p->until) {
		uint32_t track = kinds[p->from.kind[w->at.row - 1]].track;
		if (tsi_likely(track != NO_ROW)) {
			status = place_stretch(w, parts, track, err);
		} else { /* device work that is dropped */
			w->at.row--;
			w->at.event--;
		}
	}
	return status;
}

static enum tscope_status place_times(void *walk, unsigned lane, struct tscope_error *err)
{
	(void)lane;
	return place_parts(walk, PART_TIMES, err);
}

static enum tscope_status place_rest(void *walk, unsigned lane, struct tscope_error *err)
{
	(void)lane;
	return place_parts(walk, PART_REST, err);
}

static enum tscope_status begin_walk(struct place_walk *w, struct placer *p,
				     struct tscope_error *err)
{
	const struct tscope_trace *trace = p->trace;
	*w = (struct place_walk){
		.placer = p,
		.at = { trace->spans.count, (uint32_t)trace->cpu_op_count,
			(uint32_t)trace->call_count, (uint32_t)trace->device_event_count },
	};
	if (tsi_array_new(&w->places, trace->track_count, sizeof(*w->places), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < trace->track_count; i++)
		w->places[i] = p->borders[i + 1];
	return TSCOPE_OK;
}

/* With two threads each moves a part of all rows: what takes time is memory, new and old. */
static enum tscope_status place_all(struct placer *p, struct tscope_error *err)
{
	struct place_walk rest = { 0 }, times = { 0 };
	const struct job jobs[] = { { place_rest, &rest }, { place_times, &times } };
	uint32_t count = p->trace->spans.count;
	unsigned thread_count = count < ROWS_FOR_THREADS ? 1 : tsi_trace_threads(p->trace);
	enum tscope_status status = begin_walk(&rest, p, err);

	if (status == TSCOPE_OK)
		status = begin_walk(&times, p, err);
	while (status == TSCOPE_OK && rest.at.row > 0) {
		p->until = (rest.at.row - 1) / STEP_ROWS * STEP_ROWS;
		if (thread_count == 1)
			status = place_parts(&rest, PART_TIMES | PART_REST, err);
		else
			status = tsi_run_jobs(jobs, TSI_COUNT_OF(jobs), thread_count, err);
		give_back(&p->from, &rest.at);
	}
	free(rest.places);
	free(times.places);
	return status;
}

enum tscope_status tsi_place_rows(struct tscope_trace *trace, struct row_cursor **borders,
				  struct tscope_error *err)
{
	struct placer p = { .trace = trace };
	struct row_cursor end = { 0 };
	enum tscope_status status = find_places(&p, err);
	if (status == TSCOPE_OK) {
		end = p.borders[trace->track_count];
		status = tsi_moving_rows_init(&p.to, &end, err);
	}
	if (status == TSCOPE_OK) {
		tsi_take_rows(&p.from, trace);
		status = place_all(&p, err);
	}
	if (status == TSCOPE_OK) {
		tsi_give_rows(&p.to, trace);
		trace->spans.count = end.row;
		trace->spans.capacity = end.row;
		trace->device_event_count = end.event;
	}
	tsi_moving_rows_deinit(&p.from);
	tsi_moving_rows_deinit(&p.to);
	*borders = p.borders;
	return status;
}

/* ---- which rows are of a class ------------------------------------------------------- */

enum tscope_status tsi_make_row_set(const struct spans *spans, enum tscope_span_class span_class,
				    struct bit_set *set, struct tscope_error *err)
{
	if (tsi_bit_set_init(set, spans->count, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count;) {
		uint32_t first = row, left = spans->count - row;
		uint32_t end = left < TSI_WORD_BITS ? spans->count : row + TSI_WORD_BITS;
		uint64_t bits = 0;
		for (; row < end; row++)
			bits |= (uint64_t)(tsi_span_class(spans, row) == span_class)
				<< (row - first);
		set->words[first / TSI_WORD_BITS] = bits;
	}
	tsi_bit_set_close(set);
	return TSCOPE_OK;
}
