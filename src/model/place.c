/* SPDX-License-Identifier: MIT */
/*
 * Puts the rows of each track side by side, as they came, and what stands beside some of them
 * likewise. From the last row to the first: memory behind a row that has moved is given back,
 * so that the rows are never there twice.
 */
#include "base/array.h"
#include "base/error.h"
#include "model/build.h"

#include <stdlib.h>

enum { GIVE_BACK_ROWS = 1 << 16 };

/* What rows have beside them, and all that grows with rows. */
struct rows {
	struct spans spans; /* the columns only */
	struct runtime_call *calls;
	struct device_event *events;
	uint32_t *call_ids, *op_ids;
	size_t call_count, event_count, op_count;
};

struct placer {
	struct tscope_trace *trace;
	struct rows from, to;
	/* By track: where the rows placed last are, and what is beside them. */
	uint32_t *next_row, *next_call, *next_op;
};

static void deinit_rows(struct rows *rows)
{
	tsi_time_column_deinit(&rows->spans.starts);
	tsi_time_column_deinit(&rows->spans.durations);
	free(rows->spans.kind);
	free(rows->calls);
	free(rows->events);
	free(rows->call_ids);
	free(rows->op_ids);
}

/* Moves the trace's rows into `rows`. */
static void take_rows(struct rows *rows, struct tscope_trace *trace)
{
	*rows = (struct rows){
		.spans = trace->spans,
		.calls = trace->calls,
		.events = trace->device_events,
		.call_ids = trace->call_ids,
		.op_ids = trace->op_ids,
		.call_count = trace->call_count,
		.event_count = trace->device_event_count,
		.op_count = trace->cpu_op_count,
	};
	trace->spans.starts = trace->spans.durations = (struct time_column){ 0 };
	trace->spans.kind = NULL;
	trace->calls = NULL;
	trace->device_events = NULL;
	trace->call_ids = trace->op_ids = NULL;
}

/* ---- where all of it goes ------------------------------------------------------------ */

/* Where the calls and operators of each track end. What is not of a track is dropped. */
static enum tscope_status find_places(struct placer *p, struct tscope_error *err)
{
	struct tscope_trace *trace = p->trace;
	const struct spans *spans = &p->from.spans;
	uint32_t calls = 0, ops = 0;
	if (tsi_array_new(&p->next_row, trace->track_count, sizeof(*p->next_row), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&p->next_call, trace->track_count, sizeof(*p->next_call), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&p->next_op, trace->track_count, sizeof(*p->next_op), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count; row++) {
		const struct span_kind *kind = tsi_span_kind(spans, row);
		if (kind->span_class == TSCOPE_SPAN_CPU_OP)
			p->next_op[kind->track]++;
		else if (kind->span_class == TSCOPE_SPAN_RUNTIME)
			p->next_call[kind->track]++;
	}
	for (uint32_t i = 0; i < trace->track_count; i++) {
		p->next_row[i] = trace->tracks[i].first + trace->tracks[i].count;
		p->next_call[i] = calls += p->next_call[i];
		p->next_op[i] = ops += p->next_op[i];
	}
	return TSCOPE_OK;
}

static enum tscope_status make_room(struct placer *p, struct tscope_error *err)
{
	struct tscope_trace *trace = p->trace;
	const struct track *last = &trace->tracks[trace->track_count - 1];
	size_t count = (size_t)last->first + last->count;
	size_t room = (count + TIME_BLOCK - 1) / TIME_BLOCK * TIME_BLOCK;
	if (tsi_time_column_resize(&p->to.spans.starts, room, 0, true, err) != TSCOPE_OK ||
	    tsi_time_column_resize(&p->to.spans.durations, room, 0, false, err) != TSCOPE_OK ||
	    tsi_array_new(&p->to.spans.kind, room, sizeof(*p->to.spans.kind), err) != TSCOPE_OK ||
	    tsi_array_new(&p->to.calls, p->from.call_count, sizeof(*p->to.calls), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&p->to.call_ids, p->from.call_count, sizeof(*p->to.call_ids), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&p->to.op_ids, p->from.op_count, sizeof(*p->to.op_ids), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	p->to.spans.count = (uint32_t)count;
	p->to.spans.capacity = room;
	for (uint32_t i = trace->host_track_count; i < trace->track_count; i++)
		p->to.event_count += trace->tracks[i].count;
	return tsi_array_new(&p->to.events, p->to.event_count, sizeof(*p->to.events), err);
}

/* ---- the way ------------------------------------------------------------------------- */

static void shrink(void *items, size_t count, size_t item_bytes)
{
	void *memory, *smaller;
	memcpy(&memory, items, sizeof(memory));
	smaller = count ? realloc(memory, count * item_bytes) : NULL;
	if (smaller)
		memcpy(items, &smaller, sizeof(smaller));
}

static void give_back(struct rows *rows, uint32_t row)
{
	tsi_time_column_shrink(&rows->spans.starts, row);
	tsi_time_column_shrink(&rows->spans.durations, row);
	shrink(&rows->spans.kind, row, sizeof(*rows->spans.kind));
	shrink(&rows->calls, rows->call_count, sizeof(*rows->calls));
	shrink(&rows->events, rows->event_count, sizeof(*rows->events));
	shrink(&rows->call_ids, rows->call_count, sizeof(*rows->call_ids));
	shrink(&rows->op_ids, rows->op_count, sizeof(*rows->op_ids));
}

static void place_sides(struct placer *p, const struct span_kind *kind, uint32_t to)
{
	if (kind->span_class == TSCOPE_SPAN_CPU_OP) {
		p->to.op_ids[--p->next_op[kind->track]] = p->from.op_ids[--p->from.op_count];
	} else if (kind->span_class == TSCOPE_SPAN_RUNTIME) {
		uint32_t call = --p->next_call[kind->track];
		p->to.calls[call] = p->from.calls[--p->from.call_count];
		p->to.call_ids[call] = p->from.call_ids[p->from.call_count];
	} else if (tsi_class_is_device((uint8_t)kind->span_class)) {
		size_t first = p->to.spans.count - p->to.event_count;
		p->to.events[to - first] = p->from.events[--p->from.event_count];
	}
}

static enum tscope_status place_all(struct placer *p, struct tscope_error *err)
{
	struct spans *from = &p->from.spans, *to = &p->to.spans;
	for (uint32_t row = from->count; row-- > 0;) {
		const struct span_kind *kind = tsi_span_kind(from, row);
		if (tsi_unlikely(kind->track == NO_ROW)) { /* device work that is dropped */
			p->from.event_count--;
			continue;
		}
		uint32_t place = --p->next_row[kind->track];
		to->kind[place] = from->kind[row];
		if (tsi_time_put(&to->starts, place, tsi_start_ns(from, row), err) != TSCOPE_OK ||
		    tsi_length_put(&to->durations, place, tsi_dur_ns(from, row), err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		place_sides(p, kind, place);
		if (row % GIVE_BACK_ROWS == 0)
			give_back(&p->from, row);
	}
	return TSCOPE_OK;
}

/* The kinds and the sets stay with the trace. */
static void keep_rows(struct placer *p)
{
	struct tscope_trace *trace = p->trace;
	trace->spans.count = p->to.spans.count;
	trace->spans.capacity = p->to.spans.capacity;
	trace->spans.starts = p->to.spans.starts;
	trace->spans.durations = p->to.spans.durations;
	trace->spans.kind = p->to.spans.kind;
	trace->calls = p->to.calls;
	trace->call_ids = p->to.call_ids;
	trace->op_ids = p->to.op_ids;
	trace->device_events = p->to.events;
	trace->device_event_count = p->to.event_count;
}

enum tscope_status tsi_place_rows(struct tscope_trace *trace, struct tscope_error *err)
{
	struct placer p = { .trace = trace };
	take_rows(&p.from, trace);
	enum tscope_status status = find_places(&p, err);
	if (status == TSCOPE_OK)
		status = make_room(&p, err);
	if (status == TSCOPE_OK)
		status = place_all(&p, err);
	if (status == TSCOPE_OK)
		keep_rows(&p);
	else
		deinit_rows(&p.to);
	deinit_rows(&p.from);
	free(p.next_row);
	free(p.next_call);
	free(p.next_op);
	return status;
}

/* ---- which rows are of a class ------------------------------------------------------- */

static enum tscope_status renew_set(struct row_set *set, size_t words, struct tscope_error *err)
{
	free(set->bits);
	free(set->before);
	*set = (struct row_set){ 0 };
	if (tsi_array_new(&set->bits, words, sizeof(*set->bits), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&set->before, words, sizeof(*set->before), err);
}

static void count_set(struct row_set *set, size_t words)
{
	for (size_t i = 1; i < words; i++)
		set->before[i] =
			set->before[i - 1] + (uint32_t)__builtin_popcountll(set->bits[i - 1]);
}

enum tscope_status tsi_make_row_sets(struct tscope_trace *trace, struct tscope_error *err)
{
	struct spans *spans = &trace->spans;
	size_t words = spans->count / 64 + 1; /* the rank behind the last row is asked for, too */
	if (renew_set(&spans->ops, words, err) != TSCOPE_OK ||
	    renew_set(&spans->calls, words, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < spans->count; row++) {
		uint8_t span_class = tsi_span_class(spans, row);
		uint64_t bit = UINT64_C(1) << row % 64;
		spans->ops.bits[row / 64] |= span_class == TSCOPE_SPAN_CPU_OP ? bit : 0;
		spans->calls.bits[row / 64] |= span_class == TSCOPE_SPAN_RUNTIME ? bit : 0;
	}
	count_set(&spans->ops, words);
	count_set(&spans->calls, words);
	return TSCOPE_OK;
}
