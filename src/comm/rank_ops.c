/* SPDX-License-Identifier: MIT */
/*
 * The collectives of a rank: kernels of the device that the log is of, and spans of backends
 * without kernels. Records of the host, which say when a collective was called and not when it
 * ran, are none.
 */
#include "comm/log_filler.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/sort.h"
#include "model/trace/classify.h"

enum {
	/* What begins or ends so near to the edge of a capture may have been cut off by it. */
	EDGE_NS = 1000,
};

struct op_collector {
	const struct log_filler *filler;
	struct collective_list list;
	struct sort_pair *order; /* of the runs that are ops, by start */
	size_t count;
	struct group_finder groups;
	int64_t first_launched_ns; /* start of the first work on the device with a launch call */
	uint32_t dtype, log_dtype; /* seen last, and its id in the log */
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

static enum tscope_status order_runs(struct op_collector *c)
{
	struct tscope_error *err = c->filler->err;
	struct sort_pair *scratch;

	if (tsi_array_new(&c->order, c->list.count, sizeof(*c->order), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, c->list.count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < c->list.count; i++) {
		const struct collective_run *run = &c->list.runs[i];
		if (is_of_log(c->filler, run))
			c->order[c->count++] =
				(struct sort_pair){ tsi_sort_key_of_int64(run->first_start_ns), i };
	}
	tsi_sort_pairs(c->order, scratch, c->count);
	free(scratch);
	return TSCOPE_OK;
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

static enum tscope_status name_dtype(struct op_collector *c, uint32_t dtype, uint32_t *id)
{
	if (dtype != c->dtype) {
		enum tscope_status status = tsi_log_name(c->filler, dtype, &c->log_dtype);
		if (status != TSCOPE_OK)
			return status;
		c->dtype = dtype;
	}
	*id = c->log_dtype;
	return TSCOPE_OK;
}

static void note_launch(const struct log_filler *filler, struct rank_op *op, uint32_t row)
{
	const struct tscope_trace *trace = filler->trace;
	uint32_t call = tsi_device_event(trace, row)->call;

	if (call != NO_ROW)
		op->launch_ns = tsi_start_ns(&trace->spans, call);
}

static enum tscope_status add_op(struct op_collector *c, const struct collective_run *run)
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
		.sent_bytes = run->sent_bytes,
		.received_bytes = run->received_bytes,
		.peer = record ? peer_of(record, run->is_send) : -1,
		.stream = tsi_trace_track_of(trace, run->row),
		.kind = run->kind,
		.is_send = run->is_send,
		.is_cut = is_cut(c, run),
	};
	enum tscope_status status = tsi_find_log_group(&c->groups, record, &op.group);

	if (status == TSCOPE_OK)
		status = name_dtype(c, run->dtype, &op.dtype);
	if (status == TSCOPE_OK && run->annotation != NO_ROW)
		status = tsi_log_describe_op(filler, &op, run->annotation);
	if (!run->on_host)
		note_launch(filler, &op, run->row);
	filler->log->ops[filler->log->op_count++] = op;
	return status;
}

static enum tscope_status add_all(struct op_collector *c)
{
	const struct log_filler *filler = c->filler;
	struct rank_log *log = filler->log;
	uint32_t *rows;
	enum tscope_status status = TSCOPE_OK;

	if (tsi_array_reserve(&log->ops, &log->op_capacity, c->count, sizeof(*log->ops),
			      filler->err) != TSCOPE_OK ||
	    tsi_array_new(&rows, c->count, sizeof(*rows), filler->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; status == TSCOPE_OK && i < c->count; i++) {
		rows[i] = c->list.runs[c->order[i].value].row;
		status = add_op(c, &c->list.runs[c->order[i].value]);
	}
	if (status == TSCOPE_OK)
		status = tsi_log_find_host_launches(filler, rows);
	free(rows);
	if (status == TSCOPE_OK)
		status = tsi_log_find_ready(filler);
	return status;
}

enum tscope_status tsi_log_add_ops(const struct log_filler *filler)
{
	struct op_collector c = { .filler = filler };
	enum tscope_status status = tsi_collective_list_fill(&c.list, filler->trace, filler->err);

	tsi_group_finder_init(&c.groups, filler);
	find_first_launched(&c);
	if (status == TSCOPE_OK)
		status = order_runs(&c);
	if (status == TSCOPE_OK)
		status = add_all(&c);
	if (status == TSCOPE_OK)
		status = tsi_add_listed_groups(&c.groups);
	tsi_group_finder_deinit(&c.groups);
	tsi_collective_list_deinit(&c.list);
	free(c.order);
	return status;
}
