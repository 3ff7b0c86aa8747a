/* SPDX-License-Identifier: MIT */
/*
 * How busy the devices were: the timeline's unions against the device's span,
 * the idle intervals by size, and how much launched work waited in queues.
 * The trace's figures are the sums of its devices' own.
 */
#include "analyze/facts.h"

#include "analyze/shared/reliability.h"
#include "base/sum.h"
#include "comm/latch.h"

#define FACTS(X)                                                                                   \
	X(SPAN_NS, "span_ns", NS, "first start to last end of the device's events")                \
	X(BUSY_NS, "busy_ns", NS, "time in which anything runs")                                   \
	X(IDLE_NS, "idle_ns", NS, "span less busy")                                                \
	X(COMPUTE_NS, "compute_ns", NS, "time in which a compute kernel runs")                     \
	X(COMM_NS, "comm_ns", NS, "time in which a communication kernel runs")                     \
	X(COPY_NS, "copy_ns", NS, "time in which a copy or fill runs")                             \
	X(UTILISATION_RATIO, "utilisation_ratio", RATIO, "busy ÷ span")                            \
	X(CONCURRENCY, "concurrency", NUMBER,                                                      \
	  "sum of the events' durations ÷ busy: how many run at once")                             \
	X(EVENT_COUNT, "event_count", COUNT, "kernels, copies and fills")                          \
	X(EVENT_NS, "event_ns", NS, "sum of their durations")                                      \
	X(QUEUE_MEAN, "queue_mean", NUMBER,                                                        \
	  "events that are launched and have not started, mean over the span")                     \
	X(QUEUE_MAX, "queue_max", COUNT, "the most of them at one time")                           \
	X(MEMORY_BYTES, "memory_max_bytes", BYTES,                                                 \
	  "memory of the device; of several devices that of the smallest")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define IDLE_COLUMNS(X)                                                                            \
	X(IDLE_UPPER_NS, "upper_ns", NS, "intervals shorter than this; null: longer")              \
	X(IDLE_COUNT, "count", COUNT, "idle intervals")                                            \
	X(IDLE_TOTAL_NS, "total_ns", NS, "their time")                                             \
	X(IDLE_SHARE_RATIO, "share_ratio", RATIO, "of all idle time")

TSI_FACT_LIST(enum idle_column, idle_columns, IDLE_COLUMNS);

#define TABLES(X) X(IDLE_HISTOGRAM, "idle_histogram", idle_columns, "idle intervals by length")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Upper ends of the size classes: 1 µs, 10 µs … 1 s, and what is longer. */
static const int64_t idle_uppers_ns[] = {
	1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, INT64_MAX,
};

struct totals {
	int64_t span_ns, busy_ns, compute_ns, comm_ns, copy_ns, event_ns;
	int64_t event_count;
	int64_t idle_count[TSI_COUNT_OF(idle_uppers_ns)], idle_ns[TSI_COUNT_OF(idle_uppers_ns)];
	int64_t queued_ns;    /* sum over events of start less launch */
	int64_t queued_count; /* events with a launch */
	int64_t queue_max;
};

static void add_idle(struct totals *totals, int64_t idle_ns)
{
	size_t size = 0;

	while (idle_ns >= idle_uppers_ns[size])
		size++;
	totals->idle_count[size]++;
	tsi_sum(&totals->idle_ns[size], idle_ns);
}

/* Adds the gaps between events, which come by start; empty events do not end a gap. */
static void add_events(struct totals *totals, const struct spans *spans,
		       const struct device *device)
{
	int64_t busy_until_ns = INT64_MAX; /* nothing ran yet: there is no gap before the first */

	totals->event_count += device->row_count;
	for (uint32_t i = 0; i < device->row_count; i++) {
		int64_t start_ns = tsi_start_ns(spans, device->rows[i]);
		int64_t dur_ns = tsi_dur_ns(spans, device->rows[i]);

		if (dur_ns <= 0)
			continue;
		tsi_sum(&totals->event_ns, dur_ns);
		if (start_ns > busy_until_ns)
			add_idle(totals, start_ns - busy_until_ns);
		if (busy_until_ns == INT64_MAX || start_ns + dur_ns > busy_until_ns)
			busy_until_ns = start_ns + dur_ns;
	}
}

static void add_activity(struct totals *totals, const struct analysis_scope *scope, uint32_t device)
{
	const struct device_activity *activity = &scope->timeline->activity[device];

	tsi_sum(&totals->span_ns, activity->span_end_ns - activity->span_start_ns);
	tsi_sum(&totals->busy_ns, activity->busy_ns);
	tsi_sum(&totals->compute_ns, tsi_intervals_length(&activity->compute));
	tsi_sum(&totals->comm_ns, tsi_intervals_length(&activity->comm));
	tsi_sum(&totals->copy_ns, tsi_intervals_length(&activity->copy));
	add_events(totals, &scope->trace->spans, &scope->trace->devices[device]);
}

/* When an event with a launch call was launched; clocks differ a little: then it did not wait. */
static int64_t launch_of(const struct tscope_trace *trace, uint32_t row, uint32_t call)
{
	int64_t start_ns = tsi_start_ns(&trace->spans, row);
	int64_t launch_ns = tsi_start_ns(&trace->spans, call);

	return launch_ns > start_ns ? start_ns : launch_ns;
}

/* Lists the launches of a device and adds up how long what they launched was queued. */
static size_t collect_queue(struct totals *totals, int64_t *launches,
			    const struct tscope_trace *trace, const struct device *device,
			    int64_t span_start_ns)
{
	size_t count = 0;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i], call = tsi_device_event(trace, row)->call;
		if (call == NO_ROW)
			continue;
		int64_t launch_ns = launch_of(trace, row, call);
		launches[count++] = launch_ns;
		if (launch_ns < span_start_ns)
			launch_ns = span_start_ns;
		tsi_sum(&totals->queued_ns, tsi_start_ns(&trace->spans, row) - launch_ns);
	}
	return count;
}

/*
 * The queue grows by one where a launch call starts and shrinks where its
 * event does, so its length at the k-th launch is k less the events that have
 * started by then. launches is sorted; starts come in order from the device.
 */
static int64_t longest_queue(const int64_t *launches, size_t count,
			     const struct tscope_trace *trace, const struct device *device)
{
	size_t launched = 0, started = 0, longest = 0;

	for (uint32_t i = 0; i < device->row_count; i++) {
		int64_t start_ns = tsi_start_ns(&trace->spans, device->rows[i]);
		if (tsi_device_event(trace, device->rows[i])->call == NO_ROW)
			continue;
		/* All that was launched before this event started was queued with it. */
		while (launched < count && launches[launched] < start_ns)
			launched++;
		if (launched > started && launched - started > longest)
			longest = launched - started;
		started++;
	}
	return (int64_t)longest;
}

/* launches: room for those of the device. */
static void add_queue(struct totals *totals, const struct analysis_scope *scope, uint32_t device,
		      int64_t *launches, struct arena *scratch)
{
	const struct device *rows = &scope->trace->devices[device];
	size_t count = collect_queue(totals, launches, scope->trace, rows,
				     scope->timeline->activity[device].span_start_ns);

	tsi_latch_sort_numbers(scratch, launches, count);
	int64_t longest = longest_queue(launches, count, scope->trace, rows);
	if (longest > totals->queue_max)
		totals->queue_max = longest;
	totals->queued_count += (int64_t)count;
}

static struct totals sum_up(const struct analysis_scope *scope, struct arena *scratch)
{
	struct totals totals = { 0 };
	size_t most = 0;

	for (uint32_t device = scope->first_device; device < scope->end_device; device++)
		if (scope->trace->devices[device].row_count > most)
			most = scope->trace->devices[device].row_count;
	int64_t *launches = tsi_arena_new(scratch, most, sizeof(*launches));
	for (uint32_t device = scope->first_device; launches && device < scope->end_device;
	     device++) {
		add_activity(&totals, scope, device);
		add_queue(&totals, scope, device, launches, scratch);
	}
	return totals;
}

static void add_histogram(const struct totals *totals, struct fact_sheet *out)
{
	for (size_t i = 0; i < TSI_COUNT_OF(idle_uppers_ns); i++) {
		if (totals->idle_count[i] == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, IDLE_HISTOGRAM);
		if (idle_uppers_ns[i] != INT64_MAX)
			cells[IDLE_UPPER_NS] = tsi_int(idle_uppers_ns[i]);
		cells[IDLE_COUNT] = tsi_int(totals->idle_count[i]);
		cells[IDLE_TOTAL_NS] = tsi_int(totals->idle_ns[i]);
		cells[IDLE_SHARE_RATIO] =
			tsi_ratio(totals->idle_ns[i], totals->span_ns - totals->busy_ns);
	}
}

static void put_memory(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	int64_t least_bytes = 0;

	for (uint32_t i = scope->first_device; i < scope->end_device; i++) {
		uint32_t properties = trace->devices[i].properties;
		int64_t bytes =
			properties == NO_ROW ? 0 : trace->device_properties[properties].total_bytes;
		if (bytes <= 0)
			return;
		least_bytes = least_bytes == 0 || bytes < least_bytes ? bytes : least_bytes;
	}
	if (least_bytes > 0)
		tsi_fact_int(out, MEMORY_BYTES, least_bytes);
}

static void fill_device_busy(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct totals totals = sum_up(scope, tsi_sheet_scratch(out));

	tsi_fact_int(out, SPAN_NS, totals.span_ns);
	tsi_fact_int(out, BUSY_NS, totals.busy_ns);
	tsi_fact_int(out, IDLE_NS, totals.span_ns - totals.busy_ns);
	tsi_fact_int(out, COMPUTE_NS, totals.compute_ns);
	tsi_fact_int(out, COMM_NS, totals.comm_ns);
	tsi_fact_int(out, COPY_NS, totals.copy_ns);
	tsi_fact_ratio(out, UTILISATION_RATIO, totals.busy_ns, totals.span_ns);
	tsi_fact_ratio(out, CONCURRENCY, totals.event_ns, totals.busy_ns);
	tsi_fact_int(out, EVENT_COUNT, totals.event_count);
	tsi_fact_int(out, EVENT_NS, totals.event_ns);
	if (totals.queued_count) {
		tsi_fact_ratio(out, QUEUE_MEAN, totals.queued_ns, totals.span_ns);
		tsi_fact_int(out, QUEUE_MAX, totals.queue_max);
	}
	put_memory(scope, out);
	tsi_judge_device_time(scope->timeline, out);
	add_histogram(&totals, out);
}

const struct analyzer tsi_analyzer_device_busy = {
	.def = {
		.id = "device_busy",
		.summary = "how much of the time the devices run, and what",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.per_device = true,
		.needs = "a trace with device activity",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_device_busy,
};
