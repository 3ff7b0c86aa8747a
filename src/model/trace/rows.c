/* SPDX-License-Identifier: MIT */
/*
 * Rows while they come: the columns grow, and what spans have in common is found among what
 * was there before. Kinds and shapes are small structs without gaps: as texts, their bytes
 * are distinguished by what distinguishes texts.
 */
#include "model/trace/build.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_ROWS = 4 * TIME_BLOCK };

bool tsi_grow_rows(struct builder *b)
{
	struct spans *spans = &b->trace->spans;
	size_t old = spans->capacity, room = old ? 2 * old : FIRST_ROWS, kind_room = old;
	struct tscope_error err;
	if (spans->count >= NO_ROW - 1) {
		tsi_fail(&err, TSCOPE_E_LIMIT, "more than %" PRIu32 " spans (limit: spans)",
			 NO_ROW - 1);
		tsi_builder_fail(b, &err);
		return false;
	}
	/* `capacity` counts once the last column has its room. */
	if (tsi_time_column_resize(&spans->starts, room, old, true, NULL) != TSCOPE_OK ||
	    tsi_time_column_resize(&spans->durations, room, old, false, NULL) != TSCOPE_OK) {
		tsi_builder_fail_nomem(b);
		return false;
	}
	if (!tsi_builder_reserve(b, &spans->kind, &kind_room, room, sizeof(*spans->kind)))
		return false;
	spans->capacity = room;
	return true;
}

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

bool tsi_grow_ops(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	size_t wanted = trace->cpu_op_count + 1, id_room = trace->op_capacity, room = id_room;
	if (!tsi_builder_reserve(b, &trace->op_ids, &id_room, wanted, sizeof(*trace->op_ids)) ||
	    !tsi_builder_reserve(b, &trace->op_sequences, &room, wanted,
				 sizeof(*trace->op_sequences)))
		return false;
	trace->op_capacity = room;
	return true;
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
	size_t wanted = trace->call_count + 1;
	b->ids = ids;
	tsi_note_correlation(b, ids.correlation);
	if (!tsi_builder_reserve(b, &trace->calls, &trace->call_capacity, wanted,
				 sizeof(*trace->calls)) ||
	    !tsi_builder_reserve(b, &trace->call_ids, &trace->call_id_capacity, wanted,
				 sizeof(*trace->call_ids)))
		return;
	trace->call_ids[trace->call_count] = telling_id(b, ids);
	trace->calls[trace->call_count++] = (struct runtime_call){ .correlation = ids.correlation };
}

void tsi_add_device_event(struct builder *b, struct event_ids ids, uint32_t collective)
{
	struct tscope_trace *trace = b->trace;
	b->ids = ids;
	tsi_note_correlation(b, ids.correlation);
	if (!tsi_builder_reserve(b, &trace->device_events, &trace->device_event_capacity,
				 trace->device_event_count + 1, sizeof(*trace->device_events)))
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
		free(trace->op_sequences);
		trace->op_sequences = NULL;
	}
	if (!b->has_telling_id) {
		free(trace->op_ids);
		free(trace->call_ids);
		trace->op_ids = trace->call_ids = NULL;
	}
}
