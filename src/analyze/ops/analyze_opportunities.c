/* SPDX-License-Identifier: MIT */
/*
 * Device time that known remedies could win: launching less, fusing, another memory layout,
 * batching copies, bucketing collectives. One pass over the device events of the steps that
 * count, in the order of time. Where events overlap, only the time that an event adds to the
 * device's busy time counts, so no sum exceeds the wall time.
 */
#include "analyze/facts.h"

#include "analyze/ops/kernel_kind.h"
#include "analyze/ops/kernel_vote.h"
#include "analyze/shared/reliability.h"
#include "analyze/trace/source_frame.h"
#include "base/attributes.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "model/trace/device_rows.h"

enum {
	SHORT_NS = 10000,          /* a launch takes the host about as long */
	NEAR_GAP_NS = 100000,      /* longer gaps have other causes than the events around them */
	SMALL_COPY_BYTES = 65536,  /* below, a copy takes no longer than its launch */
	TINY_COMM_BYTES = 1048576, /* below, latency and not bandwidth decides */
	TINY_COMM_NS = 1000000,    /* of collectives of unknown size */
};

/* Remedies, each for a class of device events. */
enum remedy {
	FUSE,
	LAYOUT,
	SMALL_COPY,
	BUCKET,
	OPTIMIZER,
	LAUNCH_LESS, /* the gaps between short kernels */
	REMEDY_COUNT,
	NO_REMEDY = REMEDY_COUNT
};

static const char *const remedy_names[REMEDY_COUNT] = {
	[FUSE] = "fuse",     [LAYOUT] = "layout",       [SMALL_COPY] = "small_copy",
	[BUCKET] = "bucket", [OPTIMIZER] = "optimizer", [LAUNCH_LESS] = "launch_less",
};

#define FACTS(X)                                                                                   \
	X(WALL_NS, "wall_total_ns", NS, "wall time of the counted steps × devices")                \
	X(STEP_COUNT, "step_count", COUNT, "counted steps × devices")                              \
	X(SHORT_GAP_COUNT, "short_gap_count", COUNT,                                               \
	  "idle gaps of at most 100 µs between two kernels, both shorter than 10 µs")              \
	X(SHORT_GAP_NS, "short_gap_total_ns", NS, "sum of these gaps")                             \
	X(SHORT_GAP_HOST_NS, "short_gap_host_total_ns", NS,                                        \
	  "of them, before the launch call of the second kernel returned")                         \
	X(SHORT_GAP_GRAPH_NS, "short_gap_graph_total_ns", NS,                                      \
	  "of them, inside replayed CUDA or HIP graphs")                                           \
	X(FUSIBLE_COUNT, "fusible_count", COUNT,                                                   \
	  "elementwise, copy and reduction kernels of at least 10 µs, outside the optimizer, "    \
	  "that no compiler made")                                                                 \
	X(FUSIBLE_NS, "fusible_total_ns", NS, "device time of these")                              \
	X(FUSIBLE_SAVING_NS, "fusible_saving_total_ns", NS,                                        \
	  "of it, beyond the longest kernel of each uninterrupted run on a stream")                \
	X(LAYOUT_COUNT, "layout_count", COUNT, "kernels that convert between NCHW and NHWC")       \
	X(LAYOUT_NS, "layout_total_ns", NS, "device time of these")                                \
	X(SMALL_COPY_COUNT, "small_copy_count", COUNT, "memory copies of at most 64 KiB")          \
	X(SMALL_COPY_NS, "small_copy_total_ns", NS,                                                \
	  "device time of these while nothing else runs")                                          \
	X(SMALL_COPY_GAP_NS, "small_copy_gap_total_ns", NS,                                        \
	  "idle gaps of at most 100 µs directly before them")                                      \
	X(TINY_COMM_COUNT, "tiny_comm_count", COUNT,                                               \
	  "collectives of at most 1 MiB or, of unknown size, shorter than 1 ms")                   \
	X(TINY_COMM_EXPOSED_NS, "tiny_comm_exposed_total_ns", NS,                                  \
	  "time of these that no computation hides")                                               \
	X(OPTIMIZER_COUNT, "optimizer_count", COUNT, "kernels that the optimizer launched")        \
	X(OPTIMIZER_GROUPED_COUNT, "optimizer_grouped_count", COUNT,                               \
	  "of them, that update many tensors at once (foreach, fused)")                            \
	X(OPTIMIZER_NS, "optimizer_total_ns", NS, "device time of the optimizer's kernels")        \
	X(OPTIMIZER_SAVING_NS, "optimizer_saving_total_ns", NS,                                    \
	  "of it, beyond the operator whose kernels of at least 10 µs take longest: one kernel "  \
	  "for all would move no fewer bytes")                                                     \
	X(OPTIMIZER_GAP_NS, "optimizer_gap_total_ns", NS,                                          \
	  "idle gaps of at most 100 µs directly before them")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(REMEDY, "remedy", TEXT,                                                                  \
	  "fuse, layout, small_copy, bucket (collectives), optimizer, launch_less (short gaps)")   \
	X(OPERATOR, "operator", TEXT, "that launched the events, the innermost")                   \
	X(EVENT, "event", TEXT, "the longest of them")                                             \
	X(EVENT_COUNT, "count", COUNT, "device events in the counted steps")                       \
	X(EVENT_NS, "ns", NS, "their device time")                                                 \
	X(START_NS, "start_ns", NS, "when the longest of them starts")                             \
	X(LONGEST_NS, "longest_ns", NS, "its duration")                                            \
	X(MODULE, "module", TEXT,                                                                  \
	  "the innermost modules that launched it, as in idle.gaps, if it took 1 % of the most")   \
	X(SOURCE, "source", TEXT, "the function that launched it, as in idle.gaps")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_OPERATOR, "by_operator", columns,                                                     \
	  "device events that a remedy helps, by what launched them")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Properties of a kernel by its name. */
enum { NAME_KNOWN = 1 << 0, NAME_FUSIBLE = 1 << 1, NAME_LAYOUT = 1 << 2, NAME_GROUPED = 1 << 3 };

struct helped {
	int64_t count, ns, gap_ns;
};

struct culprit {
	int64_t count, ns;
	int64_t long_ns; /* of ns: in kernels of SHORT_NS or more, whose bytes take the time */
	int64_t start_ns, longest_ns;
	uint32_t longest_row;
};

/* Fusible kernels that follow each other on a stream. */
struct chain {
	int64_t total_ns, longest_ns;
};

/* A device event, with what is asked of it more than once. */
struct event {
	uint32_t row;
	const struct span_kind *kind;
	struct interval time;
};

struct work {
	const struct analysis_scope *scope;
	const struct tscope_trace *trace;
	uint8_t *names;           /* by name id: NAME_… */
	struct chain *chains;     /* by track */
	struct pair_set culprits; /* (remedy, name id of the operator or 0): struct culprit */
	struct helped sums[REMEDY_COUNT];
	struct helped short_gaps; /* ns: the host's part */
	int64_t short_gap_graph_ns, saving_ns, grouped_count;
	struct event last; /* of the device at hand: what ended last so far; kind NULL: nothing */
	uint32_t step;     /* that was found last */
};

#define WORD(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

static const struct str layout_words[] = {
	WORD("nchwtonhwc"),          WORD("nhwctonchw"),          WORD("batched_transpose"),
	WORD("transpose_nchw2cnhw"), WORD("transpose_cnhw2nchw"),
};

static const struct str grouped_words[] = {
	WORD("multi_tensor"), WORD("foreach"),
	WORD("fused"), /* "triton_poi_fused_…" as well: fused already */
};

static bool has_word(struct str name, const struct letter_pairs *pairs, const struct str *words,
		     size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tsi_may_hold(pairs, words[i]) && tsi_str_find_nocase(name, words[i]) >= 0)
			return true;
	return false;
}

static uint8_t read_name(const struct work *work, uint32_t name)
{
	struct str text = tsi_intern_text(&work->trace->names, name);
	uint8_t kind = work->scope->kernel_kinds[name];
	struct letter_pairs pairs;

	tsi_letter_pairs_of(&pairs, text);
	if (has_word(text, &pairs, layout_words, TSI_COUNT_OF(layout_words)))
		return NAME_KNOWN | NAME_LAYOUT;
	if (has_word(text, &pairs, grouped_words, TSI_COUNT_OF(grouped_words)))
		return NAME_KNOWN | NAME_GROUPED;
	if (kind == KERNEL_ELEMENTWISE || kind == KERNEL_COPY || kind == KERNEL_REDUCTION)
		return NAME_KNOWN | NAME_FUSIBLE;
	return NAME_KNOWN;
}

static inline uint8_t ask_name(struct work *work, uint32_t name)
{
	if (tsi_unlikely(!work->names[name]))
		work->names[name] = read_name(work, name);
	return work->names[name];
}

static int64_t copy_bytes(const struct tscope_trace *trace, uint32_t row)
{
	int64_t bytes = tsi_work_shape(trace, row)->bytes;
	uint32_t call = tsi_device_event(trace, row)->call;

	return bytes != NO_NUMBER || call == NO_ROW ? bytes : tsi_call_bytes(trace, call);
}

static bool is_tiny(const struct tscope_trace *trace, uint32_t row)
{
	int64_t bytes = tsi_collective_bytes(tsi_collective_of(trace, row));

	if (bytes != NO_NUMBER)
		return bytes <= TINY_COMM_BYTES;
	return tsi_dur_ns(&trace->spans, row) < TINY_COMM_NS;
}

static inline enum remedy remedy_of_kernel(struct work *work, const struct event *event)
{
	uint8_t name = ask_name(work, event->kind->name);

	if (tsi_device_event(work->trace, event->row)->phase == PHASE_OPTIMIZER) {
		work->grouped_count += (name & NAME_GROUPED) != 0;
		return OPTIMIZER;
	}
	if (name & NAME_LAYOUT)
		return LAYOUT;
	if (name & NAME_FUSIBLE && event->time.end_ns - event->time.start_ns >= SHORT_NS)
		return FUSE;
	return NO_REMEDY;
}

static inline enum remedy remedy_of(struct work *work, const struct event *event)
{
	uint32_t row = event->row;

	if (tsi_likely(event->kind->span_class == TSCOPE_SPAN_KERNEL))
		return remedy_of_kernel(work, event);
	switch (event->kind->span_class) {
	case TSCOPE_SPAN_COMM:
		return is_tiny(work->trace, row) ? BUCKET : NO_REMEDY;
	case TSCOPE_SPAN_MEMCPY: {
		int64_t bytes = copy_bytes(work->trace, row);
		return bytes >= 0 && bytes <= SMALL_COPY_BYTES ? SMALL_COPY : NO_REMEDY;
	}
	default:
		return NO_REMEDY;
	}
}

/* An event, or the gap before it, of which so many ns count. */
static void blame(struct work *work, enum remedy remedy, uint32_t row, struct interval time,
		  int64_t ns)
{
	const struct spans *spans = &work->trace->spans;
	uint32_t op = tsi_launching_op(work->trace, row);
	uint32_t number = tsi_pair_set_add(&work->culprits, (uint32_t)remedy,
					   op == NO_ROW ? 0 : tsi_name_id(spans, op));

	if (number == UINT32_MAX)
		return;
	struct culprit *culprit = (struct culprit *)work->culprits.items + number;
	if (culprit->count++ == 0 || time.end_ns - time.start_ns > culprit->longest_ns) {
		culprit->longest_row = row;
		culprit->start_ns = time.start_ns;
		culprit->longest_ns = time.end_ns - time.start_ns;
	}
	tsi_sum(&culprit->ns, ns);
	if (time.end_ns - time.start_ns >= SHORT_NS)
		tsi_sum(&culprit->long_ns, ns);
}

/* A run of fusible kernels ended: one kernel in its place takes at least as its longest. */
static void end_chain(struct work *work, struct chain *chain)
{
	tsi_sum(&work->saving_ns, chain->total_ns - chain->longest_ns);
	*chain = (struct chain){ 0 };
}

static inline void follow_chain(struct work *work, const struct span_kind *kind, enum remedy remedy,
				int64_t ns)
{
	struct chain *chain = &work->chains[kind->track];

	if (remedy != FUSE) {
		if (chain->total_ns == 0)
			return;
		/* Too short to matter, yet it would be fused with the others. */
		if (!(ask_name(work, kind->name) & NAME_FUSIBLE))
			end_chain(work, chain);
		return;
	}
	tsi_sum(&chain->total_ns, ns);
	if (ns > chain->longest_ns)
		chain->longest_ns = ns;
}

static inline bool is_short_kernel(const struct event *event)
{
	return event->kind->span_class == TSCOPE_SPAN_KERNEL &&
	       event->time.end_ns - event->time.start_ns < SHORT_NS;
}

/* The idle time since the last event, as far as it is near; 0 where there is none. */
static inline int64_t near_gap(const struct work *work, int64_t start_ns)
{
	int64_t gap_ns = start_ns - work->last.time.end_ns;

	return work->last.kind && gap_ns > 0 && gap_ns <= NEAR_GAP_NS ? gap_ns : 0;
}

static void add_short_gap(struct work *work, uint32_t row, int64_t gap_ns)
{
	const struct tscope_trace *trace = work->trace;
	const struct device_event *event = tsi_device_event(trace, row);
	int64_t start_ns = work->last.time.end_ns;

	work->short_gaps.count++;
	tsi_sum(&work->short_gaps.gap_ns, gap_ns);
	blame(work, LAUNCH_LESS, row, (struct interval){ start_ns, start_ns + gap_ns }, gap_ns);
	if (event->graph)
		tsi_sum(&work->short_gap_graph_ns, gap_ns);
	if (event->call == NO_ROW)
		return;
	int64_t host_ns = tsi_span_end(trace, event->call) - work->last.time.end_ns;
	if (host_ns > 0)
		tsi_sum(&work->short_gaps.ns, host_ns < gap_ns ? host_ns : gap_ns);
}

/* The device time that only this event fills, of those that began before or with it. */
static int64_t own_ns(const struct work *work, uint32_t device, struct interval time,
		      enum remedy remedy)
{
	const struct device_activity *activity = &work->scope->timeline->activity[device];
	int64_t start_ns = time.start_ns, end_ns = time.end_ns;

	if (work->last.kind && start_ns < work->last.time.end_ns)
		start_ns = work->last.time.end_ns;
	if (start_ns >= end_ns)
		return 0;
	if (remedy != BUCKET && remedy != SMALL_COPY)
		return end_ns - start_ns;
	return end_ns - start_ns - tsi_intervals_within(&activity->compute, start_ns, end_ns);
}

static inline bool is_counted(struct work *work, int64_t start_ns)
{
	const struct tscope_timeline *timeline = work->scope->timeline;
	uint32_t step = tsi_timeline_step_near(timeline, start_ns, &work->step);

	return step != NO_ROW && timeline->steps[step].mark == TSCOPE_STEP_COUNTED;
}

static inline void add_event(struct work *work, uint32_t device, const struct event *event)
{
	enum remedy remedy = remedy_of(work, event);
	int64_t ns = remedy == NO_REMEDY ? 0 : own_ns(work, device, event->time, remedy);
	int64_t gap_ns = near_gap(work, event->time.start_ns);

	if (gap_ns && is_short_kernel(event) && is_short_kernel(&work->last))
		add_short_gap(work, event->row, gap_ns);
	follow_chain(work, event->kind, remedy, ns);
	if (remedy == NO_REMEDY)
		return;
	work->sums[remedy].count++;
	tsi_sum(&work->sums[remedy].ns, ns);
	tsi_sum(&work->sums[remedy].gap_ns, gap_ns);
	blame(work, remedy, event->row, event->time, ns);
}

static void add_device(struct work *work, uint32_t device)
{
	const struct tscope_trace *trace = work->trace;
	const struct span_times times = tsi_span_times(&trace->spans);

	work->last = (struct event){ 0 };
	for (uint32_t i = 0; i < trace->devices[device].row_count; i++) {
		uint32_t row = trace->devices[device].rows[i];
		int64_t start_ns = tsi_start_of(times, row);
		struct event event = { row,
				       &trace->spans.kinds[times.kind[row]],
				       { start_ns, start_ns + tsi_dur_of(times, row) } };
		if (is_counted(work, start_ns))
			add_event(work, device, &event);
		if (!work->last.kind || event.time.end_ns > work->last.time.end_ns)
			work->last = event;
	}
}

static void list_culprits(const struct work *work, struct fact_sheet *out)
{
	struct frame_sites sites = tsi_frame_sites(work->trace, LAUNCH_SITE_ROWS, out);
	int64_t least_ns = 0; /* 1 % of the most: others are not asked for */

	for (size_t i = 0; i < work->culprits.count; i++) {
		const struct culprit *culprit = (const struct culprit *)work->culprits.items + i;
		least_ns = culprit->ns / 100 > least_ns ? culprit->ns / 100 : least_ns;
	}

	for (size_t i = 0; i < work->culprits.count; i++) {
		const struct pair *pair = &work->culprits.pairs[i];
		const struct culprit *culprit = (const struct culprit *)work->culprits.items + i;
		uint32_t row = culprit->longest_row;
		struct tscope_value *cells = tsi_table_row(out, BY_OPERATOR);
		cells[REMEDY] = tsi_text(remedy_names[pair->first]);
		if (pair->second)
			cells[OPERATOR] =
				tsi_text(tsi_intern_text(&work->trace->names, pair->second).data);
		cells[EVENT] = tsi_text(tsi_span_name(work->trace, row).data);
		cells[EVENT_COUNT] = tsi_int(culprit->count);
		cells[EVENT_NS] = tsi_int(culprit->ns);
		cells[START_NS] = tsi_int(culprit->start_ns);
		cells[LONGEST_NS] = tsi_int(culprit->longest_ns);
		if (culprit->ns >= least_ns)
			tsi_put_launch_site(&sites, row, &cells[MODULE], &cells[SOURCE], out);
	}
	tsi_table_order(out, BY_OPERATOR, EVENT_NS, EVENT);
}

/*
 * Each operator passes over the tensors of all parameters, and so does a fused optimizer, once. Its
 * kernels without an operator may be of several passes.
 */
static int64_t optimizer_saving(const struct work *work)
{
	int64_t longest_ns = 0;

	for (size_t i = 0; i < work->culprits.count; i++) {
		const struct pair *pair = &work->culprits.pairs[i];
		const struct culprit *culprit = (const struct culprit *)work->culprits.items + i;
		if (pair->first == OPTIMIZER && pair->second && culprit->long_ns > longest_ns)
			longest_ns = culprit->long_ns;
	}
	return work->sums[OPTIMIZER].ns - longest_ns;
}

static void set_wall(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	int64_t wall_ns = 0, step_count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		for (uint32_t device = 0; device < scope->trace->device_count; device++)
			tsi_sum(&wall_ns, timeline->steps[i].wall_ns);
		step_count += scope->trace->device_count;
	}
	tsi_fact_int(out, WALL_NS, wall_ns);
	tsi_fact_int(out, STEP_COUNT, step_count);
}

static void set_facts(const struct work *work, struct fact_sheet *out)
{
	const struct helped *sums = work->sums;

	set_wall(work->scope, out);
	tsi_fact_int(out, SHORT_GAP_COUNT, work->short_gaps.count);
	tsi_fact_int(out, SHORT_GAP_NS, work->short_gaps.gap_ns);
	tsi_fact_int(out, SHORT_GAP_HOST_NS, work->short_gaps.ns);
	tsi_fact_int(out, SHORT_GAP_GRAPH_NS, work->short_gap_graph_ns);
	tsi_fact_int(out, FUSIBLE_COUNT, sums[FUSE].count);
	tsi_fact_int(out, FUSIBLE_NS, sums[FUSE].ns);
	tsi_fact_int(out, FUSIBLE_SAVING_NS, work->saving_ns);
	tsi_fact_int(out, LAYOUT_COUNT, sums[LAYOUT].count);
	tsi_fact_int(out, LAYOUT_NS, sums[LAYOUT].ns);
	tsi_fact_int(out, SMALL_COPY_COUNT, sums[SMALL_COPY].count);
	tsi_fact_int(out, SMALL_COPY_NS, sums[SMALL_COPY].ns);
	tsi_fact_int(out, SMALL_COPY_GAP_NS, sums[SMALL_COPY].gap_ns);
	tsi_fact_int(out, TINY_COMM_COUNT, sums[BUCKET].count);
	tsi_fact_int(out, TINY_COMM_EXPOSED_NS, sums[BUCKET].ns);
	tsi_fact_int(out, OPTIMIZER_COUNT, sums[OPTIMIZER].count);
	tsi_fact_int(out, OPTIMIZER_GROUPED_COUNT, work->grouped_count);
	tsi_fact_int(out, OPTIMIZER_NS, sums[OPTIMIZER].ns);
	tsi_fact_int(out, OPTIMIZER_SAVING_NS, optimizer_saving(work));
	tsi_fact_int(out, OPTIMIZER_GAP_NS, sums[OPTIMIZER].gap_ns);
	tsi_judge_device_time(work->scope->timeline, out);
}

static void fill_opportunities(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *scratch = tsi_sheet_scratch(out);
	const struct tscope_trace *trace = scope->trace;
	struct work work = {
		.scope = scope,
		.trace = trace,
		.names = tsi_arena_new(scratch, trace->names.count, 1),
		.chains = tsi_arena_new(scratch, trace->track_count, sizeof(*work.chains)),
		.culprits = { .arena = scratch, .item_bytes = sizeof(struct culprit) },
	};

	if (!trace->device_count || !work.names || !work.chains)
		return;
	for (uint32_t device = 0; device < trace->device_count; device++)
		add_device(&work, device);
	for (uint32_t track = 0; track < trace->track_count; track++)
		end_chain(&work, &work.chains[track]);
	list_culprits(&work, out);
	set_facts(&work, out);
}

const struct analyzer tsi_analyzer_opportunities = {
	.def = {
		.id = "opportunities",
		.summary = "device time that known remedies could win",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with device activity and a complete step",
		.total = TSCOPE_TOTAL_STEPS,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_opportunities,
};
