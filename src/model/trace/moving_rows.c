/* SPDX-License-Identifier: MIT */
/* Memory of rows that are on their way to another place. */
#include "model/trace/moving_rows.h"

#include <stdlib.h>

#include "base/array.h"

bool tsi_moving_rows_init(struct moving_rows *rows, const struct row_cursor *count,
			  const struct moving_rows *others)
{
	size_t op_id_count = others->op_ids ? count->op : 0;
	size_t call_id_count = others->call_ids ? count->call : 0;
	size_t sequence_count = others->op_sequences ? count->op : 0;
	size_t room = ((size_t)count->row + TIME_BLOCK - 1) / TIME_BLOCK * TIME_BLOCK;

	*rows = (struct moving_rows){ 0 };
	return tsi_time_column_resize(&rows->starts, room, 0, true, NULL) == TSCOPE_OK &&
	       tsi_time_column_resize(&rows->durations, room, 0, false, NULL) == TSCOPE_OK &&
	       tsi_array_make(&rows->kind, room, sizeof(*rows->kind), NULL) == TSCOPE_OK &&
	       tsi_array_make(&rows->op_ids, op_id_count, sizeof(*rows->op_ids), NULL) ==
		       TSCOPE_OK &&
	       tsi_array_make(&rows->op_sequences, sequence_count, sizeof(*rows->op_sequences),
			      NULL) == TSCOPE_OK &&
	       tsi_array_make(&rows->calls, count->call, sizeof(*rows->calls), NULL) == TSCOPE_OK &&
	       tsi_array_make(&rows->call_ids, call_id_count, sizeof(*rows->call_ids), NULL) ==
		       TSCOPE_OK &&
	       tsi_array_make(&rows->events, count->event, sizeof(*rows->events), NULL) ==
		       TSCOPE_OK;
}

void tsi_moving_rows_deinit(struct moving_rows *rows)
{
	tsi_time_column_deinit(&rows->starts);
	tsi_time_column_deinit(&rows->durations);
	free(rows->kind);
	free(rows->op_ids);
	free(rows->op_sequences);
	free(rows->calls);
	free(rows->call_ids);
	free(rows->events);
	*rows = (struct moving_rows){ 0 };
}

void tsi_take_rows(struct moving_rows *rows, struct tscope_trace *trace)
{
	*rows = (struct moving_rows){
		.starts = trace->spans.starts,
		.durations = trace->spans.durations,
		.kind = trace->spans.kind,
		.op_ids = trace->op_ids,
		.op_sequences = trace->op_sequences,
		.calls = trace->calls,
		.call_ids = trace->call_ids,
		.events = trace->device_events,
	};
	tsi_give_rows(&(struct moving_rows){ 0 }, trace);
}

void tsi_give_rows(struct moving_rows *rows, struct tscope_trace *trace)
{
	trace->spans.starts = rows->starts;
	trace->spans.durations = rows->durations;
	trace->spans.kind = rows->kind;
	trace->op_ids = rows->op_ids;
	trace->op_sequences = rows->op_sequences;
	trace->calls = rows->calls;
	trace->call_ids = rows->call_ids;
	trace->device_events = rows->events;
	*rows = (struct moving_rows){ 0 };
}
