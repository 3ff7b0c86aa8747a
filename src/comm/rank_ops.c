/* SPDX-License-Identifier: MIT */
/*
 * The collectives of a rank: kernels of the device that the log is of, and spans of backends
 * without kernels. Records of the host, which say when a collective was called and not when it
 * ran, are none.
 */
#include "comm/log_filler.h"

#include <math.h>

#include "comm/latch.h"
#include "model/trace/classify.h"

enum {
	/* Events that begin or end this near to the edge of a capture may have been cut off. */
	EDGE_NS = 1000,
};

struct op_collector {
	const struct log_filler *filler;
	struct arena arena;
	struct collective_list list;
	struct sort_pair *order; /* of the runs that are ops, by start */
	size_t count;
	struct group_finder groups;
	int64_t first_launched_ns; /* start of the first work on the device with a launch call */
	struct str dtype;          /* seen last */
	uint32_t log_dtype;
};

static bool is_of_log(const struct log_filler *filler, const struct collective_run *run)
{
	const struct tscope_trace *trace = filler->trace;

	if (run->is_further)
		return false;
	if (run->on_host)
		return tsi_kernelless_prefix(tsi_span_name(trace, run->row)) > 0;
	return trace->tracks[tsi_trace_track_of(trace, run->row)].device ==
	       trace->devices[filler->device].ordinal;
}

static void order_runs(struct op_collector *c)
{
	c->order = tsi_arena_new(&c->arena, c->list.count, sizeof(*c->order));
	for (size_t i = 0; c->order && i < c->list.count; i++) {
		const struct collective_run *run = &c->list.runs[i];
		if (is_of_log(c->filler, run))
			c->order[c->count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(run->first_start_ns), i };
	}
	tsi_latch_sort(&c->arena, c->order, c->count);
}

static void find_first_launched(struct op_collector *c)
{
	const struct tscope_trace *trace = c->filler->trace;
	const struct device *device;

	c->first_launched_ns = INT64_MIN;
	if (trace->device_count == 0)
		return;
	device = &trace->devices[c->filler->device];
	for (uint32_t i = 0; i < device->row_count; i++) {
		if (tsi_device_event(trace, device->rows[i])->call == NO_ROW)
			continue;
		c->first_launched_ns = tsi_start_ns(&trace->spans, device->rows[i]);
		return;
	}
}

/*
 * Is it at the edge of what the profiler saw? A kernel whose launch is missing while those behind
 * it have theirs was running already.
 */
static bool is_cut(const struct op_collector *c, const struct collective_run *run)
{
	const struct tscope_trace *trace = c->filler->trace;

	if (trace->capture_start_ns != NO_NUMBER &&
	    run->first_start_ns <= trace->capture_start_ns + EDGE_NS)
		return true;
	if (trace->capture_end_ns != NO_NUMBER &&
	    run->last_end_ns >= trace->capture_end_ns - EDGE_NS)
		return true;
	return !run->on_host && tsi_device_event(trace, run->row)->call == NO_ROW &&
	       run->first_start_ns < c->first_launched_ns;
}

static int64_t peer_of(const struct collective *record, bool is_send)
{
	int64_t peer = is_send ? record->dst_rank : record->src_rank;

	return record->kind == COLLECTIVE_SEND_RECV && peer >= 0 ? peer : -1;
}

static uint32_t name_dtype(struct op_collector *c, struct str dtype)
{
	struct rank_log *log = c->filler->log;

	if (!tsi_str_equal(dtype, c->dtype)) {
		c->log_dtype = tsi_latch_text(&log->arena, &log->names, dtype);
		c->dtype = dtype;
	}
	return c->log_dtype;
}

static void note_launch(const struct log_filler *filler, struct rank_op *op, uint32_t row)
{
	const struct tscope_trace *trace = filler->trace;
	uint32_t call = tsi_device_event(trace, row)->call;

	if (call != NO_ROW)
		op->launch_ns = tsi_start_ns(&trace->spans, call);
}

static void add_op(struct op_collector *c, const struct collective_run *run)
{
	const struct log_filler *filler = c->filler;
	const struct tscope_trace *trace = filler->trace;
	const struct collective *record =
		run->record == NO_ROW ? NULL : &trace->collectives[run->record];
	struct rank_op op = {
		.start_ns = run->first_start_ns,
		.dur_ns = run->last_end_ns - run->first_start_ns,
		.ready_ns = run->first_start_ns,
		.launch_ns = NO_NUMBER,
		.step = NO_NUMBER,
		.sequence = record ? record->sequence : NO_NUMBER,
		.bytes = run->bytes,
		.bus_bytes = run->bus_bytes,
		.received_bytes = run->received_bytes,
		.peer = record ? peer_of(record, run->is_send) : -1,
		.stream = tsi_trace_track_of(trace, run->row),
		.kind = run->kind,
		.is_send = run->is_send,
		.is_cut = is_cut(c, run),
	};

	op.group = tsi_find_log_group(&c->groups, record);
	op.dtype = name_dtype(c, run->dtype);
	if (!run->on_host)
		note_launch(filler, &op, run->row);
	filler->log->ops[filler->log->op_count++] = op;
}

static void add_all(struct op_collector *c)
{
	const struct log_filler *filler = c->filler;
	struct rank_log *log = filler->log;
	uint32_t *rows = tsi_arena_new(&c->arena, c->count, sizeof(*rows));

	log->ops = tsi_arena_new(&log->arena, c->count, sizeof(*log->ops));
	if (!rows || !log->ops)
		return;
	log->op_capacity = c->count;
	for (size_t i = 0; i < c->count; i++) {
		rows[i] = c->list.runs[c->order[i].value].row;
		add_op(c, &c->list.runs[c->order[i].value]);
	}
	tsi_log_find_host_launches(filler, rows);
	tsi_log_find_ready(filler);
	tsi_add_listed_groups(&c->groups);
}

void tsi_log_add_ops(const struct log_filler *filler)
{
	struct op_collector c = { .filler = filler };

	if (!tsi_collective_list_fill(&c.list, filler->trace))
		c.arena.has_failed = true;
	tsi_group_finder_init(&c.groups, filler);
	find_first_launched(&c);
	order_runs(&c);
	add_all(&c);
	tsi_group_finder_deinit(&c.groups);
	tsi_collective_list_deinit(&c.list);
	tsi_latch_deinit(&filler->log->arena, &c.arena);
}
