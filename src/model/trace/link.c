/* SPDX-License-Identifier: MIT */
/*
 * Links device work to what caused it: device event -> runtime call by equal
 * correlation, call -> the cpu_op that encloses it in time. Where no correlation
 * leads to a call, a flow event may; and where none does, "External id". In most
 * releases of PyTorch this is no link (it repeats the correlation), so it is
 * asked only where time has no answer or a poor one, and believed only if it
 * differs from the correlation and a call or an op carries it.
 *
 * Work launched before the capture began has no call; it stays, unlinked.
 */
#include "base/bisect.h"
#include "base/column.h"
#include "model/trace/build.h"
#include "model/trace/device_rows.h"
#include "model/trace/flows.h"
#include "model/trace/order.h"

/*
 * External id -> row of the cpu_op. Profilers count the ids up, so those not far above the lowest
 * have an array, which is mostly full; a map of them would take eight times as much memory.
 */
struct op_finder {
	uint32_t first, count; /* ids that the array is for */
	uint32_t *rows;        /* and 1; 0: none has this id */
	struct key_map far;    /* of the other ids */
};

struct linker {
	struct builder *builder;
	struct tscope_trace *trace;
	uint32_t *row_of_call; /* by index of call */
	uint32_t *calls;       /* indices of those with a correlation, by it; of one by start */
	uint32_t call_count;
	uint32_t hint;             /* where the last search ended: streams run in launch order */
	struct op_finder op_of_id; /* made when first needed */
	bool has_op_ids, has_call_ids;
	bool has_bare_op;          /* some event has an operator and no call */
	uint64_t unlinked_count;   /* device events that no correlation leads to a call */
	uint32_t *next_launch;     /* by index of call: that of the next one that launches work */
	struct key_map call_of_id; /* External id -> row of a call */
	uint8_t *phase_of_op;      /* by row; NULL without has_bare_op */
	struct key_map
		collective_of_call; /* row of a call within a collective's op -> collective */
	struct key_map collective_of_name; /* kernel name -> a collective that only has a kind */
	struct key_map comm_of_kind;       /* kind of a kernel -> the one that communicates */
};

/* ---- by correlation ------------------------------------------------------------------ */

static int64_t start_of_call(const struct linker *l, uint32_t call)
{
	return tsi_start_ns(&l->trace->spans, l->row_of_call[call]);
}

static bool is_later_call(const void *context, uint32_t a, uint32_t b)
{
	const struct linker *l = context;
	uint64_t a_correlation = l->trace->calls[a].correlation,
		 b_correlation = l->trace->calls[b].correlation;
	if (a_correlation != b_correlation)
		return a_correlation > b_correlation;
	return start_of_call(l, a) > start_of_call(l, b);
}

static void find_rows_of_calls(struct linker *l)
{
	struct bit_walk calls = tsi_bit_set_walk(&l->trace->spans.calls);
	for (size_t i = 0; i < l->trace->call_count; i++)
		l->row_of_call[i] = tsi_bit_walk_next(&calls);
}

static void list_calls(struct linker *l)
{
	struct tscope_trace *trace = l->trace;
	size_t count = trace->call_count;
	l->row_of_call = tsi_builder_new_array(l->builder, count, sizeof(*l->row_of_call));
	l->calls = tsi_builder_new_array(l->builder, count, sizeof(*l->calls));
	if (!l->row_of_call || !l->calls)
		return;
	find_rows_of_calls(l);
	for (uint32_t i = 0; i < count; i++)
		if (trace->calls[i].correlation)
			l->calls[l->call_count++] = i;
	tsi_sort_list(l->builder, l->calls, l->call_count, is_later_call, l);
	for (uint32_t i = 1; i < l->call_count; i++)
		trace->diagnostics[TSCOPE_DIAGNOSTIC_duplicate_correlation] +=
			trace->calls[l->calls[i]].correlation ==
			trace->calls[l->calls[i - 1]].correlation;
}

/* True if the call comes after (correlation, start) in the order of the list. */
static bool is_behind(const struct linker *l, uint32_t i, uint64_t correlation, int64_t start_ns)
{
	uint64_t call_correlation = l->trace->calls[l->calls[i]].correlation;
	return call_correlation > correlation ||
	       (call_correlation == correlation && start_of_call(l, l->calls[i]) > start_ns);
}

/* The first call behind (correlation, start): tried near the last answer, then by halving. */
static uint32_t find_behind(struct linker *l, uint64_t correlation, int64_t start_ns)
{
	enum { TRIES = 8 };
	uint32_t low = 0, high = l->call_count;
	uint32_t at = l->hint ? l->hint - 1 : 0;
	for (int i = 0; i < TRIES && at < high && !is_behind(l, at, correlation, start_ns); i++)
		low = ++at;
	if (low > 0 && low < high && is_behind(l, low, correlation, start_ns))
		return low;
	TSI_BISECT(low, high, !is_behind(l, middle, correlation, start_ns));
	return low;
}

/* The correlation's latest call that starts no later than the event; else its first; else none. */
static uint32_t find_call(struct linker *l, uint64_t correlation, int64_t start_ns)
{
	const struct runtime_call *calls = l->trace->calls;
	if (!correlation)
		return NO_ROW;
	uint32_t behind = find_behind(l, correlation, start_ns);
	l->hint = behind;
	if (behind > 0 && calls[l->calls[behind - 1]].correlation == correlation)
		return l->row_of_call[l->calls[behind - 1]];
	if (behind < l->call_count && calls[l->calls[behind]].correlation == correlation)
		return l->row_of_call[l->calls[behind]];
	return NO_ROW;
}

/* Finds the calls of all that has a correlation: from then on these are not needed. */
static void find_calls(struct linker *l)
{
	struct tscope_trace *trace = l->trace;
	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		struct device_event *event = tsi_device_event(trace, row);
		uint64_t correlation = event->correlation;
		event->call = find_call(l, correlation, tsi_start_ns(&trace->spans, row));
		event->op = correlation ? NO_ROW : WITHOUT_CORRELATION;
		l->unlinked_count += event->call == NO_ROW;
	}
	trace->link_counts[LINK_CORRELATION] = trace->device_event_count - l->unlinked_count;
	for (size_t i = 0; i < trace->sync_record_count; i++) {
		struct sync_record *record = &trace->sync_records[i];
		record->call = find_call(l, record->correlation, record->start_ns);
		record->event_call = find_call(l, record->event_correlation, record->start_ns);
	}
}

/* ---- by External id ------------------------------------------------------------------ */

/* The array: for up to SPARE times as many ids as there are. */
static void init_finder(struct linker *l, const uint32_t *ids, size_t count)
{
	enum { SPARE = 4 };
	struct op_finder *finder = &l->op_of_id;
	uint32_t least = UINT32_MAX, most = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t id = ids[i];
		least = id && id < least ? id : least;
		most = id > most ? id : most;
	}
	if (!most)
		return;
	size_t wanted = (most - least) / SPARE < count ? most - least + 1 : count * SPARE;
	finder->rows = tsi_arena_new(&l->builder->scratch, wanted, sizeof(*finder->rows));
	finder->first = least;
	finder->count = finder->rows ? (uint32_t)wanted : 0;
}

/* If operators share an id, the last row counts. */
static void list_op_ids(struct linker *l)
{
	const struct spans *spans = &l->trace->spans;
	struct op_finder *finder = &l->op_of_id;
	uint32_t index = 0;
	l->has_op_ids = true;
	init_finder(l, l->trace->op_ids, l->trace->cpu_op_count);
	for (uint32_t row = 0; row < spans->count; row++) {
		bool is_op = tsi_span_class(spans, row) == TSCOPE_SPAN_CPU_OP;
		uint32_t id = is_op ? l->trace->op_ids[index++] : 0;
		if (id && id - finder->first < finder->count)
			finder->rows[id - finder->first] = row + 1;
		else if (id)
			tsi_builder_put(l->builder, &finder->far, id, row);
	}
}

static uint32_t find_op_of_id(struct linker *l, uint32_t external_id)
{
	const struct op_finder *finder = &l->op_of_id;
	if (external_id == 0)
		return NO_ROW;
	if (!l->has_op_ids)
		list_op_ids(l);
	return external_id - finder->first < finder->count
		       ? finder->rows[external_id - finder->first] - 1
		       : tsi_key_map_find(&finder->far, external_id);
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

/* The phase of what only an id links to the operator: where that runs is not known to be a step. */
static enum phase phase_by_id(const struct linker *l, uint32_t op)
{
	const struct tscope_trace *trace = l->trace;
	if (trace->tracks[tsi_trace_track_of(trace, op)].is_autograd ||
	    tsi_cpu_op(trace, op)->is_backward)
		return PHASE_BACKWARD;
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		if (trace->tracks[i].is_autograd || trace->tracks[i].has_steps)
			return PHASE_COMPUTE; /* it may be forward work, or the optimizer's */
	return PHASE_FORWARD;
}

/*
 * Whole microseconds cannot distinguish a call in the last instant of an op from one
 * behind it; there an id that agrees with the times decides.
 */
static void name_op(struct linker *l, uint32_t index)
{
	struct tscope_trace *trace = l->trace;
	struct runtime_call *call = &trace->calls[index];
	uint32_t named = find_op_of_id(l, trace->call_ids ? trace->call_ids[index] : 0);
	if (call->op == NO_ROW ||
	    (named != NO_ROW && may_enclose(trace, named, l->row_of_call[index])))
		call->op = named;
	if (call->op == named && named != NO_ROW && call->phase == PHASE_COMPUTE)
		call->phase = (uint8_t)phase_by_id(l, named);
}

static void link_calls(struct linker *l)
{
	bool is_coarse = is_whole_us(&l->trace->spans);
	for (uint32_t i = 0; i < l->trace->call_count; i++)
		if (is_coarse || l->trace->calls[i].op == NO_ROW)
			name_op(l, i);
}

/* ---- device events without a correlation --------------------------------------------- */

static bool is_launch(const struct tscope_trace *trace, uint32_t call)
{
	uint8_t kind = tsi_call_kind(trace, call);
	return kind == CALL_LAUNCH || kind == CALL_GRAPH_LAUNCH || kind == CALL_MEMCPY ||
	       kind == CALL_MEMSET;
}

static void list_launches(struct linker *l)
{
	uint32_t count = (uint32_t)l->trace->call_count;
	l->next_launch =
		tsi_arena_new(&l->builder->scratch, (size_t)count + 1, sizeof(*l->next_launch));
	if (!l->next_launch)
		return;
	l->next_launch[count] = count;
	for (uint32_t i = count; i-- > 0;)
		l->next_launch[i] =
			is_launch(l->trace, l->row_of_call[i]) ? i : l->next_launch[i + 1];
}

/* The first call within an operator that launches work, or NO_ROW. */
static uint32_t find_launch_within(struct linker *l, uint32_t op)
{
	const struct tscope_trace *trace = l->trace;
	if (!l->next_launch)
		list_launches(l);
	if (!l->next_launch)
		return NO_ROW;
	uint32_t next = l->next_launch[tsi_call_index(trace, op)];
	if (next == trace->call_count)
		return NO_ROW;
	uint32_t call = l->row_of_call[next];
	return tsi_trace_track_of(trace, call) == tsi_trace_track_of(trace, op) &&
			       tsi_span_end(trace, call) <= tsi_span_end(trace, op)
		       ? call
		       : NO_ROW;
}

/* Binds an event to what its flow comes from; PyTorch gives flows the numbers of correlations. */
static void follow_flow(struct linker *l, const struct followed_flow *flow)
{
	struct tscope_trace *trace = l->trace;
	struct device_event *event = tsi_device_event(trace, flow->event);
	uint32_t source = flow->source;
	if (source == NO_ROW)
		source = find_call(l, flow->id, tsi_start_ns(&trace->spans, flow->event));
	if (source == NO_ROW)
		return;
	bool is_call = tsi_span_class(&trace->spans, source) == TSCOPE_SPAN_RUNTIME;
	event->call = is_call ? source : find_launch_within(l, source);
	event->op = is_call ? NO_ROW : source;
	trace->link_counts[LINK_FLOW]++;
}

static void follow_flows(struct linker *l)
{
	struct flow_walk walk;
	struct followed_flow flow;
	tsi_flow_walk_init(&walk, l->builder);
	while (tsi_flow_walk_next(&walk, &flow))
		follow_flow(l, &flow);
	tsi_flow_walk_deinit(&walk);
}

/* If calls share an id, the first that launches work counts, else the first. */
static void list_call_ids(struct linker *l)
{
	const struct tscope_trace *trace = l->trace;
	l->has_call_ids = true;
	for (uint32_t i = 0; i < trace->call_count; i++) {
		uint32_t id = trace->call_ids[i];
		uint32_t known = id ? tsi_key_map_find(&l->call_of_id, id) : 0;
		if (id && (known == NO_ROW ||
			   (!is_launch(trace, known) && is_launch(trace, l->row_of_call[i]))))
			tsi_builder_put(l->builder, &l->call_of_id, id, l->row_of_call[i]);
	}
}

static uint32_t find_call_of_id(struct linker *l, uint32_t external_id)
{
	if (!l->has_call_ids)
		list_call_ids(l);
	return tsi_key_map_find(&l->call_of_id, external_id);
}

/* Ids of calls are asked only for what has no correlation: others' calls would have that one. */
static void link_by_id(struct linker *l, struct device_event *event)
{
	bool has_correlation = event->op != WITHOUT_CORRELATION;
	event->op = NO_ROW;
	if (!event->external_id)
		return;
	if (!has_correlation)
		event->call = find_call_of_id(l, event->external_id);
	if (event->call == NO_ROW)
		event->op = find_op_of_id(l, event->external_id);
	if (event->op != NO_ROW && !has_correlation)
		event->call = find_launch_within(l, event->op);
	l->trace->link_counts[LINK_EXTERNAL_ID] += event->call != NO_ROW || event->op != NO_ROW;
}

static void link_others(struct linker *l)
{
	struct tscope_trace *trace = l->trace;
	uint32_t first_row = tsi_first_device_row(trace);
	if (!l->unlinked_count)
		return;
	follow_flows(l);
	for (uint32_t row = first_row; row < trace->spans.count; row++) {
		struct device_event *event = tsi_device_event(trace, row);
		if (event->call == NO_ROW && event->op >= WITHOUT_CORRELATION)
			link_by_id(l, event);
		l->has_bare_op |= event->call == NO_ROW && event->op != NO_ROW;
	}
	if (l->has_bare_op)
		l->phase_of_op = tsi_arena_new(&l->builder->scratch, first_row, 1);
}

/* ---- device events ------------------------------------------------------------------- */

/* The collective that a communication kernel without metadata stands for: its kind, by its name. */
static uint32_t name_collective(struct linker *l, uint32_t name)
{
	uint32_t index = tsi_key_map_find(&l->collective_of_name, name);
	if (index != NO_ROW)
		return index;
	struct str text = tsi_intern_text(&l->trace->names, name);
	struct collective bare = tsi_no_collective();
	bare.kind = (uint8_t)tsi_classify_collective(text);
	index = tsi_add_collective(l->builder, &bare);
	tsi_builder_put(l->builder, &l->collective_of_name, name, index);
	return index;
}

/* Makes a kernel communication. */
static void set_comm(struct linker *l, uint32_t row)
{
	struct spans *spans = &l->trace->spans;
	uint32_t known = tsi_key_map_find(&l->comm_of_kind, spans->kind[row]);
	if (known == NO_ROW) {
		struct span_kind comm = *tsi_span_kind(spans, row);
		comm.span_class = TSCOPE_SPAN_COMM;
		known = spans->kind_count;
		if (!tsi_builder_reserve(l->builder, &spans->kinds, &spans->kind_capacity,
					 (size_t)known + 1, sizeof(comm)))
			return;
		tsi_builder_put(l->builder, &l->comm_of_kind, spans->kind[row], known);
		spans->kinds[spans->kind_count++] = comm;
	}
	spans->kind[row] = known;
}

/*
 * Is it communication, and which? A kernel with a communication library's name
 * is. Otherwise metadata of a collective that moves data, on the kernel itself
 * or around its launch (in_collective), makes it so, unless its name is that of
 * ordinary work: a collective's op also launches copies, and they compute.
 */
static void settle_collective(struct linker *l, uint32_t row, struct device_event *event,
			      bool in_collective)
{
	struct tscope_trace *trace = l->trace;
	uint8_t span_class = tsi_span_class(&trace->spans, row);
	uint32_t found = event->collective;
	event->collective = NO_ROW;
	if (found == NO_ROW && in_collective)
		found = tsi_key_map_find(&l->collective_of_call, event->call);
	else if (found == NO_ROW && event->call == NO_ROW && event->op != NO_ROW)
		found = tsi_cpu_op(trace, event->op)->collective;
	if (found != NO_ROW && trace->collectives[found].is_wait)
		found = NO_ROW;

	if (span_class == TSCOPE_SPAN_KERNEL && found != NO_ROW &&
	    !tsi_is_compute_kernel(tsi_span_name(trace, row))) {
		span_class = TSCOPE_SPAN_COMM;
		set_comm(l, row);
	}
	if (span_class != TSCOPE_SPAN_COMM)
		return;
	if (found == NO_ROW) {
		event->collective = name_collective(l, tsi_name_id(&trace->spans, row));
		return;
	}
	event->collective = found;
	if (trace->collectives[found].kind == COLLECTIVE_UNKNOWN)
		trace->collectives[found].kind =
			(uint8_t)tsi_classify_collective(tsi_span_name(trace, row));
}

static void link_device_event(struct linker *l, uint32_t row)
{
	struct tscope_trace *trace = l->trace;
	struct device_event *event = tsi_device_event(trace, row);
	uint32_t external_id = event->external_id;
	bool in_collective = false;
	event->phase = PHASE_COMPUTE;
	event->graph = tsi_work_traits(trace, row)->graph;
	if (event->call != NO_ROW) {
		struct runtime_call *call = tsi_call(trace, event->call);
		call->has_work = true;
		if (event->op == NO_ROW)
			event->op = call->op;
		event->phase = call->phase;
		event->graph |= tsi_call_kind(trace, event->call) == CALL_GRAPH_LAUNCH;
		in_collective = call->in_collective;
	} else if (event->op != NO_ROW) {
		event->phase = l->phase_of_op[event->op];
	}
	if (event->op == NO_ROW)
		event->op = find_op_of_id(l, external_id);
	if (event->op != NO_ROW && event->phase == PHASE_COMPUTE)
		event->phase = (uint8_t)phase_by_id(l, event->op);
	settle_collective(l, row, event, in_collective);
}

static void link_all(struct linker *l)
{
	struct builder *b = l->builder;
	list_calls(l);
	if (b->status == TSCOPE_OK) {
		find_calls(l);
		link_others(l);
	}
	tsi_column_free(l->calls);
	if (b->status != TSCOPE_OK || b->scratch.has_failed)
		return;
	tsi_enclose_calls(b, &l->collective_of_call, l->phase_of_op);
	if (b->status != TSCOPE_OK)
		return;
	link_calls(l);
	for (uint32_t row = tsi_first_device_row(l->trace); row < l->trace->spans.count; row++)
		link_device_event(l, row);
}

void tsi_link_rows(struct builder *b)
{
	struct tscope_trace *trace = b->trace;
	struct linker l = { .builder = b, .trace = trace };
	link_all(&l);
	tsi_free_flows(b);
	tsi_column_free(l.row_of_call);
	tsi_key_map_deinit(&l.op_of_id.far);
	tsi_key_map_deinit(&l.call_of_id);
	tsi_key_map_deinit(&l.collective_of_call);
	tsi_key_map_deinit(&l.collective_of_name);
	tsi_key_map_deinit(&l.comm_of_kind);
	tsi_column_free(trace->op_ids);
	tsi_column_free(trace->call_ids);
	trace->op_ids = trace->call_ids = NULL;
}
