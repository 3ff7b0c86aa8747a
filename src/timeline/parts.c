/* SPDX-License-Identifier: MIT */
/*
 * The parts of the lines. Rows make one part where a reader could not tell them
 * apart: kernels and operators by name, calls also by the operator that made
 * them, collectives by kind and process group.
 */
#include "timeline/parts.h"

#include "base/sum.h"

static unsigned comm_line_of(const struct tscope_trace *trace)
{
	return trace->device_count ? (unsigned)TSCOPE_BUDGET_EXPOSED_COMM : (unsigned)HOST_COMM;
}

void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline)
{
	struct arena *scratch = &timeline->scratch;

	*parts = (struct part_collector){
		.timeline = timeline,
		.groups.arena = scratch,
		.comm_line = comm_line_of(timeline->trace),
		.recent = tsi_arena_new(scratch, 2 * timeline->trace->names.count,
					sizeof(*parts->recent)),
	};
	for (unsigned line = 0; line < TSI_PART_LINES; line++)
		parts->keys[line].arena = scratch;
	parts->has_failed = !parts->recent;
}

const struct collective *tsi_part_collective(const struct tscope_trace *trace, unsigned line,
					     uint32_t row)
{
	uint32_t index = NO_ROW;

	if (row == NO_ROW || line != comm_line_of(trace))
		return NULL;
	if (trace->device_count)
		index = tsi_device_event(trace, row)->collective;
	else if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
		index = tsi_cpu_op(trace, row)->collective;
	return index == NO_ROW ? NULL : &trace->collectives[index];
}

/* Kinds are numbered behind the names, which stand for what has no kind. */
static struct pair key_of(struct part_collector *parts, unsigned line, uint32_t row)
{
	const struct tscope_trace *trace = parts->timeline->trace;
	const struct collective *collective = tsi_part_collective(trace, line, row);
	struct pair key = { NO_ROW, NO_ROW };

	if (row == NO_ROW)
		return key;
	key.first = tsi_name_id(&trace->spans, row);
	if (collective) {
		if (collective->kind != COLLECTIVE_UNKNOWN)
			key.first = (uint32_t)trace->names.count + collective->kind;
		key.second = tsi_pair_set_add(&parts->groups, collective->group_name,
					      collective->group_desc);
	} else if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME) {
		uint32_t op = tsi_call(trace, row)->op;
		key.second = op == NO_ROW ? 0 : tsi_name_id(&trace->spans, op) + 1;
	}
	return key;
}

/* The number of the row's part among those of the line; UINT32_MAX without memory. */
static uint32_t find_part(struct part_collector *parts, unsigned line, uint32_t row)
{
	struct line_parts *of_line = &parts->timeline->parts[line];
	struct pair key = key_of(parts, line, row);
	uint32_t number = tsi_pair_set_add(&parts->keys[line], key.first, key.second);

	if (number == UINT32_MAX || number < of_line->count)
		return number;
	struct time_part *part = tsi_arena_push(&parts->timeline->arena, &of_line->items,
						&of_line->count, &of_line->capacity, sizeof(*part));
	if (!part)
		return UINT32_MAX;
	part->row = row;
	return number;
}

void tsi_part_add_other(struct part_collector *parts, unsigned line, uint32_t row,
			int64_t length_ns)
{
	struct tscope_timeline *timeline = parts->timeline;
	const struct spans *spans = &timeline->trace->spans;
	uint32_t number = find_part(parts, line, row);

	parts->has_failed = number == UINT32_MAX;
	if (parts->has_failed)
		return;
	tsi_sum(&timeline->parts[line].items[number].ns, length_ns);
	/* For calls and communication the name alone is not the key. */
	if (row != NO_ROW && tsi_span_class(spans, row) != TSCOPE_SPAN_RUNTIME &&
	    line != parts->comm_line)
		parts->recent[2 * (size_t)tsi_name_id(spans, row) + (line > 0)] =
			(struct recent_part){ line, number + 1 };
}
