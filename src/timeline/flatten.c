/* SPDX-License-Identifier: MIT */
/*
 * From nested spans to flat segments, for waits and for the phases of a
 * host-only trace. A stack holds the spans that have not ended; time passes
 * from one start or end to the next and belongs to the top of the stack. Spans
 * that cross instead of nesting are no special case: the later one is on top.
 */
#include "timeline/flatten.h"

struct open_span {
	int64_t end_ns;
	uint32_t label;
};

/* Time passes up to until_ns and belongs to the top of the stack. */
static void pass(struct flattener *flat, int64_t until_ns)
{
	int64_t start_ns = flat->at_ns;

	if (until_ns <= start_ns)
		return;
	flat->at_ns = until_ns;
	uint32_t label = flat->open[flat->depth - 1].label;
	if (flat->count > flat->first) {
		struct flat_segment *last = &flat->segments[flat->count - 1];
		if (last->end_ns == start_ns && last->label == label) {
			last->end_ns = until_ns;
			return;
		}
	}
	struct flat_segment *segments = tsi_arena_reserve(
		flat->arena, flat->segments, &flat->capacity, flat->count + 1, sizeof(*segments));
	if (!segments)
		return;
	flat->segments = segments;
	segments[flat->count++] = (struct flat_segment){ start_ns, until_ns, label };
}

/* Takes the spans off the stack that end before or at t. */
static void end_spans(struct flattener *flat, int64_t t_ns)
{
	while (flat->depth && flat->open[flat->depth - 1].end_ns <= t_ns) {
		pass(flat, flat->open[flat->depth - 1].end_ns);
		flat->depth--;
	}
}

void tsi_flatten_add(struct flattener *flat, int64_t start_ns, int64_t end_ns, uint32_t label)
{
	end_spans(flat, start_ns);
	if (flat->depth)
		pass(flat, start_ns);
	flat->at_ns = start_ns;
	struct open_span *open = tsi_arena_reserve(flat->arena, flat->open, &flat->open_capacity,
						   flat->depth + 1, sizeof(*open));
	if (!open)
		return;
	flat->open = open;
	open[flat->depth++] = (struct open_span){ end_ns, label };
}

void tsi_flatten_end(struct flattener *flat)
{
	end_spans(flat, INT64_MAX);
	flat->first = flat->count;
}
