/* SPDX-License-Identifier: MIT */
/*
 * How the host drives the devices: launch calls and how long their work waits,
 * whether the host keeps up, and the calls that stall it (synchronisation,
 * memory management), with who made them.
 */
#include "analyze/facts.h"

#include "analyze/shared/quantile.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "model/trace/classify.h"
#include "model/trace/device_rows.h"

#define FACTS(X)                                                                                   \
	X(LAUNCH_COUNT, "launch_count", COUNT,                                                     \
	  "calls that start kernels, graphs, copies or fills")                                     \
	X(CAPTURED_COUNT, "captured_count", COUNT,                                                 \
	  "of these, within the capture of a graph: they run nothing")                             \
	X(IS_CAPTURE, "is_capture", FLAG,                                                          \
	  "the trace records the capture of graphs and no run; absent: it does not")               \
	X(LAUNCH_NS, "launch_ns", NS, "host time in them")                                         \
	X(LAUNCHES_PER_STEP, "launches_per_step", NUMBER,                                          \
	  "launch calls in a step, mean over the unmarked steps")                                  \
	X(DELAY_MEAN_NS, "delay_mean_ns", NS,                                                      \
	  "start of an event less start of its launch call (graphs left out)")                     \
	X(DELAY_P50_NS, "delay_p50_ns", NS, "median of that")                                      \
	X(DELAY_P95_NS, "delay_p95_ns", NS, "95th percentile of that")                             \
	X(DELAY_FROM_END_P50_NS, "delay_from_end_p50_ns", NS,                                      \
	  "median from the end of the launch call")                                                \
	X(QUEUED_RATIO, "queued_ratio", RATIO,                                                     \
	  "device events launched while earlier work still ran")                                   \
	X(HOST_BOUND_RATIO, "host_bound_ratio", RATIO,                                             \
	  "of the devices' idle time, before the next event is launched")                          \
	X(SYNC_COUNT, "sync_count", COUNT, "calls that wait for the device")                       \
	X(SYNC_NS, "sync_ns", NS, "host time in them")                                             \
	X(MALLOC_COUNT, "malloc_count", COUNT, "calls that allocate device memory")                \
	X(MALLOC_NS, "malloc_ns", NS, "host time in them")                                         \
	X(FREE_COUNT, "free_count", COUNT, "calls that free device memory")                        \
	X(FREE_NS, "free_ns", NS, "host time in them")                                             \
	X(STEADY_MALLOC_COUNT, "steady_malloc_count", COUNT,                                       \
	  "allocating calls in unmarked steps after the first step")                               \
	X(STEADY_FREE_COUNT, "steady_free_count", COUNT,                                           \
	  "freeing calls in unmarked steps after the first step")                                  \
	X(STEADY_MALLOC_NS, "steady_malloc_ns", NS,                                                \
	  "host time in the allocating calls of these steps")                                      \
	X(STEADY_FREE_NS, "steady_free_ns", NS, "host time in the freeing calls of these steps")   \
	X(STEADY_STEP_COUNT, "steady_step_count", COUNT, "unmarked steps after the first step")    \
	X(ALLOCATING_STEP_COUNT, "allocating_step_count", COUNT,                                   \
	  "of these, steps with an allocating or freeing call")                                    \
	X(UNCACHED_RATIO, "uncached_ratio", RATIO,                                                 \
	  "of the operators aten::empty and aten::empty_strided, those that allocate from the "    \
	  "driver and free nothing there; only where 20 or more do")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define NAME_COLUMNS(X)                                                                            \
	X(NAME, "name", TEXT, "of the runtime or driver call")                                     \
	X(NAME_KIND, "kind", TEXT, "what it does")                                                 \
	X(NAME_COUNT, "count", COUNT, "calls")                                                     \
	X(NAME_TOTAL_NS, "total_ns", NS, "host time in them")                                      \
	X(NAME_MEAN_NS, "mean_ns", NS, "mean duration")                                            \
	X(NAME_MAX_NS, "max_ns", NS, "longest")

TSI_FACT_LIST(enum name_column, name_columns, NAME_COLUMNS);

#define SYNC_COLUMNS(X)                                                                            \
	X(SYNC_OP, "op", TEXT, "operator that made the call; null: none")                          \
	X(SYNC_CALL, "call", TEXT, "call that waits")                                              \
	X(SYNC_CALL_COUNT, "count", COUNT, "calls")                                                \
	X(SYNC_TOTAL_NS, "total_ns", NS, "host time in them")

TSI_FACT_LIST(enum sync_column, sync_columns, SYNC_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_NAME, "by_name", name_columns, "runtime and driver calls by name")                    \
	X(SYNCS, "syncs", sync_columns,                                                            \
	  "calls that wait for the device, by the operator that makes them")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Calls of one name, kind or place. */
struct calls {
	uint8_t kind;
	int64_t count, total_ns, max_ns;
};

struct work {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	uint32_t step;         /* found last, mostly that of the next call */
	struct calls *by_name; /* by name id */
	struct calls by_kind[CALL_KIND_COUNT];
	struct pair_set syncs;     /* (name of the op or NO_ROW, name of the call): struct calls */
	int64_t step_launch_count; /* in unmarked steps */
	/* Calls for the device's memory, in unmarked steps behind 0. */
	struct calls steady[CALL_KIND_COUNT];
	bool *allocates;        /* by step */
	int64_t uncached_count; /* operators that create tensors and allocate for each */
	struct {
		uint32_t op; /* the last one that creates a tensor with such calls, or NO_ROW */
		bool allocates, frees;
	} creator;
	int64_t *delays_ns; /* from the start of the call, then from its end */
	size_t delay_count;
	int64_t delay_sum_ns;
	int64_t linked_count, queued_count;
	int64_t known_idle_ns, host_idle_ns; /* idle time whose next event has a launch call */
};

static void work_init(struct work *work, const struct analysis_scope *scope, struct arena *scratch)
{
	const struct tscope_trace *trace = scope->trace;
	size_t limit = 0;

	*work = (struct work){
		.trace = trace,
		.timeline = scope->timeline,
		.creator = { .op = NO_ROW },
		.syncs = { .arena = scratch, .item_bytes = sizeof(struct calls) },
	};
	for (uint32_t i = 0; i < trace->device_count; i++)
		limit += trace->devices[i].row_count;
	work->by_name = tsi_arena_new(scratch, trace->names.count, sizeof(*work->by_name));
	work->delays_ns = tsi_arena_new(scratch, limit, sizeof(*work->delays_ns));
	work->allocates = tsi_arena_new(scratch, scope->timeline->step_count, sizeof(bool));
}

static void add_call(struct calls *calls, uint8_t kind, int64_t dur_ns)
{
	calls->kind = kind;
	calls->count++;
	tsi_sum(&calls->total_ns, dur_ns);
	if (dur_ns > calls->max_ns)
		calls->max_ns = dur_ns;
}

/* The unmarked step that a call starts in, or NO_ROW. */
static inline uint32_t step_of(struct work *work, uint32_t row)
{
	int64_t start_ns = tsi_start_ns(&work->trace->spans, row);
	uint32_t step = tsi_timeline_step_near(work->timeline, start_ns, &work->step);

	return step != NO_ROW && work->timeline->steps[step].mark == TSCOPE_STEP_COUNTED ? step
											 : NO_ROW;
}

/* Device memory only: calls for pinned host memory are named alike ("cudaHostAlloc"). */
static bool is_memory_call(const struct work *work, uint32_t row, uint8_t kind)
{
	return (kind == CALL_MALLOC || kind == CALL_FREE) &&
	       tsi_str_find(tsi_span_name(work->trace, row), TSI_STR("Host")) < 0;
}

static bool creates_tensor(struct str op)
{
	return tsi_str_is(op, "aten::empty") || tsi_str_is(op, "aten::empty_strided");
}

/* A cache that is full is emptied, too, before it grows: what it frees was cached. */
static void end_creator(struct work *work)
{
	work->uncached_count += work->creator.allocates && !work->creator.frees;
	work->creator.op = NO_ROW;
	work->creator.allocates = work->creator.frees = false;
}

/* The calls of one operator follow each other. */
static void add_call_of_creator(struct work *work, uint32_t op, uint8_t kind)
{
	if (op != work->creator.op)
		end_creator(work);
	work->creator.op = op;
	work->creator.allocates |= kind == CALL_MALLOC;
	work->creator.frees |= kind == CALL_FREE;
}

static void add_memory_call(struct work *work, uint32_t row, uint8_t kind, int64_t dur_ns)
{
	uint32_t op = tsi_call(work->trace, row)->op;
	uint32_t step = step_of(work, row);

	if (step != NO_ROW && step > 0) {
		add_call(&work->steady[kind], kind, dur_ns);
		work->allocates[step] = true;
	}
	if (op != NO_ROW && creates_tensor(tsi_span_name(work->trace, op)))
		add_call_of_creator(work, op, kind);
}

static void add_sync(struct work *work, uint32_t row)
{
	const struct spans *spans = &work->trace->spans;
	uint32_t op = tsi_call(work->trace, row)->op;
	uint32_t number =
		tsi_pair_set_add(&work->syncs, op == NO_ROW ? NO_ROW : tsi_name_id(spans, op),
				 tsi_name_id(spans, row));

	if (number != UINT32_MAX)
		add_call((struct calls *)work->syncs.items + number, CALL_SYNC,
			 tsi_dur_ns(spans, row));
}

static void take_call(struct work *work, size_t index, uint32_t row)
{
	const struct spans *spans = &work->trace->spans;
	uint8_t kind = tsi_launching_kind(work->trace, index, row);
	int64_t dur_ns = tsi_dur_ns(spans, row);
	struct calls *by_name = &work->by_name[tsi_name_id(spans, row)];

	add_call(by_name, kind, dur_ns);
	add_call(&work->by_kind[kind], kind, dur_ns);
	if (tsi_is_launch_call(kind))
		work->step_launch_count += step_of(work, row) != NO_ROW;
	else if (is_memory_call(work, row, kind))
		add_memory_call(work, row, kind, dur_ns);
	if (kind == CALL_SYNC)
		add_sync(work, row);
}

static void collect_calls(struct work *work)
{
	const struct tscope_trace *trace = work->trace;
	struct bit_walk calls = tsi_bit_set_walk(&trace->spans.calls);

	for (size_t i = 0; i < trace->call_count; i++)
		take_call(work, i, tsi_bit_walk_next(&calls));
	end_creator(work);
}

static int64_t at_least_0(int64_t number)
{
	return number > 0 ? number : 0;
}

/* Graphs are left out: one launch starts many kernels. */
static bool has_delay(const struct device_event *event)
{
	return event->call != NO_ROW && !event->graph;
}

static inline void add_delay(struct work *work, int64_t launch_ns, int64_t start_ns)
{
	int64_t delay_ns = at_least_0(start_ns - launch_ns);

	work->delays_ns[work->delay_count++] = delay_ns;
	tsi_sum(&work->delay_sum_ns, delay_ns);
}

/* Takes the place of the delays from the start of the call. */
static void collect_delays_from_end(struct work *work)
{
	const struct tscope_trace *trace = work->trace;
	const struct span_times times = tsi_span_times(&trace->spans);
	int64_t *delay_ns = work->delays_ns;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		const struct device_event *event = tsi_device_event(trace, row);
		if (has_delay(event))
			*delay_ns++ = at_least_0(tsi_start_of(times, row) -
						 tsi_start_of(times, event->call) -
						 tsi_dur_of(times, event->call));
	}
}

/*
 * Judges the time before an event by its launch, where the device's earlier work ended at
 * busy_until_ns: launched before that, the event was queued; else the device stood idle up to the
 * launch because of the host, and from there on for other reasons.
 */
static inline void judge_launch(struct work *work, int64_t busy_until_ns, int64_t launch_ns,
				int64_t start_ns)
{
	work->linked_count++;
	work->queued_count += launch_ns < busy_until_ns;
	if (start_ns <= busy_until_ns)
		return;
	if (launch_ns > start_ns)
		launch_ns = start_ns;
	tsi_sum(&work->known_idle_ns, start_ns - busy_until_ns);
	tsi_sum(&work->host_idle_ns, at_least_0(launch_ns - busy_until_ns));
}

static void collect_device(struct work *work, const struct device *device)
{
	const struct span_times times = tsi_span_times(&work->trace->spans);
	int64_t busy_until_ns = 0;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		const struct device_event *event = tsi_device_event(work->trace, row);
		int64_t start_ns = tsi_start_of(times, row);
		int64_t end_ns = start_ns + tsi_dur_of(times, row);
		if (event->call != NO_ROW) {
			int64_t launch_ns = tsi_start_of(times, event->call);
			if (!event->graph)
				add_delay(work, launch_ns, start_ns);
			if (i > 0)
				judge_launch(work, busy_until_ns, launch_ns, start_ns);
		}
		if (i == 0 || end_ns > busy_until_ns)
			busy_until_ns = end_ns;
	}
}

static void add_names(const struct work *work, struct fact_sheet *out)
{
	for (uint32_t name = 0; name < work->trace->names.count; name++) {
		const struct calls *calls = &work->by_name[name];
		if (calls->count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_NAME);
		cells[NAME] = tsi_text(tsi_intern_text(&work->trace->names, name).data);
		cells[NAME_KIND] = tsi_text(tsi_call_kind_name(calls->kind));
		cells[NAME_COUNT] = tsi_int(calls->count);
		cells[NAME_TOTAL_NS] = tsi_int(calls->total_ns);
		cells[NAME_MEAN_NS] = tsi_mean(calls->total_ns, calls->count);
		cells[NAME_MAX_NS] = tsi_int(calls->max_ns);
	}
	tsi_table_order(out, BY_NAME, NAME_TOTAL_NS, NAME);
}

static void add_syncs(const struct work *work, struct fact_sheet *out)
{
	const struct calls *by_sync = work->syncs.items;
	const struct intern *names = &work->trace->names;

	for (size_t i = 0; i < work->syncs.count; i++) {
		const struct pair *sync = &work->syncs.pairs[i];
		struct tscope_value *cells = tsi_table_row(out, SYNCS);
		if (sync->first != NO_ROW)
			cells[SYNC_OP] = tsi_text(tsi_intern_text(names, sync->first).data);
		cells[SYNC_CALL] = tsi_text(tsi_intern_text(names, sync->second).data);
		cells[SYNC_CALL_COUNT] = tsi_int(by_sync[i].count);
		cells[SYNC_TOTAL_NS] = tsi_int(by_sync[i].total_ns);
	}
	tsi_table_order(out, SYNCS, SYNC_TOTAL_NS, SYNC_OP);
}

static void set_delays(struct work *work, struct fact_sheet *out)
{
	size_t count = work->delay_count;

	if (count == 0)
		return;
	tsi_fact_mean(out, DELAY_MEAN_NS, work->delay_sum_ns, (int64_t)count);
	tsi_fact_int(out, DELAY_P50_NS, tsi_find_quantile_ns(work->delays_ns, count, 50));
	tsi_fact_int(out, DELAY_P95_NS, tsi_find_quantile_ns(work->delays_ns, count, 95));
	collect_delays_from_end(work);
	tsi_fact_int(out, DELAY_FROM_END_P50_NS, tsi_find_quantile_ns(work->delays_ns, count, 50));
}

/* How many operators create tensors is asked only where enough of them go to the driver. */
static void set_uncached_ratio(const struct work *work, struct fact_sheet *out)
{
	enum { LEAST_UNCACHED = 20 };
	const struct tscope_trace *trace = work->trace;
	int64_t count = 0;

	if (work->uncached_count < LEAST_UNCACHED)
		return;
	for (uint32_t row = 0; row < tsi_first_device_row(trace); row++)
		count += tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_CPU_OP &&
			 creates_tensor(tsi_span_name(trace, row));
	tsi_fact_ratio(out, UNCACHED_RATIO, work->uncached_count, count);
}

static void doubt_steady(const struct work *work, struct fact_sheet *out)
{
	static const enum fact steady[] = { STEADY_MALLOC_COUNT, STEADY_FREE_COUNT,
					    STEADY_MALLOC_NS, STEADY_FREE_NS,
					    ALLOCATING_STEP_COUNT };
	bool has_calls = work->trace->call_count > 0;

	for (size_t i = 0; has_calls && i < TSI_COUNT_OF(steady); i++)
		tsi_fact_doubt(out, steady[i],
			       "one complete step, and it fills the allocator's cache: "
			       "record 3 or more");
}

static void set_step_facts(const struct work *work, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = work->timeline;
	int64_t step_count = 0, steady_count = 0, allocating_count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		bool is_counted = timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
		step_count += is_counted;
		steady_count += is_counted && i > 0;
		allocating_count += work->allocates[i];
	}
	tsi_fact_ratio(out, LAUNCHES_PER_STEP, work->step_launch_count, step_count);
	set_uncached_ratio(work, out);
	tsi_fact_int(out, STEADY_STEP_COUNT, steady_count);
	if (steady_count == 0) {
		doubt_steady(work, out);
		return;
	}
	tsi_fact_int(out, STEADY_MALLOC_COUNT, work->steady[CALL_MALLOC].count);
	tsi_fact_int(out, STEADY_FREE_COUNT, work->steady[CALL_FREE].count);
	tsi_fact_int(out, STEADY_MALLOC_NS, work->steady[CALL_MALLOC].total_ns);
	tsi_fact_int(out, STEADY_FREE_NS, work->steady[CALL_FREE].total_ns);
	tsi_fact_int(out, ALLOCATING_STEP_COUNT, allocating_count);
}

static void set_facts(const struct work *work, struct fact_sheet *out)
{
	const struct calls *by_kind = work->by_kind;
	int64_t launch_count = 0, launch_ns = 0;

	for (uint8_t kind = 0; kind < CALL_KIND_COUNT; kind++) {
		if (!tsi_is_launch_call(kind))
			continue;
		launch_count += by_kind[kind].count;
		tsi_sum(&launch_ns, by_kind[kind].total_ns);
	}
	tsi_fact_int(out, LAUNCH_COUNT, launch_count);
	tsi_fact_int(out, CAPTURED_COUNT, work->timeline->captured.count);
	if (work->timeline->captured.is_all)
		tsi_fact_flag(out, IS_CAPTURE, true);
	tsi_fact_int(out, LAUNCH_NS, launch_ns);
	tsi_fact_ratio(out, QUEUED_RATIO, work->queued_count, work->linked_count);
	tsi_fact_ratio(out, HOST_BOUND_RATIO, work->host_idle_ns, work->known_idle_ns);
	tsi_fact_int(out, SYNC_COUNT, by_kind[CALL_SYNC].count);
	tsi_fact_int(out, SYNC_NS, by_kind[CALL_SYNC].total_ns);
	tsi_fact_int(out, MALLOC_COUNT, by_kind[CALL_MALLOC].count);
	tsi_fact_int(out, MALLOC_NS, by_kind[CALL_MALLOC].total_ns);
	tsi_fact_int(out, FREE_COUNT, by_kind[CALL_FREE].count);
	tsi_fact_int(out, FREE_NS, by_kind[CALL_FREE].total_ns);
	set_step_facts(work, out);
}

static void fill_launches(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work;

	work_init(&work, scope, tsi_sheet_scratch(out));
	if (!work.by_name || !work.delays_ns || !work.allocates)
		return;
	collect_calls(&work);
	for (uint32_t i = 0; i < scope->trace->device_count; i++)
		collect_device(&work, &scope->trace->devices[i]);
	set_facts(&work, out);
	set_delays(&work, out);
	add_names(&work, out);
	add_syncs(&work, out);
}

const struct analyzer tsi_analyzer_launches = {
	.def = {
		.id = "launches",
		.summary = "launch calls, and calls that stall the host",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with launch calls",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_launches,
};
