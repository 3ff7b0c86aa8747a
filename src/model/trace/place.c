/* SPDX-License-Identifier: MIT */
/*
 * Puts the rows of each track side by side, as they came, and what stands beside some of them
 * likewise. From the last row to the first, step by step: memory behind the rows that have moved
 * is given back, so that the rows are never there twice.
 */
#include "base/column.h"
#include "base/parallel.h"
#include "model/trace/build.h"
#include "model/trace/moving_rows.h"

#include <string.h>

enum {
	STEP_ROWS = 1 << 14,
	THREADS_STEP_ROWS = 1 << 16, /* threads are started for each step */
	ROWS_FOR_THREADS = 1 << 15,  /* for fewer no thread is worth its start */
};

struct placer {
	struct builder *builder;
	struct tscope_trace *trace;
	struct moving_rows from, to;
	uint32_t until;             /* the rows of this step begin here */
	struct row_cursor *borders; /* where the rows of each track begin; then where all end */
};

/* The columns that a walk moves. Walks over different parts write to different memory. */
enum {
	PART_TIMES = 1 << 0,
	PART_REST = 1 << 1,
};

/* Written by one thread only: sharing a cache line would make threads wait. */
struct place_walk {
	struct placer *placer;
	struct row_cursor at;      /* where the rows to come end */
	struct row_cursor *places; /* by track: where those placed last begin */
};

/* ---- where all of it goes ------------------------------------------------------------ */

/* How many rows each track has, and what is beside them. Rows without a track are dropped. */
static void count_rows(const struct spans *spans, struct row_cursor *places, struct arena *arena)
{
	uint32_t *counts = tsi_arena_new(arena, spans->kind_count, sizeof(*counts));
	if (!counts)
		return;
	for (const uint32_t *kind = spans->kind, *end = kind + spans->count; kind < end; kind++)
		counts[*kind]++;
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
}

/* Sets the counts of the tracks, puts them in order, and the borders of their rows likewise. */
static void place_tracks(struct placer *p, const struct row_cursor *counts, uint32_t *new_index,
			 struct arena *arena)
{
	struct tscope_trace *trace = p->trace;
	uint32_t old_count = trace->track_count;
	for (uint32_t i = 0; i < old_count; i++)
		trace->tracks[i].count = counts[i].row;
	tsi_order_tracks(trace, new_index, arena);
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
}

static void find_places(struct placer *p)
{
	struct builder *b = p->builder;
	struct arena arena = { 0 }; /* of what is not needed when the rows move */
	size_t count = p->trace->track_count;
	struct row_cursor *counts = tsi_arena_new(&arena, count, sizeof(*counts));
	uint32_t *new_index = tsi_arena_new(&arena, count, sizeof(*new_index));
	p->borders = tsi_arena_new(&b->scratch, count + 1, sizeof(*p->borders));
	if (new_index && p->borders) {
		count_rows(&p->trace->spans, counts, &arena);
		place_tracks(p, counts, new_index, &arena);
	}
	if (arena.has_failed)
		tsi_builder_fail_nomem(b);
	tsi_arena_deinit(&arena);
}

/* ---- the way ------------------------------------------------------------------------- */

static void give_back(struct moving_rows *rows, const struct row_cursor *end)
{
	tsi_column_shrink(&rows->starts.distances, end->row, sizeof(*rows->starts.distances));
	tsi_column_shrink(&rows->durations.distances, end->row, sizeof(*rows->durations.distances));
	tsi_column_shrink(&rows->kind, end->row, sizeof(*rows->kind));
	tsi_column_shrink(&rows->op_ids, end->op, sizeof(*rows->op_ids));
	tsi_column_shrink(&rows->op_sequences, end->op, sizeof(*rows->op_sequences));
	tsi_column_shrink(&rows->calls, end->call, sizeof(*rows->calls));
	tsi_column_shrink(&rows->call_ids, end->call, sizeof(*rows->call_ids));
	tsi_column_shrink(&rows->events, end->event, sizeof(*rows->events));
}

static inline void place_row(struct row_place *to, struct row_place *from, unsigned parts,
			     uint32_t span_class)
{
	uint32_t place = --to->at.row, row = --from->at.row;
	if (parts & PART_REST) {
		to->rows->kind[place] = from->rows->kind[row];
		if (span_class == TSCOPE_SPAN_CPU_OP) { /* place_ops() moves many at once */
			to->at.op--;
			from->at.op--;
		} else {
			tsi_move_side(to, from, span_class);
		}
	}
	if (parts & PART_TIMES)
		tsi_move_times(to, from, tsi_time_at(&from->rows->starts, row));
}

/* Moves what stands beside the operators of rows that have moved. */
static inline void place_ops(const struct row_place *to, const struct row_place *from, size_t count)
{
	const struct moving_rows *rows = from->rows;
	if (rows->op_ids)
		memcpy(to->rows->op_ids + to->at.op, rows->op_ids + from->at.op,
		       count * sizeof(*rows->op_ids));
	if (rows->op_sequences)
		memcpy(to->rows->op_sequences + to->at.op, rows->op_sequences + from->at.op,
		       count * sizeof(*rows->op_sequences));
}

/* Moves the rows of a track that came one after the other, as far as they are of this step. */
static inline void place_stretch(struct place_walk *w, unsigned parts, uint32_t track)
{
	struct placer *p = w->placer;
	const struct span_kind *kinds = p->trace->spans.kinds;
	const uint32_t *kind_of_row = p->from.kind;
	struct row_place to = { &p->to, w->places[track] }, from = { &p->from, w->at };
	for (uint32_t until = p->until; from.at.row > until;) {
		const struct span_kind *kind = &kinds[kind_of_row[from.at.row - 1]];
		if (kind->track != track)
			break;
		place_row(&to, &from, parts, kind->span_class);
	}
	if (from.at.op < w->at.op)
		place_ops(&to, &from, w->at.op - from.at.op);
	w->places[track] = to.at;
	w->at = from.at;
}

static inline void place_parts(struct place_walk *w, unsigned parts)
{
	const struct placer *p = w->placer;
	const struct span_kind *kinds = p->trace->spans.kinds;
	while (w->at.row > p->until) {
		uint32_t track = kinds[p->from.kind[w->at.row - 1]].track;
		if (tsi_likely(track != NO_ROW)) {
			place_stretch(w, parts, track);
		} else { /* device work that is dropped */
			w->at.row--;
			w->at.event--;
		}
	}
}

static enum tscope_status place_times(void *walk, unsigned lane, struct tscope_error *err)
{
	(void)lane;
	(void)err;
	place_parts(walk, PART_TIMES);
	return TSCOPE_OK;
}

static enum tscope_status place_rest(void *walk, unsigned lane, struct tscope_error *err)
{
	(void)lane;
	(void)err;
	place_parts(walk, PART_REST);
	return TSCOPE_OK;
}

static struct place_walk begin_walk(struct placer *p)
{
	const struct tscope_trace *trace = p->trace;
	struct place_walk w = {
		.placer = p,
		.at = { trace->spans.count, (uint32_t)trace->cpu_op_count,
			(uint32_t)trace->call_count, (uint32_t)trace->device_event_count },
		.places =
			tsi_arena_new(&p->builder->scratch, trace->track_count, sizeof(*w.places)),
	};
	for (size_t i = 0; w.places && i < trace->track_count; i++)
		w.places[i] = p->borders[i + 1];
	return w;
}

/* With two threads each moves a part of all rows: what takes time is memory, new and old. */
static void place_all(struct placer *p)
{
	struct place_walk rest = begin_walk(p), times = begin_walk(p);
	const struct job jobs[] = { { place_rest, &rest }, { place_times, &times } };
	uint32_t count = p->trace->spans.count;
	unsigned thread_count = count < ROWS_FOR_THREADS ? 1 : tsi_trace_threads(p->trace);
	uint32_t step_rows = thread_count == 1 ? STEP_ROWS : THREADS_STEP_ROWS;

	if (!times.places)
		return;
	while (p->builder->status == TSCOPE_OK && rest.at.row > 0) {
		p->until = (rest.at.row - 1) / step_rows * step_rows;
		if (thread_count == 1)
			place_parts(&rest, PART_TIMES | PART_REST);
		else if (tsi_run_jobs(jobs, TSI_COUNT_OF(jobs), thread_count, NULL) != TSCOPE_OK)
			tsi_builder_fail_nomem(p->builder);
		give_back(&p->from, &rest.at);
	}
}

struct row_cursor *tsi_place_rows(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	struct placer p = { .builder = b, .trace = trace };
	find_places(&p);
	if (b->scratch.has_failed || b->status != TSCOPE_OK)
		return NULL;
	struct row_cursor end = p.borders[trace->track_count];
	tsi_take_rows(&p.from, trace);
	if (tsi_moving_rows_init(&p.to, trace->spill, &end, &p.from)) {
		place_all(&p);
		tsi_give_rows(&p.to, trace);
		trace->spans.count = end.row;
		trace->spans.capacity = end.row;
		trace->device_event_count = end.event;
	} else {
		tsi_builder_fail_nomem(b);
	}
	tsi_moving_rows_deinit(&p.from);
	tsi_moving_rows_deinit(&p.to);
	return b->scratch.has_failed || b->status != TSCOPE_OK ? NULL : p.borders;
}

/* ---- which rows are of a class ------------------------------------------------------- */

void tsi_make_row_set(struct builder *b, enum tscope_span_class span_class, struct bit_set *set)
{
	const struct spans *spans = &b->trace->spans;
	const uint32_t *kind = spans->kind;
	struct arena arena = { 0 };
	uint8_t *is_member = tsi_arena_new(&arena, spans->kind_count, 1); /* by kind */
	for (uint32_t i = 0; is_member && i < spans->kind_count; i++)
		is_member[i] = spans->kinds[i].span_class == span_class;
	if (!is_member || !tsi_bit_set_init(set, b->trace->spill, spans->count)) {
		tsi_builder_fail_nomem(b);
		tsi_arena_deinit(&arena);
		return;
	}
	for (uint32_t row = 0; row < spans->count;) {
		uint32_t first = row, left = spans->count - row;
		uint32_t end = left < TSI_WORD_BITS ? spans->count : row + TSI_WORD_BITS;
		uint64_t bits = 0;
		for (; row < end; row++)
			bits |= (uint64_t)is_member[kind[row]] << (row - first);
		set->words[first / TSI_WORD_BITS] = bits;
	}
	tsi_arena_deinit(&arena);
	tsi_bit_set_close(set);
}
