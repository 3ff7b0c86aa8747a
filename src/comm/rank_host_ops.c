/* SPDX-License-Identifier: MIT */
/*
 * Collectives of backends without kernels: their threads write a span for each ("gloo:all_reduce")
 * with what it was called with, and the thread that called them an operator ("c10d::allreduce_").
 * Nothing says which is of which, but that calls are taken in turn: the n-th span of a kind and
 * size is that of the n-th call.
 *
 * gloo takes the work of a group with two threads: of two ops on different streams, which may
 * overlap, the one that started first was called first.
 */
#include "comm/log_filler.h"

#include <stdlib.h>

#include "comm/call_input.h"
#include "comm/latch.h"
#include "model/trace/classify.h"
#include "model/trace/device_rows.h"

/* Is the first argument of its call what goes in, of one size with what comes out? */
static bool has_input_first(uint8_t kind)
{
	return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_BROADCAST ||
	       kind == COLLECTIVE_REDUCE || kind == COLLECTIVE_SEND_RECV;
}

/* ---- which call launched which ---- */

/* A call or an op: of equal kind and size they belong together in the order of time. */
struct launch_side {
	int64_t start_ns;
	int64_t elements; /* or NO_NUMBER: of a kind whose calls do not have it first */
	size_t op;        /* of an op: its index */
	uint8_t kind;
};

struct launch_list {
	struct arena arena;
	struct launch_side *items;
	size_t count, capacity;
};

static int compare_sides(const void *left, const void *right)
{
	const struct launch_side *a = left, *b = right;

	TSI_ASCENDING(a->kind, b->kind);
	TSI_ASCENDING(a->elements, b->elements);
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static void add_side(struct launch_list *list, const struct log_filler *filler, uint32_t row,
		     struct launch_side side)
{
	struct launch_side *added = tsi_arena_push(&list->arena, &list->items, &list->count,
						   &list->capacity, sizeof(*added));

	side.start_ns = tsi_start_ns(&filler->trace->spans, row);
	side.elements = has_input_first(side.kind) ? tsi_call_input(filler->trace, row).elements
						   : NO_NUMBER;
	if (added)
		*added = side;
}

static void sort_sides(struct launch_list *list)
{
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), compare_sides);
}

/* The operators that call collectives, found by name only once for each name. */
static void list_calls(struct launch_list *calls, const struct log_filler *filler)
{
	const struct tscope_trace *trace = filler->trace;
	uint32_t end_row = tsi_first_device_row(trace);
	uint8_t *kinds = tsi_arena_new(&calls->arena, trace->names.count, 1);

	if (!kinds)
		return;
	for (uint32_t id = 0; id < trace->names.count; id++) {
		struct str name = tsi_intern_text(&trace->names, id);
		if (tsi_str_starts(name, "c10d::"))
			kinds[id] = (uint8_t)tsi_classify_collective(tsi_str_tail(name, 6));
	}
	for (uint32_t row = 0; row < end_row; row++) {
		struct launch_side side = { .kind = kinds[tsi_name_id(&trace->spans, row)] };
		if (side.kind != COLLECTIVE_UNKNOWN &&
		    tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP)
			add_side(calls, filler, row, side);
	}
}

/* An op that began before the call whose turn it is was called before the capture. */
static void join_launches(struct rank_log *log, const struct launch_list *calls,
			  const struct launch_list *ops)
{
	size_t at = 0;

	for (size_t i = 0; i < ops->count; i++) {
		const struct launch_side *op = &ops->items[i];

		for (; at < calls->count; at++) {
			const struct launch_side *call = &calls->items[at];
			if (call->kind > op->kind ||
			    (call->kind == op->kind && call->elements >= op->elements))
				break;
		}
		if (at == calls->count)
			return;
		const struct launch_side *call = &calls->items[at];
		if (call->kind != op->kind || call->elements != op->elements ||
		    call->start_ns > op->start_ns)
			continue;
		log->ops[op->op].launch_ns = call->start_ns;
		at++;
	}
}

void tsi_log_find_host_launches(const struct log_filler *filler, const uint32_t *rows)
{
	const struct tscope_trace *trace = filler->trace;
	struct launch_list calls = { 0 }, ops = { 0 };

	for (size_t i = 0; i < filler->log->op_count; i++)
		if (!tsi_class_is_device(tsi_span_class(&trace->spans, rows[i])))
			add_side(&ops, filler, rows[i],
				 (struct launch_side){ .op = i, .kind = filler->log->ops[i].kind });
	if (ops.count > 0)
		list_calls(&calls, filler);
	sort_sides(&calls);
	sort_sides(&ops);
	join_launches(filler->log, &calls, &ops);
	tsi_latch_deinit(&filler->log->arena, &calls.arena);
	tsi_latch_deinit(&filler->log->arena, &ops.arena);
}
