/* SPDX-License-Identifier: MIT */
/*
 * Links device work to what caused it: device event -> runtime call by equal
 * correlation, call -> the cpu_op that encloses it in time. "External id" is
 * no link in most releases of PyTorch (it repeats the correlation), so it is
 * asked only where time has no answer or a poor one, and believed only if it
 * differs from the correlation and an op carries it. Flow events are not needed.
 *
 * Work launched before the capture began has no call; it stays, unlinked.
 */
#include "base/array.h"
#include "base/sum.h"
#include "model/build.h"
#include "model/order.h"

#include <stdlib.h>

struct linker {
	struct tscope_trace *trace;
	struct launch_site *sites; /* by index of call */
	struct sort_pair *calls;   /* those with a correlation: correlation, row; of one by start */
	size_t call_count;
	size_t hint;             /* where the last search ended: streams run in launch order */
	struct key_map op_of_id; /* External id -> row of the cpu_op; made when first needed */
	bool has_op_ids;
	bool is_whole_us;                  /* no time of the file is finer than a microsecond */
	struct key_map collective_of_name; /* kernel name -> a collective that only has a kind */
};

/* ---- by correlation ------------------------------------------------------------------ */

static uint64_t start_key(const struct tscope_trace *trace, uint32_t row)
{
	return tsi_sort_key_of_int64(tsi_start_ns(&trace->spans, row));
}

static enum tscope_status list_calls(struct linker *l, struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	struct sort_pair *scratch = NULL;
	if (tsi_array_new(&l->calls, trace->call_count, sizeof(*l->calls), err) != TSCOPE_OK ||
	    tsi_array_new(&scratch, trace->call_count, sizeof(*scratch), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = 0; row < trace->spans.count; row++)
		if (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_RUNTIME &&
		    tsi_call(trace, row)->correlation)
			l->calls[l->call_count++] =
				(struct sort_pair){ tsi_call(trace, row)->correlation, row };
	tsi_sort_rows(l->calls, scratch, l->call_count, trace, start_key);
	free(scratch);
	for (size_t i = 1; i < l->call_count; i++)
		trace->diagnostics[TSCOPE_DIAGNOSTIC_duplicate_correlation] +=
			l->calls[i].key == l->calls[i - 1].key;
	return TSCOPE_OK;
}

/* True if the call comes after (correlation, start) in the order of the list. */
static bool is_behind(const struct linker *l, size_t i, uint64_t correlation, int64_t start_ns)
{
	const struct sort_pair *call = &l->calls[i];
	return call->key > correlation ||
	       (call->key == correlation &&
		tsi_start_ns(&l->trace->spans, (uint32_t)call->value) > start_ns);
}

/* The first call behind (correlation, start): tried near the last answer, then by halving. */
static size_t find_behind(struct linker *l, uint64_t correlation, int64_t start_ns)
{
	enum { TRIES = 8 };
	size_t low = 0, high = l->call_count;
	size_t at = l->hint ? l->hint - 1 : 0;
	for (int i = 0; i < TRIES && at < high && !is_behind(l, at, correlation, start_ns); i++)
		low = ++at;
	if (low > 0 && low < high && is_behind(l, low, correlation, start_ns))
		return low;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (is_behind(l, middle, correlation, start_ns))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The correlation's latest call that starts no later than the event; else its first; else none. */
static uint32_t find_call(struct linker *l, uint64_t correlation, int64_t start_ns)
{
	if (!correlation)
		return NO_ROW;
	size_t behind = find_behind(l, correlation, start_ns);
	l->hint = behind;
	if (behind > 0 && l->calls[behind - 1].key == correlation)
		return (uint32_t)l->calls[behind - 1].value;
	if (behind < l->call_count && l->calls[behind].key == correlation)
		return (uint32_t)l->calls[behind].value;
	return NO_ROW;
}

/* ---- by External id ------------------------------------------------------------------ */

static enum tscope_status list_op_ids(struct linker *l, struct tscope_error *err)
{
	const struct spans *spans = &l->trace->spans;
	l->has_op_ids = true;
	for (uint32_t row = 0; row < spans->count; row++) {
		if (tsi_span_class(spans, row) != TSCOPE_SPAN_CPU_OP ||
		    !tsi_cpu_op(l->trace, row)->external_id)
			continue;
		if (tsi_key_map_put(&l->op_of_id, tsi_cpu_op(l->trace, row)->external_id, row,
				    err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

static enum tscope_status find_op_of_id(struct linker *l, uint32_t external_id,
					uint64_t correlation, uint32_t *op,
					struct tscope_error *err)
{
	*op = NO_ROW;
	if (external_id == 0 || external_id == correlation)
		return TSCOPE_OK;
	if (!l->has_op_ids && list_op_ids(l, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*op = tsi_key_map_find(&l->op_of_id, external_id);
	return TSCOPE_OK;
}

static bool is_whole_us(const struct spans *spans)
{
	for (uint32_t row = 0; row < spans->count; row++)
		if (tsi_start_ns(spans, row) % 1000 || tsi_dur_ns(spans, row) % 1000)
			return false;
	return true;
}

/* Is the op open on the call's thread when the call starts, be it in its first or last instant? */
static bool may_enclose(const struct tscope_trace *trace, uint32_t op, uint32_t call)
{
	int64_t now = tsi_start_ns(&trace->spans, call);
	return tsi_start_ns(&trace->spans, op) <= now && now <= tsi_span_end(trace, op) &&
	       tsi_trace_track_of(trace, op) == tsi_trace_track_of(trace, call);
}

/*
 * Whole microseconds cannot tell a call in the last instant of an op from one
 * behind it; there an id that agrees with the times decides.
 */
static enum tscope_status link_call(struct linker *l, uint32_t row, struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	struct runtime_call *call = tsi_call(trace, row);
	uint32_t op = l->sites[tsi_call_index(trace, row)].op, named = NO_ROW;
	if ((op == NO_ROW || l->is_whole_us) &&
	    find_op_of_id(l, call->op, call->correlation, &named, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (op == NO_ROW || (named != NO_ROW && may_enclose(trace, named, row)))
		op = named;
	call->op = op;
	return TSCOPE_OK;
}

static enum tscope_status link_calls(struct linker *l, struct tscope_error *err)
{
	const struct spans *spans = &l->trace->spans;
	l->is_whole_us = is_whole_us(spans);
	for (uint32_t row = 0; row < spans->count; row++)
		if (tsi_span_class(spans, row) == TSCOPE_SPAN_RUNTIME &&
		    link_call(l, row, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* ---- device events ------------------------------------------------------------------- */

/* What the call knows of its device event, and the other way round. */
static void join_call(struct tscope_trace *trace, uint32_t row, struct device_event *event)
{
	struct runtime_call *call = tsi_call(trace, event->call);
	tsi_sum(&call->device_ns, tsi_dur_ns(&trace->spans, row));
	call->device_count++;
	event->phase = call->phase;
	event->graph |= call->kind == CALL_GRAPH_LAUNCH;
	if (event->bytes == NO_NUMBER &&
	    (tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_MEMCPY ||
	     tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_MEMSET))
		event->bytes = call->bytes;
}

/* The collective that a communication kernel without metadata stands for: its kind, by its name. */
static enum tscope_status name_collective(struct linker *l, uint32_t name, uint32_t *collective,
					  struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	*collective = tsi_key_map_find(&l->collective_of_name, name);
	if (*collective != NO_ROW)
		return TSCOPE_OK;
	struct collective bare = {
		.kind = (uint8_t)tsi_classify_collective(tsi_intern_text(&trace->names, name)),
		.in_elements = NO_NUMBER,
		.out_elements = NO_NUMBER,
		.group_size = NO_NUMBER,
		.sequence = NO_NUMBER,
		.src_rank = NO_NUMBER,
		.dst_rank = NO_NUMBER,
	};
	if (tsi_array_reserve(&trace->collectives, &trace->collective_capacity,
			      trace->collective_count + 1, sizeof(bare), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	*collective = (uint32_t)trace->collective_count;
	trace->collectives[trace->collective_count++] = bare;
	return tsi_key_map_put(&l->collective_of_name, name, *collective, err);
}

/*
 * Is it communication, and which? A kernel with a communication library's name
 * is. Otherwise metadata of a collective that moves data, on the kernel itself
 * or around its launch, makes it so, unless its name is that of ordinary work:
 * a collective's op also launches copies, and they compute.
 */
static enum tscope_status settle_collective(struct linker *l, uint32_t row,
					    struct device_event *event, struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	uint8_t span_class = tsi_span_class(&trace->spans, row);
	uint32_t found = event->collective;
	event->collective = NO_ROW;
	if (found == NO_ROW && event->call != NO_ROW)
		found = l->sites[tsi_call_index(trace, event->call)].collective;
	if (found != NO_ROW && trace->collectives[found].is_wait)
		found = NO_ROW;

	if (span_class == TSCOPE_SPAN_KERNEL && found != NO_ROW &&
	    !tsi_is_compute_kernel(tsi_span_name(trace, row))) {
		span_class = TSCOPE_SPAN_COMM;
		tsi_set_span_class(&trace->spans, row, span_class);
	}
	if (span_class != TSCOPE_SPAN_COMM)
		return TSCOPE_OK;
	if (found == NO_ROW)
		return name_collective(l, tsi_name_id(&trace->spans, row), &event->collective, err);
	event->collective = found;
	if (trace->collectives[found].kind == COLLECTIVE_UNKNOWN)
		trace->collectives[found].kind =
			(uint8_t)tsi_classify_collective(tsi_span_name(trace, row));
	return TSCOPE_OK;
}

static enum tscope_status link_device_event(struct linker *l, uint32_t row,
					    struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	struct device_event *event = tsi_device_event(trace, row);
	uint32_t external_id = event->op;
	event->call = find_call(l, event->correlation, tsi_start_ns(&trace->spans, row));
	event->op = NO_ROW;
	if (event->call != NO_ROW) {
		event->op = tsi_call(trace, event->call)->op;
		join_call(trace, row, event);
	}
	if (event->op == NO_ROW &&
	    find_op_of_id(l, external_id, event->correlation, &event->op, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return settle_collective(l, row, event, err);
}

static void link_sync_records(struct linker *l)
{
	for (size_t i = 0; i < l->trace->sync_record_count; i++) {
		struct sync_record *record = &l->trace->sync_records[i];
		record->call = find_call(l, record->correlation, record->start_ns);
		record->event_call = find_call(l, record->event_correlation, record->start_ns);
	}
}

static enum tscope_status link_all(struct linker *l, struct tscope_error *err)
{
	struct tscope_trace *trace = l->trace;
	if (tsi_array_new(&l->sites, trace->call_count, sizeof(*l->sites), err) != TSCOPE_OK ||
	    tsi_enclose_calls(trace, l->sites, err) != TSCOPE_OK ||
	    list_calls(l, err) != TSCOPE_OK || link_calls(l, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	link_sync_records(l);
	if (trace->host_track_count == trace->track_count)
		return TSCOPE_OK;
	for (uint32_t row = trace->tracks[trace->host_track_count].first; row < trace->spans.count;
	     row++)
		if (link_device_event(l, row, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

enum tscope_status tsi_link_rows(struct tscope_trace *trace, struct tscope_error *err)
{
	struct linker l = { .trace = trace };
	enum tscope_status status = link_all(&l, err);
	free(l.sites);
	free(l.calls);
	tsi_key_map_deinit(&l.op_of_id);
	tsi_key_map_deinit(&l.collective_of_name);
	return status;
}
