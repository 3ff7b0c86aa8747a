/* SPDX-License-Identifier: MIT */
/*
 * Rows while they come: the columns grow, and what spans have in common is found among what
 * was there before. Kinds and shapes are small structs without gaps: as texts, their bytes
 * are distinguished by what distinguishes texts.
 */
#include "base/column.h"
#include "model/trace/build.h"

#include <inttypes.h>

/* ---- room for more ------------------------------------------------------------------- */

enum { FIRST_ROWS = 4 * TIME_BLOCK };

/* The capacity of columns is what each of them has: the last that grows sets it. */
static bool resize_rows(struct tscope_trace *trace, size_t room)
{
	struct spans *spans = &trace->spans;
	size_t old = spans->capacity;
	spans->capacity = room < old ? room : old;
	if (!tsi_time_column_resize(&spans->starts, trace->spill, room, old, true) ||
	    !tsi_time_column_resize(&spans->durations, trace->spill, room, old, false) ||
	    !tsi_column_resize(&spans->kind, trace->spill, room, sizeof(*spans->kind)))
		return false;
	spans->capacity = room;
	return true;
}

static bool resize_ops(struct tscope_trace *trace, size_t room)
{
	size_t old = trace->op_capacity;
	trace->op_capacity = room < old ? room : old;
	if (!tsi_column_resize(&trace->op_ids, trace->spill, room, sizeof(*trace->op_ids)) ||
	    !tsi_column_resize(&trace->op_sequences, trace->spill, room,
			       sizeof(*trace->op_sequences)))
		return false;
	trace->op_capacity = room;
	return true;
}

static bool resize_calls(struct tscope_trace *trace, size_t room)
{
	size_t old = trace->call_capacity;
	trace->call_capacity = room < old ? room : old;
	if (!tsi_column_resize(&trace->calls, trace->spill, room, sizeof(*trace->calls)) ||
	    !tsi_column_resize(&trace->call_ids, trace->spill, room, sizeof(*trace->call_ids)))
		return false;
	trace->call_capacity = room;
	return true;
}

static bool resize_device_events(struct tscope_trace *trace, size_t room)
{
	size_t old = trace->device_event_capacity;
	trace->device_event_capacity = room < old ? room : old;
	if (!tsi_column_resize(&trace->device_events, trace->spill, room,
			       sizeof(*trace->device_events)))
		return false;
	trace->device_event_capacity = room;
	return true;
}

bool tsi_place_columns(struct tscope_trace *trace)
{
	size_t rows = trace->spans.count + (size_t)TICK_EVENTS;
	return resize_rows(trace, rows - rows % TIME_BLOCK + TIME_BLOCK) &&
	       resize_ops(trace, trace->cpu_op_count + TICK_EVENTS) &&
	       resize_calls(trace, trace->call_count + TICK_EVENTS) &&
	       resize_device_events(trace, trace->device_event_count + TICK_EVENTS);
}

/* Room in columns that are full. */
static bool grow(struct builder *b, bool (*resize)(struct tscope_trace *, size_t), size_t capacity)
{
	if (resize(b->trace, capacity ? 2 * capacity : FIRST_ROWS))
		return true;
	tsi_builder_fail_nomem(b);
	return false;
}

bool tsi_grow_rows(struct builder *b)
{
	struct spans *spans = &b->trace->spans;
	struct tscope_error err;
	if (spans->count < NO_ROW - 1)
		return grow(b, resize_rows, spans->capacity);
	tsi_fail(&err, TSCOPE_E_LIMIT, "more than %" PRIu32 " spans (limit: spans)", NO_ROW - 1);
	tsi_builder_fail(b, &err);
	return false;
}

bool tsi_grow_ops(struct builder *b)
{
	return grow(b, resize_ops, b->trace->op_capacity);
}

/* ---- rows ---------------------------------------------------------------------------- */

uint32_t tsi_find_span_kind(struct builder *b, const struct span_kind *kind)
{
	struct spans *spans = &b->trace->spans;
	struct str text = { (const char *)kind, sizeof(*kind) };
	uint32_t number = tsi_builder_id(b, &b->span_kinds, text);
	if (tsi_likely(number - 1 < spans->kind_count)) /* the empty text is none */
		return number - 1;
	if (number == 0 ||
	    !tsi_builder_reserve(b, &spans->kinds, &spans->kind_capacity, number, sizeof(*kind)))
		return 0;
	spans->kinds[spans->kind_count++] = *kind;
	return number - 1;
}

uint32_t tsi_find_work_shape(struct builder *b, const struct work_shape *shape)
{
	struct tscope_trace *trace = b->trace;
	struct str text = { (const char *)shape, sizeof(*shape) };
	uint32_t index = tsi_builder_id(b, &b->work_shapes, text);
	if (tsi_likely(index < trace->work_shape_count))
		return index;
	struct work_shape *added =
		tsi_builder_push(b, &trace->work_shapes, &trace->work_shape_count,
				 &trace->work_shape_capacity, sizeof(*added));
	if (!added)
		return 0;
	*added = *shape;
	return index;
}

/* An id that repeats the correlation names no operator. */
static uint32_t telling_id(struct builder *b, struct event_ids ids)
{
	if (ids.external_id == 0 || ids.external_id == ids.correlation)
		return 0;
	b->has_telling_id = true;
	return ids.external_id;
}

void tsi_add_call(struct builder *b, struct event_ids ids)
{
	struct tscope_trace *trace = b->trace;
	b->ids = ids;
	tsi_note_correlation(b, ids.correlation);
	if (tsi_unlikely(trace->call_count == trace->call_capacity) &&
	    !grow(b, resize_calls, trace->call_capacity))
		return;
	trace->call_ids[trace->call_count] = telling_id(b, ids);
	trace->calls[trace->call_count++] = (struct runtime_call){ .correlation = ids.correlation };
}

void tsi_add_device_event(struct builder *b, struct event_ids ids, uint32_t collective)
{
	struct tscope_trace *trace = b->trace;
	b->ids = ids;
	tsi_note_correlation(b, ids.correlation);
	if (tsi_unlikely(trace->device_event_count == trace->device_event_capacity) &&
	    !grow(b, resize_device_events, trace->device_event_capacity))
		return;
	trace->device_events[trace->device_event_count++] = (struct device_event){
		.correlation = ids.correlation,
		.collective = collective,
		.external_id = telling_id(b, ids),
	};
}

void tsi_drop_ids(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	if (!trace->has_places) {
		tsi_column_free(trace->op_sequences);
		trace->op_sequences = NULL;
	}
	if (!b->has_telling_id) {
		tsi_column_free(trace->op_ids);
		tsi_column_free(trace->call_ids);
		trace->op_ids = trace->call_ids = NULL;
	}
}
