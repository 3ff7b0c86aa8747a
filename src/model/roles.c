/* SPDX-License-Identifier: MIT */
/*
 * What rows are by their names, once all rows are there: which kernels
 * communicate, what a runtime call does, where a copy goes. The tables of
 * classify.c are asked once for each distinct name; the answers are remembered
 * by name id.
 */
#include "base/array.h"
#include "model/build.h"

#include <stdlib.h>

/* Answers by name id, plus 1; 0: not asked yet. */
struct answers {
	uint8_t *kernel_class; /* enum tscope_span_class */
	uint8_t *call_kind;    /* enum call_kind */
	uint8_t *copy;         /* enum copy_direction, with PAGEABLE */
};

enum { PAGEABLE = 0x40 };

static uint8_t ask_copy(struct str name)
{
	return (uint8_t)(tsi_classify_copy(name) | (tsi_is_pageable_copy(name) ? PAGEABLE : 0));
}

static void assign_copy(struct tscope_trace *trace, uint32_t row, struct answers *answers)
{
	uint8_t *answer = &answers->copy[tsi_name_id(&trace->spans, row)];
	if (!*answer)
		*answer = ask_copy(tsi_span_name(trace, row)) + 1;
	uint8_t copy = *answer - 1;
	struct device_event *event = tsi_device_event(trace, row);
	event->pageable = (copy & PAGEABLE) != 0;
	if (event->direction == COPY_UNKNOWN)
		event->direction = copy & ~PAGEABLE;
}

static void assign_role(struct tscope_trace *trace, uint32_t row, struct answers *answers)
{
	struct spans *spans = &trace->spans;
	uint8_t *answer;
	switch (tsi_span_class(spans, row)) {
	case TSCOPE_SPAN_RUNTIME:
		answer = &answers->call_kind[tsi_name_id(spans, row)];
		if (!*answer)
			*answer = (uint8_t)tsi_classify_call(tsi_span_name(trace, row)) + 1;
		tsi_call(trace, row)->kind = *answer - 1;
		break;
	case TSCOPE_SPAN_KERNEL:
		answer = &answers->kernel_class[tsi_name_id(spans, row)];
		if (!*answer)
			*answer = tsi_classify_device_name(tsi_span_name(trace, row),
							   TSCOPE_SPAN_KERNEL) +
				  1;
		tsi_set_span_class(spans, row, *answer - 1);
		break;
	}
	if (tsi_span_class(spans, row) == TSCOPE_SPAN_MEMCPY)
		assign_copy(trace, row, answers);
}

enum tscope_status tsi_assign_roles(struct tscope_trace *trace, struct tscope_error *err)
{
	struct answers answers = { 0 };
	size_t name_count = trace->names.count;
	enum tscope_status status = TSCOPE_E_NOMEM;
	if (tsi_array_new(&answers.kernel_class, name_count, 1, err) == TSCOPE_OK &&
	    tsi_array_new(&answers.call_kind, name_count, 1, err) == TSCOPE_OK &&
	    tsi_array_new(&answers.copy, name_count, 1, err) == TSCOPE_OK) {
		for (uint32_t row = 0; row < trace->spans.count; row++)
			assign_role(trace, row, &answers);
		status = TSCOPE_OK;
	}
	free(answers.kernel_class);
	free(answers.call_kind);
	free(answers.copy);
	return status;
}
