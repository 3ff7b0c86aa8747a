/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_MOVING_ROWS_H
#define TSCOPE_MODEL_MOVING_ROWS_H

#include "model/trace.h"

/* All that there is for each row while rows are put in order: columns, and what stands beside. */
struct moving_rows {
	struct time_column starts, durations;
	uint32_t *kind;
	uint32_t *op_ids; /* of operators */
	struct runtime_call *calls;
	uint32_t *call_ids;
	struct device_event *events;
};

/* A place among them: that of a row, and those of what stands beside rows there. */
struct row_cursor {
	uint32_t row, op, call, event;
};

/* Room for so many; what is there before is forgotten. On failure it may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_moving_rows_init(struct moving_rows *rows, const struct row_cursor *count,
					struct tscope_error *err);
void tsi_moving_rows_deinit(struct moving_rows *rows);

/* Between a trace and its rows: the columns change their owner. */
void tsi_take_rows(struct moving_rows *rows, struct tscope_trace *trace);
void tsi_give_rows(struct moving_rows *rows, struct tscope_trace *trace);

/* Moves the row before one place to before another; both go back by one. */
TSI_MUST_CHECK
static inline enum tscope_status tsi_move_row(struct moving_rows *to, struct row_cursor *place,
					      const struct moving_rows *from, struct row_cursor *at,
					      const struct span_kind *kinds,
					      struct tscope_error *err)
{
	uint32_t kind = from->kind[--at->row];
	uint32_t span_class = kinds[kind].span_class;

	to->kind[--place->row] = kind;
	if (span_class == TSCOPE_SPAN_CPU_OP) {
		to->op_ids[--place->op] = from->op_ids[--at->op];
	} else if (span_class == TSCOPE_SPAN_RUNTIME) {
		to->calls[--place->call] = from->calls[--at->call];
		to->call_ids[place->call] = from->call_ids[at->call];
	} else if (tsi_class_is_device((uint8_t)span_class)) {
		to->events[--place->event] = from->events[--at->event];
	}
	if (tsi_time_put(&to->starts, place->row, tsi_time_at(&from->starts, at->row), err) !=
	    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_length_put(&to->durations, place->row, tsi_length_at(&from->durations, at->row),
			      err);
}

#endif
