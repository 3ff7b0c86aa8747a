/* SPDX-License-Identifier: MIT */
/*
 * How spans of a thread enclose each other: one pass over the rows with a
 * stack of what is open. Rows are ordered by start, the longer first, so a
 * parent always comes before its children.
 */
#include "analyze/shared/nest.h"

#include <stdlib.h>

#include "base/array.h"

enum tscope_status tsi_nest_init(struct nest *nest, const struct tscope_trace *trace,
				 uint32_t classes, struct tscope_error *err)
{
	*nest = (struct nest){ .trace = trace, .classes = classes };
	return tsi_array_new(&nest->open_of_name, trace->names.count, sizeof(*nest->open_of_name),
			     err);
}

void tsi_nest_deinit(struct nest *nest)
{
	free(nest->stack);
	free(nest->open_of_name);
	*nest = (struct nest){ 0 };
}

static enum tscope_status push(struct nest *nest, uint32_t row, struct tscope_error *err)
{
	if (tsi_array_reserve(&nest->stack, &nest->capacity, nest->depth + 1, sizeof(*nest->stack),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;

	int64_t start_ns = tsi_start_ns(&nest->trace->spans, row);
	int64_t end_ns = tsi_span_end(nest->trace, row);
	if (nest->depth) {
		struct nest_frame *parent = &nest->stack[nest->depth - 1];
		if (end_ns > parent->end_ns)
			end_ns = parent->end_ns;
		parent->children_ns += end_ns - start_ns;
	}
	nest->open_of_name[tsi_name_id(&nest->trace->spans, row)]++;
	nest->stack[nest->depth++] = (struct nest_frame){ .row = row, .end_ns = end_ns };
	return TSCOPE_OK;
}

static void pop(struct nest *nest, struct nested_span *span)
{
	const struct nest_frame *frame = &nest->stack[--nest->depth];
	uint32_t name = tsi_name_id(&nest->trace->spans, frame->row);

	*span = (struct nested_span){
		.row = frame->row,
		.self_ns = tsi_dur_ns(&nest->trace->spans, frame->row) - frame->children_ns,
		.carried = frame->carried,
		.is_outermost = --nest->open_of_name[name] == 0,
		.parent = nest->depth ? &nest->stack[nest->depth - 1] : NULL,
	};
}

/* Moves to the next row of the classes on the current thread; false: no more. */
static bool find_row(struct nest *nest)
{
	const struct spans *spans = &nest->trace->spans;

	while (nest->row < nest->end_row &&
	       !(nest->classes >> tsi_span_class(spans, nest->row) & 1))
		nest->row++;
	return nest->row < nest->end_row;
}

enum tscope_status tsi_nest_next(struct nest *nest, struct nested_span *span,
				 struct tscope_error *err)
{
	const struct tscope_trace *trace = nest->trace;

	for (;;) {
		bool has_row = find_row(nest);
		if (nest->depth && (!has_row || nest->stack[nest->depth - 1].end_ns <=
							tsi_start_ns(&trace->spans, nest->row))) {
			pop(nest, span);
			return TSCOPE_OK;
		}
		if (has_row) {
			if (push(nest, nest->row++, err) != TSCOPE_OK)
				return TSCOPE_E_NOMEM;
			continue;
		}
		if (nest->track == trace->host_track_count)
			return TSCOPE_END;
		nest->row = trace->tracks[nest->track].first;
		nest->end_row = nest->row + trace->tracks[nest->track].count;
		nest->track++;
	}
}
