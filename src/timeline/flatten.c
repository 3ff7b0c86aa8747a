/* SPDX-License-Identifier: MIT */
/*
 * From nested spans to flat segments, for waits and for the phases of a
 * host-only trace. A stack holds the spans that have not ended; time passes
 * from one start or end to the next and belongs to the top of the stack. Spans
 * that cross instead of nesting are no special case: the later one is on top.
 */
#include "timeline/flatten.h"

#include <stdlib.h>

#include "base/array.h"

struct open_span {
	int64_t end_ns;
	uint32_t label;
};

/* Time passes up to until_ns and belongs to the top of the stack. */
static enum tscope_status pass(struct flattener *flat, int64_t until_ns, struct tscope_error *err)
{
	int64_t start_ns = flat->at_ns;

	if (until_ns <= start_ns)
		return TSCOPE_OK;
	flat->at_ns = until_ns;
	uint32_t label = flat->open[flat->depth - 1].label;
	if (flat->count > flat->first) {
		struct flat_segment *last = &flat->segments[flat->count - 1];
		if (last->end_ns == start_ns && last->label == label) {
			last->end_ns = until_ns;
			return TSCOPE_OK;
		}
	}
	if (tsi_array_reserve(&flat->segments, &flat->capacity, flat->count + 1,
			      sizeof(*flat->segments), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	flat->segments[flat->count++] = (struct flat_segment){ start_ns, until_ns, label };
	return TSCOPE_OK;
}

/* Takes the spans off the stack that end before or at t. */
static enum tscope_status end_spans(struct flattener *flat, int64_t t_ns, struct tscope_error *err)
{
	while (flat->depth && flat->open[flat->depth - 1].end_ns <= t_ns) {
		if (pass(flat, flat->open[flat->depth - 1].end_ns, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		flat->depth--;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_flatten_add(struct flattener *flat, int64_t start_ns, int64_t end_ns,
				   uint32_t label, struct tscope_error *err)
{
	if (end_spans(flat, start_ns, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (flat->depth && pass(flat, start_ns, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	flat->at_ns = start_ns;
	if (tsi_array_reserve(&flat->open, &flat->open_capacity, flat->depth + 1,
			      sizeof(*flat->open), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	flat->open[flat->depth++] = (struct open_span){ end_ns, label };
	return TSCOPE_OK;
}

enum tscope_status tsi_flatten_end(struct flattener *flat, struct tscope_error *err)
{
	if (end_spans(flat, INT64_MAX, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	flat->first = flat->count;
	return TSCOPE_OK;
}

void tsi_flatten_deinit(struct flattener *flat)
{
	free(flat->segments);
	free(flat->open);
	*flat = (struct flattener){ 0 };
}
