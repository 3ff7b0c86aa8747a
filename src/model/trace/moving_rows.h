/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_MOVING_ROWS_H
#define TSCOPE_MODEL_TRACE_MOVING_ROWS_H

#include "model/trace/trace.h"

/* All columns and side entries of the rows while these are put in order. */
struct moving_rows {
	struct time_column starts, durations;
	uint32_t *kind;
	uint32_t *op_ids, *call_ids; /* NULL where the trace has none, as are sequences */
	struct op_sequence *op_sequences;
	struct runtime_call *calls;
	struct device_event *events;
};

/* A place among them: that of a row, and those of what stands beside rows there. */
struct row_cursor {
	uint32_t row, op, call, event;
};

/*
 * Room for so many of what others have, as far as it is much in the file, if any; what is there
 * before is forgotten. False: no memory; it may be deinited.
 */
TSI_MUST_CHECK
bool tsi_moving_rows_init(struct moving_rows *rows, struct tscope_spill *spill,
			  const struct row_cursor *count, const struct moving_rows *others);
void tsi_moving_rows_deinit(struct moving_rows *rows);

/* Between a trace and its rows: the columns change their owner. */
void tsi_take_rows(struct moving_rows *rows, struct tscope_trace *trace);
void tsi_give_rows(struct moving_rows *rows, struct tscope_trace *trace);

/* Backward cursor over rows. */
struct row_place {
	struct moving_rows *rows;
	struct row_cursor at;
};

/* Moves what stands beside a row of the class. */
static inline void tsi_move_side(struct row_place *to, struct row_place *from, uint32_t span_class)
{
	if (span_class == TSCOPE_SPAN_CPU_OP) {
		uint32_t place = --to->at.op, op = --from->at.op;
		if (to->rows->op_ids)
			to->rows->op_ids[place] = from->rows->op_ids[op];
		if (to->rows->op_sequences)
			to->rows->op_sequences[place] = from->rows->op_sequences[op];
	} else if (span_class == TSCOPE_SPAN_RUNTIME) {
		to->rows->calls[--to->at.call] = from->rows->calls[--from->at.call];
		if (to->rows->call_ids)
			to->rows->call_ids[to->at.call] = from->rows->call_ids[from->at.call];
	} else if (tsi_class_is_device((uint8_t)span_class)) {
		to->rows->events[--to->at.event] = from->rows->events[--from->at.event];
	}
}

/* Moves the times of the row behind one place, which starts at start_ns, to behind another. */
static inline void tsi_move_times(struct row_place *to, const struct row_place *from,
				  int64_t start_ns)
{
	tsi_length_copy(&to->rows->durations, to->at.row, &from->rows->durations, from->at.row);
	tsi_time_put(&to->rows->starts, to->at.row, start_ns);
}

/* Moves the columns of a row that starts at start_ns. */
static inline void tsi_move_columns(struct row_place *to, struct row_place *from, int64_t start_ns)
{
	to->rows->kind[--to->at.row] = from->rows->kind[--from->at.row];
	tsi_move_times(to, from, start_ns);
}

#endif
