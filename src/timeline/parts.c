/* SPDX-License-Identifier: MIT */
/*
 * The parts of the lines. Rows make one part where a reader could not distinguish them
 * apart: kernels and operators by name, calls also by the operator that made
 * them, collectives by kind and process group.
 */
#include "timeline/parts.h"

#include "base/sum.h"

static unsigned comm_slot_of(const struct tscope_trace *trace)
{
	return trace->device_count ? (unsigned)TSCOPE_BUDGET_EXPOSED_COMM : (unsigned)HOST_COMM;
}

void tsi_parts_begin(struct part_collector *parts, struct tscope_timeline *timeline)
{
	struct arena *scratch = &timeline->scratch;

	*parts = (struct part_collector){
		.timeline = timeline,
		.groups.arena = scratch,
		.comm_slot = comm_slot_of(timeline->trace),
		.recent = tsi_arena_new(scratch, RECENT_PARTS * timeline->trace->names.count,
					sizeof(*parts->recent)),
	};
	for (unsigned slot = 0; slot < TSI_PART_SLOTS; slot++)
		parts->keys[slot].arena = scratch;
	parts->has_failed = !parts->recent;
}

const struct collective *tsi_part_collective(const struct tscope_trace *trace, unsigned slot,
					     uint32_t row)
{
	uint32_t index = NO_ROW;

	if (row == NO_ROW || slot != comm_slot_of(trace))
		return NULL;
	if (trace->device_count)
		index = tsi_device_event(trace, row)->collective;
	else if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
		index = tsi_cpu_op(trace, row)->collective;
	return index == NO_ROW ? NULL : &trace->collectives[index];
}

/* Kinds are numbered behind the names, which stand for what has no kind. */
static struct pair key_of(struct part_collector *parts, unsigned slot, uint32_t row)
{
	const struct tscope_trace *trace = parts->timeline->trace;
	const struct collective *collective = tsi_part_collective(trace, slot, row);
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
static uint32_t find_part(struct part_collector *parts, unsigned slot, uint32_t row)
{
	struct line_parts *slot_parts = &parts->timeline->parts[slot];
	struct pair key = key_of(parts, slot, row);
	uint32_t number = tsi_pair_set_add(&parts->keys[slot], key.first, key.second);

	if (number == UINT32_MAX || number < slot_parts->count)
		return number;
	struct time_part *part =
		tsi_arena_push(&parts->timeline->arena, &slot_parts->items, &slot_parts->count,
			       &slot_parts->capacity, sizeof(*part));
	if (!part)
		return UINT32_MAX;
	part->row = row;
	return number;
}

static void add_to(struct tscope_timeline *timeline, unsigned slot, uint32_t number,
		   int64_t length_ns)
{
	struct time_part *part = &timeline->parts[slot].items[number];

	tsi_sum(&part->ns, length_ns);
	part->count++;
}

void tsi_part_add_other(struct part_collector *parts, unsigned slot, uint32_t row,
			int64_t length_ns)
{
	struct tscope_timeline *timeline = parts->timeline;
	const struct spans *spans = &timeline->trace->spans;
	struct recent_part found = { .slot = slot };
	struct recent_part *recent = NULL;

	/* The name alone does not identify communication; calls have their operator's, too. */
	if (row != NO_ROW && slot != parts->comm_slot) {
		uint32_t name = tsi_name_id(spans, row);
		if (tsi_span_class(spans, row) == TSCOPE_SPAN_RUNTIME) {
			uint32_t op = tsi_call(timeline->trace, row)->op;
			found.call = name + 1;
			name = op == NO_ROW ? name : tsi_name_id(spans, op);
		}
		recent = tsi_recent_part(parts, name, slot);
		if (recent->number_and_1 && recent->slot == slot && recent->call == found.call) {
			add_to(timeline, slot, recent->number_and_1 - 1, length_ns);
			return;
		}
	}
	uint32_t number = find_part(parts, slot, row);
	parts->has_failed = number == UINT32_MAX;
	if (parts->has_failed)
		return;
	add_to(timeline, slot, number, length_ns);
	found.number_and_1 = number + 1;
	if (recent)
		*recent = found;
}
