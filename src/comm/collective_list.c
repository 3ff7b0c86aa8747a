/* SPDX-License-Identifier: MIT */
/*
 * Finds the collectives of a trace and the size of each. A kernel's size is in
 * its metadata; of a kernel that runs a coalesced group it is in the records
 * before its launch that launched nothing themselves.
 */
#include "comm/collective_list.h"

#include <math.h>

#include "base/ckd.h"
#include "base/key_map.h"
#include "base/sum.h"
#include "comm/call_input.h"
#include "comm/collective_kind.h"
#include "comm/latch.h"
#include "model/trace/classify.h"
#include "model/trace/device_rows.h"

enum { NOT_LISTED = INT32_MAX };

struct finder {
	const struct tscope_trace *trace;
	struct collective_list *list;
	struct arena arena;
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
	tsi_arena_deinit(&list->arena);
	*list = (struct collective_list){ 0 };
}

static void note_launching_op(struct finder *finder, uint32_t op, uint32_t listed)
{
	if (tsi_key_map_put(&finder->launching_ops, op, listed, NULL) != TSCOPE_OK)
		finder->arena.has_failed = true;
}

/* Looks at everything once, so that afterwards each run can be judged alone. */
static void look_round(struct finder *finder)
{
	const struct tscope_trace *trace = finder->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_COMM)
			continue;
		const struct device_event *event = tsi_device_event(trace, row);
		if (event->op != NO_ROW)
			note_launching_op(finder, event->op, NOT_LISTED);
		if (event->call != NO_ROW)
			finder->call_launched[tsi_call_index(trace, event->call)] = true;
	}
	for (uint32_t id = 0; id < trace->names.count; id++) {
		struct str name = tsi_intern_text(&trace->names, id);
		finder->is_host_name[id] = tsi_kernelless_prefix(name) > 0;
		finder->has_host_names |= finder->is_host_name[id];
	}
}

static void append(struct finder *finder, const struct collective_run *run)
{
	struct collective_list *list = finder->list;
	struct collective_run *added = tsi_arena_push(&list->arena, &list->runs, &list->count,
						      &list->capacity, sizeof(*added));

	if (added)
		*added = *run;
}

static struct collective_run run_of_unknown(const struct tscope_trace *trace, uint32_t row)
{
	return (struct collective_run){
		.row = row,
		.record = NO_ROW,
		.annotation = NO_ROW,
		.group_size = NO_NUMBER,
		.bytes = NO_NUMBER,
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

	if (!is_pair || !sends || receives)
		add_elements(&run->received_bytes, record, record->out_elements);
	run->is_send = is_pair && sends && !receives;
}

/* Takes over sizes; those of several records add up. */
static void add_sizes(struct collective_run *run, const struct collective *record, struct str name)
{
	int64_t bytes = tsi_collective_bytes(record);

	add_directions(run, record, name);
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

/* Takes over what a metadata record says. */
static void add_record(struct collective_run *run, const struct tscope_trace *trace,
		       const struct collective *record)
{
	if (run->kind == COLLECTIVE_UNKNOWN)
		run->kind = record->kind;
	run->record = (uint32_t)(record - trace->collectives);
	run->dtype = tsi_intern_text(&trace->names, record->dtype);
	run->group_name = record->group_name;
	run->group_desc = record->group_desc;
	run->group_size = record->group_size;
	add_sizes(run, record, tsi_intern_text(&trace->names, record->name));
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
static void join_first(struct finder *finder, struct collective_run *run, uint32_t op)
{
	if (op == NO_ROW || !record_of(finder->trace, op))
		return;
	uint32_t listed = tsi_key_map_find(&finder->launching_ops, op);
	if (listed == NOT_LISTED) {
		note_launching_op(finder, op, (uint32_t)finder->list->count);
		return;
	}
	struct collective_run *first = &finder->list->runs[listed];
	if (run->first_start_ns < first->first_start_ns)
		first->first_start_ns = run->first_start_ns;
	if (run->last_end_ns > first->last_end_ns)
		first->last_end_ns = run->last_end_ns;
	run->is_further = true;
}

/* Without a record the spans on the host say what they were called with. */
static void add_call(struct collective_run *run, const struct tscope_trace *trace, uint32_t call)
{
	struct collective collective = tsi_no_collective();
	struct str name = { 0 };

	if (run->annotation != NO_ROW)
		name = tsi_span_name(trace, run->annotation);
	collective.kind = run->kind;
	run->dtype = tsi_read_comm_call(trace, call, run->annotation, &collective);
	add_sizes(run, &collective, name);
	/* Nothing says what of it stays on the rank: the group's size is not known. */
	if (run->kind == COLLECTIVE_ALL_TO_ALL)
		run->bus_bytes = NAN;
}

/* The span that a kernel's backend wrote on the host, or NO_ROW. */
static uint32_t find_annotation(const struct tscope_trace *trace, const struct device_event *event)
{
	if (event->call != NO_ROW)
		return tsi_find_comm_annotation(trace, event->call);
	if (event->op != NO_ROW && tsi_backend_prefix(tsi_span_name(trace, event->op)) > 0)
		return event->op;
	return NO_ROW;
}

/* Kernels that send and receive do so for other collectives, too: the annotation knows. */
static void add_unrecorded(struct collective_run *run, const struct tscope_trace *trace,
			   const struct device_event *event)
{
	run->annotation = find_annotation(trace, event);
	if (run->annotation != NO_ROW)
		run->kind = (uint8_t)tsi_kind_of_annotation(trace, run->annotation);
	if (run->kind == COLLECTIVE_UNKNOWN)
		run->kind = trace->collectives[event->collective].kind;
	add_call(run, trace, event->call);
}

static void add_kernel(struct finder *finder, uint32_t row)
{
	const struct tscope_trace *trace = finder->trace;
	const struct device_event *event = tsi_device_event(trace, row);
	const struct collective *collective = tsi_collective_of(trace, row);
	struct collective_run run = run_of_unknown(trace, row);
	const struct comm_name *name =
		tsi_comm_name(finder->names, trace, tsi_name_id(&trace->spans, row));

	join_first(finder, &run, event->op);
	run.algorithm = name->algorithm;
	run.protocol = name->protocol;
	if (tsi_collective_has_metadata(collective)) {
		add_record(&run, trace, collective);
	} else if (event->call != NO_ROW) {
		bool *listed = &finder->call_listed[tsi_call_index(trace, event->call)];
		if (!*listed)
			add_coalesced(finder, &run, event->call);
		*listed = true;
	}
	if (run.record == NO_ROW)
		add_unrecorded(&run, trace, event);
	if (run.kind == COLLECTIVE_UNKNOWN)
		run.kind = collective->kind;
	append(finder, &run);
}

static void add_kernels(struct finder *finder)
{
	const struct tscope_trace *trace = finder->trace;

	for (uint32_t row = tsi_first_device_row(trace);
	     row < trace->spans.count && !finder->list->arena.has_failed; row++)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM)
			add_kernel(finder, row);
}

/* The host spans of backends without kernels. */
static void add_host_spans(struct finder *finder)
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
		add_call(&run, trace, NO_ROW);
		append(finder, &run);
	}
}

/* The metadata records themselves, where there is nothing better. */
static void add_records(struct finder *finder)
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
		append(finder, &run);
	}
}

static void find_all(struct finder *finder)
{
	const struct tscope_trace *trace = finder->trace;
	size_t name_count = trace->names.count;

	finder->call_launched = tsi_arena_new(&finder->arena, trace->call_count, sizeof(bool));
	finder->call_listed = tsi_arena_new(&finder->arena, trace->call_count, sizeof(bool));
	finder->is_host_name = tsi_arena_new(&finder->arena, name_count, sizeof(bool));
	finder->names = tsi_arena_new(&finder->arena, name_count, sizeof(*finder->names));
	if (!finder->names)
		return;
	look_round(finder);
	if (finder->arena.has_failed)
		return;
	add_kernels(finder);
	add_host_spans(finder);
	if (finder->list->count == 0)
		add_records(finder);
}

bool tsi_collective_list_fill(struct collective_list *list, const struct tscope_trace *trace)
{
	struct finder finder = { .trace = trace, .list = list, .arena.spill = trace->spill };

	find_all(&finder);
	tsi_key_map_deinit(&finder.launching_ops);
	tsi_latch_deinit(&list->arena, &finder.arena);
	return !list->arena.has_failed;
}
