/* SPDX-License-Identifier: MIT */
/*
 * Finds the collectives of a trace and the size of each. A kernel's size is in
 * its metadata; of a kernel that runs a coalesced group it is in the records
 * before its launch that launched nothing themselves.
 */
#include "comm/collective_list.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/ckd.h"
#include "base/key_map.h"
#include "base/sum.h"
#include "comm/call_input.h"
#include "comm/collective_kind.h"
#include "model/trace/classify.h"
#include "model/trace/device_rows.h"

enum { NOT_LISTED = INT32_MAX };

struct finder {
	const struct tscope_trace *trace;
	struct collective_list *list;
	/* By row of an op that launched a comm kernel: its first one in the list, or NOT_LISTED. */
	struct key_map launching_ops;
	bool *call_launched; /* by call: a comm kernel */
	bool *call_listed;   /* by call: its coalesced group is in the list */
	bool *is_host_name;  /* by name id: a collective of a backend without kernels */
	bool has_host_names;
	struct comm_name *names; /* by name id */
};

void tsi_collective_list_deinit(struct collective_list *list)
{
	free(list->runs);
	*list = (struct collective_list){ 0 };
}

static void finder_deinit(struct finder *finder)
{
	free(finder->call_launched);
	tsi_key_map_deinit(&finder->launching_ops);
	free(finder->call_listed);
	free(finder->is_host_name);
	free(finder->names);
}

static enum tscope_status finder_init(struct finder *finder, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;

	if (tsi_array_new(&finder->call_launched, trace->call_count, sizeof(bool), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&finder->call_listed, trace->call_count, sizeof(bool), err) !=
		    TSCOPE_OK ||
	    tsi_array_new(&finder->is_host_name, trace->names.count, sizeof(bool), err) !=
		    TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return tsi_array_new(&finder->names, trace->names.count, sizeof(*finder->names), err);
}

/* Looks at everything once, so that afterwards each run can be judged alone. */
static enum tscope_status look_round(struct finder *finder, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_COMM)
			continue;
		const struct device_event *event = tsi_device_event(trace, row);
		if (event->op != NO_ROW && tsi_key_map_put(&finder->launching_ops, event->op,
							   NOT_LISTED, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (event->call != NO_ROW)
			finder->call_launched[tsi_call_index(trace, event->call)] = true;
	}
	for (uint32_t id = 0; id < trace->names.count; id++) {
		struct str name = tsi_intern_text(&trace->names, id);
		finder->is_host_name[id] = tsi_kernelless_prefix(name) > 0;
		finder->has_host_names |= finder->is_host_name[id];
	}
	return TSCOPE_OK;
}

static enum tscope_status append(struct finder *finder, const struct collective_run *run,
				 struct tscope_error *err)
{
	struct collective_list *list = finder->list;

	if (tsi_array_reserve(&list->runs, &list->capacity, list->count + 1, sizeof(*list->runs),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	list->runs[list->count++] = *run;
	return TSCOPE_OK;
}

static struct collective_run run_of_unknown(const struct tscope_trace *trace, uint32_t row)
{
	return (struct collective_run){
		.row = row,
		.record = NO_ROW,
		.annotation = NO_ROW,
		.group_size = NO_NUMBER,
		.bytes = NO_NUMBER,
		.sent_bytes = NO_NUMBER,
		.received_bytes = NO_NUMBER,
		.bus_bytes = NAN,
		.algorithm = "",
		.protocol = "",
		.dur_ns = tsi_dur_ns(&trace->spans, row),
		.first_start_ns = tsi_start_ns(&trace->spans, row),
		.last_end_ns = tsi_span_end(trace, row),
	};
}

/* Adds elements of a record to a sum of bytes, which is not known before the first. */
static void add_elements(int64_t *sum, const struct collective *record, int64_t elements)
{
	int64_t bytes;

	if (elements < 0 || record->element_bytes == 0 ||
	    tsi_ckd_mul(&bytes, elements, (int64_t)record->element_bytes))
		return;
	if (*sum == NO_NUMBER)
		*sum = bytes;
	else
		tsi_sum(sum, bytes);
}

/* A rank that sends gets nothing, and one that receives puts nothing in. */
static void add_directions(struct collective_run *run, const struct collective *record,
			   struct str name)
{
	bool is_pair = record->kind == COLLECTIVE_SEND_RECV;
	bool sends = tsi_str_find(name, TSI_STR("send")) >= 0;
	bool receives = tsi_str_find(name, TSI_STR("recv")) >= 0;

	if (!is_pair || !receives || sends)
		add_elements(&run->sent_bytes, record, record->in_elements);
	if (!is_pair || !sends || receives)
		add_elements(&run->received_bytes, record, record->out_elements);
	run->is_send = is_pair && sends && !receives;
}

/* Takes over what a metadata record says; sizes of several records add up. */
static void add_record(struct collective_run *run, const struct tscope_trace *trace,
		       const struct collective *record)
{
	int64_t bytes = tsi_collective_bytes(record);

	if (run->kind == COLLECTIVE_UNKNOWN)
		run->kind = record->kind;
	run->record = (uint32_t)(record - trace->collectives);
	add_directions(run, record, tsi_intern_text(&trace->names, record->name));
	run->dtype = record->dtype;
	run->group_name = record->group_name;
	run->group_desc = record->group_desc;
	run->group_size = record->group_size;
	if (bytes == NO_NUMBER)
		return;
	double bus_bytes = (double)bytes * tsi_collective_bus_factor(record);
	if (run->bytes == NO_NUMBER) {
		run->bytes = bytes;
		run->bus_bytes = bus_bytes;
	} else if (!tsi_ckd_add(&run->bytes, run->bytes, bytes)) {
		run->bus_bytes += bus_bytes;
	}
}

/* The record that a row is, if it is that of a collective which moves data; else NULL. */
static const struct collective *record_of(const struct tscope_trace *trace, uint32_t row)
{
	if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP)
		return NULL;
	uint32_t index = tsi_cpu_op(trace, row)->collective;
	if (index == NO_ROW || trace->collectives[index].is_wait)
		return NULL;
	return &trace->collectives[index];
}

/*
 * Adds the records of a coalesced group: those before its launch call, on the
 * same thread, back to the launch of the communication kernel before it. So no
 * row is looked at twice.
 */
static void add_coalesced(struct finder *finder, struct collective_run *run, uint32_t call)
{
	const struct tscope_trace *trace = finder->trace;
	uint32_t first = trace->tracks[tsi_trace_track_of(trace, call)].first;

	for (uint32_t row = call; row-- > first;) {
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME &&
		    finder->call_launched[tsi_call_index(trace, row)])
			return;
		const struct collective *record = record_of(trace, row);
		if (record && tsi_key_map_find(&finder->launching_ops, row) == NO_ROW)
			add_record(run, trace, record);
	}
}

/*
 * Where the record that launched a kernel has another kernel in the list that one stands for the
 * collective from then on, and this is a further one.
 */
static enum tscope_status join_first(struct finder *finder, struct collective_run *run, uint32_t op,
				     struct tscope_error *err)
{
	if (op == NO_ROW || !record_of(finder->trace, op))
		return TSCOPE_OK;
	uint32_t listed = tsi_key_map_find(&finder->launching_ops, op);
	if (listed == NOT_LISTED)
		return tsi_key_map_put(&finder->launching_ops, op, (uint32_t)finder->list->count,
				       err);
	struct collective_run *first = &finder->list->runs[listed];
	if (run->first_start_ns < first->first_start_ns)
		first->first_start_ns = run->first_start_ns;
	if (run->last_end_ns > first->last_end_ns)
		first->last_end_ns = run->last_end_ns;
	run->is_further = true;
	return TSCOPE_OK;
}

/* Kernels that send and receive do so for other collectives, too: the annotation knows. */
static void add_annotation(struct collective_run *run, const struct tscope_trace *trace,
			   uint32_t call)
{
	run->annotation = tsi_find_comm_annotation(trace, call);
	if (run->annotation != NO_ROW)
		run->kind = (uint8_t)tsi_kind_of_annotation(trace, run->annotation);
}

static enum tscope_status add_kernel(struct finder *finder, uint32_t row, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;
	const struct device_event *event = tsi_device_event(trace, row);
	const struct collective *collective = tsi_collective_of(trace, row);
	struct collective_run run = run_of_unknown(trace, row);
	const struct comm_name *name =
		tsi_comm_name(finder->names, trace, tsi_name_id(&trace->spans, row));

	if (join_first(finder, &run, event->op, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	run.algorithm = name->algorithm;
	run.protocol = name->protocol;
	if (tsi_collective_has_metadata(collective)) {
		add_record(&run, trace, collective);
	} else if (event->call != NO_ROW) {
		bool *listed = &finder->call_listed[tsi_call_index(trace, event->call)];
		if (!*listed)
			add_coalesced(finder, &run, event->call);
		*listed = true;
		if (run.record == NO_ROW)
			add_annotation(&run, trace, event->call);
	}
	if (run.kind == COLLECTIVE_UNKNOWN)
		run.kind = collective->kind;
	return append(finder, &run, err);
}

static enum tscope_status add_kernels(struct finder *finder, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM &&
		    add_kernel(finder, row, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* The host spans of backends without kernels. */
static enum tscope_status add_host_spans(struct finder *finder, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;
	uint32_t end_row = finder->has_host_names ? tsi_first_device_row(trace) : 0;

	for (uint32_t row = 0; row < end_row; row++) {
		uint8_t span_class = tsi_span_class(&trace->spans, row);
		if (!finder->is_host_name[tsi_name_id(&trace->spans, row)] ||
		    (span_class != TSCOPE_SPAN_CPU_OP && span_class != TSCOPE_SPAN_ANNOTATION))
			continue;
		struct collective_run run = run_of_unknown(trace, row);
		run.on_host = true;
		run.annotation = row;
		run.kind = (uint8_t)tsi_kind_of_annotation(trace, row);
		if (append(finder, &run, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/* The metadata records themselves, where there is nothing better. */
static enum tscope_status add_records(struct finder *finder, struct tscope_error *err)
{
	const struct tscope_trace *trace = finder->trace;
	uint32_t end_row = trace->collective_count ? tsi_first_device_row(trace) : 0;

	for (uint32_t row = 0; row < end_row; row++) {
		const struct collective *record = record_of(trace, row);
		if (!record)
			continue;
		struct collective_run run = run_of_unknown(trace, row);
		run.on_host = true;
		add_record(&run, trace, record);
		if (append(finder, &run, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_collective_list_fill(struct collective_list *list,
					    const struct tscope_trace *trace,
					    struct tscope_error *err)
{
	struct finder finder = { .trace = trace, .list = list };
	enum tscope_status status = finder_init(&finder, err);

	if (status == TSCOPE_OK)
		status = look_round(&finder, err);
	if (status == TSCOPE_OK)
		status = add_kernels(&finder, err);
	if (status == TSCOPE_OK)
		status = add_host_spans(&finder, err);
	if (status == TSCOPE_OK && list->count == 0)
		status = add_records(&finder, err);
	finder_deinit(&finder);
	return status;
}
