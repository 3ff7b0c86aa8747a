/* SPDX-License-Identifier: MIT */
/*
 * Rows while they come: the columns grow, and what spans have in common is found among what
 * was there before. Kinds and shapes are small structs without gaps: as texts, their bytes
 * are told apart by what tells texts apart.
 */
#include "base/array.h"
#include "base/error.h"
#include "model/trace/build.h"

#include <inttypes.h>
#include <stdlib.h>

enum { FIRST_ROWS = 4 * TIME_BLOCK };

enum tscope_status tsi_grow_rows(struct spans *spans, struct tscope_error *err)
{
	size_t old = spans->capacity, room = old ? 2 * old : FIRST_ROWS, kind_room = old;
	if (spans->count >= NO_ROW - 1)
		return tsi_fail(err, TSCOPE_E_LIMIT, "more than %" PRIu32 " spans (limit: spans)",
				NO_ROW - 1);
	/* `capacity` counts once the last column has its room. */
	if (tsi_time_column_resize(&spans->starts, room, old, true, err) != TSCOPE_OK ||
	    tsi_time_column_resize(&spans->durations, room, old, false, err) != TSCOPE_OK ||
	    tsi_array_reserve(&spans->kind, &kind_room, room, sizeof(*spans->kind), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	spans->capacity = room;
	return TSCOPE_OK;
}

enum tscope_status tsi_find_span_kind(struct builder *b, const struct span_kind *kind,
				      uint32_t *index, struct tscope_error *err)
{
	struct spans *spans = &b->trace->spans;
	enum tscope_status status = tsi_intern_add(
		&b->span_kinds, (struct str){ (const char *)kind, sizeof(*kind) }, index, err);
	if (status != TSCOPE_OK)
		return status;
	if (tsi_likely(--*index < spans->kind_count)) /* the empty text is none */
		return TSCOPE_OK;
	if (tsi_array_reserve(&spans->kinds, &spans->kind_capacity, (size_t)*index + 1,
			      sizeof(*kind), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	spans->kinds[spans->kind_count++] = *kind;
	return TSCOPE_OK;
}

enum tscope_status tsi_find_work_shape(struct builder *b, const struct work_shape *shape,
				       uint32_t *index, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	enum tscope_status status = tsi_intern_add(
		&b->work_shapes, (struct str){ (const char *)shape, sizeof(*shape) }, index, err);
	if (status != TSCOPE_OK || tsi_likely(*index < trace->work_shape_count))
		return status;
	if (tsi_array_reserve(&trace->work_shapes, &trace->work_shape_capacity, (size_t)*index + 1,
			      sizeof(*shape), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	trace->work_shapes[trace->work_shape_count++] = *shape;
	return TSCOPE_OK;
}

enum tscope_status tsi_add_op_ids(struct builder *b, struct event_ids ids, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	b->ids = ids;
	if (tsi_array_reserve(&trace->op_ids, &trace->op_id_capacity, trace->cpu_op_count + 1,
			      sizeof(*trace->op_ids), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	trace->op_ids[trace->cpu_op_count++] = ids.external_id;
	return TSCOPE_OK;
}

/* An id that repeats the correlation names no operator. */
static uint32_t telling_id(struct event_ids ids)
{
	return ids.external_id == ids.correlation ? 0 : ids.external_id;
}

enum tscope_status tsi_add_call(struct builder *b, struct event_ids ids, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	size_t wanted = trace->call_count + 1;
	b->ids = ids;
	if (tsi_array_reserve(&trace->calls, &trace->call_capacity, wanted, sizeof(*trace->calls),
			      err) != TSCOPE_OK ||
	    tsi_array_reserve(&trace->call_ids, &trace->call_id_capacity, wanted,
			      sizeof(*trace->call_ids), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	trace->call_ids[trace->call_count] = telling_id(ids);
	trace->calls[trace->call_count++] = (struct runtime_call){ .correlation = ids.correlation };
	return TSCOPE_OK;
}

enum tscope_status tsi_add_device_event(struct builder *b, struct event_ids ids,
					uint32_t collective, struct tscope_error *err)
{
	struct tscope_trace *trace = b->trace;
	b->ids = ids;
	if (tsi_array_reserve(&trace->device_events, &trace->device_event_capacity,
			      trace->device_event_count + 1, sizeof(*trace->device_events),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	trace->device_events[trace->device_event_count++] = (struct device_event){
		.correlation = ids.correlation,
		.collective = collective,
		.external_id = telling_id(ids),
	};
	return TSCOPE_OK;
}
