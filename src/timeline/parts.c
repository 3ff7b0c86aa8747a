/* SPDX-License-Identifier: MIT */
/*
 * The parts of the lines. Rows make one part where a reader could not tell them
 * apart: kernels and operators by name, calls also by the operator that made
 * them, collectives by kind and process group.
 */
#include "timeline/parts.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"

static unsigned comm_line_of(const struct tscope_trace *trace)
{
	return trace->device_count ? (unsigned)TSCOPE_BUDGET_EXPOSED_COMM : (unsigned)HOST_COMM;
}

void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline,
		     struct tscope_error *err)
{
	*parts = (struct part_collector){
		.timeline = timeline,
		.comm_line = comm_line_of(timeline->trace),
		.err = err,
	};
	for (unsigned line = 0; line < TSI_PART_LINES; line++)
		parts->keys[line].arena = &parts->memory;
	parts->groups.arena = &parts->memory;
	parts->status = tsi_array_new(&parts->recent, 2 * timeline->trace->names.count,
				      sizeof(*parts->recent), err);
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
static enum tscope_status key_of_collective(struct part_collector *parts,
					    const struct collective *collective, struct pair *key)
{
	if (collective->kind != COLLECTIVE_UNKNOWN)
		key->first = (uint32_t)parts->timeline->trace->names.count + collective->kind;
	return tsi_pair_set_find(&parts->groups, collective->group_name, collective->group_desc,
				 &key->second, parts->err);
}

static enum tscope_status key_of(struct part_collector *parts, unsigned line, uint32_t row,
				 struct pair *key)
{
	const struct tscope_trace *trace = parts->timeline->trace;
	const struct collective *collective = tsi_part_collective(trace, line, row);

	*key = (struct pair){ NO_ROW, NO_ROW };
	if (row == NO_ROW)
		return TSCOPE_OK;
	key->first = tsi_name_id(&trace->spans, row);
	if (collective)
		return key_of_collective(parts, collective, key);
	if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME) {
		uint32_t op = tsi_call(trace, row)->op;
		key->second = op == NO_ROW ? 0 : tsi_name_id(&trace->spans, op) + 1;
	}
	return TSCOPE_OK;
}

static enum tscope_status add_part(struct part_collector *parts, struct line_parts *of_line,
				   uint32_t row)
{
	if (tsi_array_reserve(&of_line->items, &of_line->capacity, of_line->count + 1,
			      sizeof(*of_line->items), parts->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	of_line->items[of_line->count++] = (struct time_part){ .row = row };
	return TSCOPE_OK;
}

static enum tscope_status find_part(struct part_collector *parts, unsigned line, uint32_t row,
				    uint32_t *number)
{
	struct line_parts *of_line = &parts->timeline->parts[line];
	struct pair key;

	if (key_of(parts, line, row, &key) != TSCOPE_OK ||
	    tsi_pair_set_find(&parts->keys[line], key.first, key.second, number, parts->err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return *number == of_line->count ? add_part(parts, of_line, row) : TSCOPE_OK;
}

void tsi_part_add_other(struct part_collector *parts, unsigned line, uint32_t row,
			int64_t length_ns)
{
	struct tscope_timeline *timeline = parts->timeline;
	const struct spans *spans = &timeline->trace->spans;
	uint32_t number;

	parts->status = find_part(parts, line, row, &number);
	if (parts->status != TSCOPE_OK)
		return;
	tsi_sum(&timeline->parts[line].items[number].ns, length_ns);
	/* Of calls and of communication the name is not the whole key. */
	if (row != NO_ROW && tsi_span_class(spans, row) != TSCOPE_SPAN_RUNTIME &&
	    line != parts->comm_line)
		parts->recent[2 * (size_t)tsi_name_id(spans, row) + (line > 0)] =
			(struct recent_part){ line, number + 1 };
}

enum tscope_status tsi_parts_end(struct part_collector *parts)
{
	tsi_arena_deinit(&parts->memory);
	free(parts->recent);
	return parts->status;
}
