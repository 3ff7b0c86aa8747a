/* SPDX-License-Identifier: MIT */
/*
 * How spans of a thread enclose each other: one pass over the rows with a
 * stack of what is open. Rows are ordered by start, the longer first, so a
 * parent always comes before its children.
 */
#include "analyze/shared/nest.h"

#include "base/sum.h"

struct nest_frame {
	uint32_t row;
	int64_t end_ns;      /* its own, or that of an enclosing span, if earlier */
	int64_t children_ns; /* what spans directly in it take of its time */
};

struct nest {
	const struct tscope_trace *trace;
	struct arena *arena;
	struct nested_times *times; /* by name id */
	uint32_t *open_of_name;     /* how many on the stack have this name */
	struct nest_frame *stack;   /* what is open */
	size_t depth, capacity;
};

static void push(struct nest *nest, uint32_t row)
{
	int64_t start_ns = tsi_start_ns(&nest->trace->spans, row);
	int64_t end_ns = tsi_span_end(nest->trace, row);
	struct nest_frame *frame = tsi_arena_push(nest->arena, &nest->stack, &nest->depth,
						  &nest->capacity, sizeof(*frame));
	if (!frame)
		return;
	if (nest->depth > 1) {
		struct nest_frame *parent = &nest->stack[nest->depth - 2];
		if (end_ns > parent->end_ns)
			end_ns = parent->end_ns;
		parent->children_ns += end_ns - start_ns;
	}
	nest->open_of_name[tsi_name_id(&nest->trace->spans, row)]++;
	frame->row = row;
	frame->end_ns = end_ns;
}

/* Ends what has ended by then. */
static void pop_until(struct nest *nest, int64_t t_ns)
{
	while (nest->depth && nest->stack[nest->depth - 1].end_ns <= t_ns) {
		const struct nest_frame *frame = &nest->stack[--nest->depth];
		uint32_t name = tsi_name_id(&nest->trace->spans, frame->row);
		int64_t dur_ns = tsi_dur_ns(&nest->trace->spans, frame->row);

		nest->times[name].count++;
		tsi_sum(&nest->times[name].dur_ns, dur_ns);
		tsi_sum(&nest->times[name].self_ns, dur_ns - frame->children_ns);
		if (--nest->open_of_name[name] == 0)
			tsi_sum(&nest->times[name].total_ns, dur_ns);
	}
}

struct nested_times *tsi_nested_times(const struct tscope_trace *trace, uint32_t classes,
				      struct arena *arena)
{
	size_t name_count = trace->names.count;
	struct nest nest = {
		.trace = trace,
		.arena = arena,
		.times = tsi_arena_new(arena, name_count, sizeof(*nest.times)),
		.open_of_name = tsi_arena_new(arena, name_count, sizeof(*nest.open_of_name)),
	};

	for (uint32_t i = 0; !arena->has_failed && i < trace->host_track_count; i++) {
		const struct track *track = &trace->tracks[i];
		for (uint32_t row = track->first; row < track->first + track->count; row++) {
			if (!(classes >> tsi_span_class(&trace->spans, row) & 1))
				continue;
			pop_until(&nest, tsi_start_ns(&trace->spans, row));
			push(&nest, row);
		}
		pop_until(&nest, INT64_MAX);
	}
	return arena->has_failed ? NULL : nest.times;
}
