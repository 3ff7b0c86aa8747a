/* SPDX-License-Identifier: MIT */
/* Memory of rows that are on their way to another place. */
#include "model/trace/moving_rows.h"

#include "base/column.h"

static bool make(void *column, struct tscope_spill *spill, size_t count, size_t item_bytes)
{
	return count == 0 || tsi_column_resize(column, spill, count, item_bytes);
}

static bool init(struct moving_rows *rows, struct tscope_spill *spill,
		 const struct row_cursor *count, const struct moving_rows *others)
{
	size_t op_id_count = others->op_ids ? count->op : 0;
	size_t call_id_count = others->call_ids ? count->call : 0;
	size_t sequence_count = others->op_sequences ? count->op : 0;
	size_t room = ((size_t)count->row + TIME_BLOCK - 1) / TIME_BLOCK * TIME_BLOCK;

	*rows = (struct moving_rows){ 0 };
	return tsi_time_column_resize(&rows->starts, spill, room, 0, true) &&
	       tsi_time_column_resize(&rows->durations, spill, room, 0, false) &&
	       make(&rows->kind, spill, room, sizeof(*rows->kind)) &&
	       make(&rows->op_ids, spill, op_id_count, sizeof(*rows->op_ids)) &&
	       make(&rows->op_sequences, spill, sequence_count, sizeof(*rows->op_sequences)) &&
	       make(&rows->calls, spill, count->call, sizeof(*rows->calls)) &&
	       make(&rows->call_ids, spill, call_id_count, sizeof(*rows->call_ids)) &&
	       make(&rows->events, spill, count->event, sizeof(*rows->events));
}

bool tsi_moving_rows_init(struct moving_rows *rows, struct tscope_spill *spill,
			  const struct row_cursor *count, const struct moving_rows *others)
{
	enum { MIN_SPILLED_ROWS = 1 << 14 };

	if (spill && count->row >= MIN_SPILLED_ROWS) {
		if (init(rows, spill, count, others))
			return true;
		tsi_moving_rows_deinit(rows);
	}
	return init(rows, NULL, count, others);
}

void tsi_moving_rows_deinit(struct moving_rows *rows)
{
	tsi_time_column_deinit(&rows->starts);
	tsi_time_column_deinit(&rows->durations);
	tsi_column_free(rows->kind);
	tsi_column_free(rows->op_ids);
	tsi_column_free(rows->op_sequences);
	tsi_column_free(rows->calls);
	tsi_column_free(rows->call_ids);
	tsi_column_free(rows->events);
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
