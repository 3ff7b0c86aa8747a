/* SPDX-License-Identifier: MIT */
/*
 * Contents and reliability of the trace: the counters of reading, building and checking it as
 * facts, and data that was not recorded, with the option to turn on next time.
 */
#include "analyze/facts.h"

#include "analyze/shared/reliability.h"
#include "base/sum.h"
#include "comm/collective_kind.h"
#include "model/trace/device_rows.h"

#define FACTS(X)                                                                                   \
	X(PATH, "path", TEXT, "of the trace")                                                      \
	X(VERDICT, "verdict", TEXT,                                                                \
	  "sound; damaged: the input ends early; doubtful: device times cannot be believed")       \
	X(DOUBT, "doubt", TEXT, "why device times cannot be believed")                             \
	X(EVENT_COUNT, "event_count", COUNT, "elements of traceEvents")                            \
	X(DROPPED_COUNT, "dropped_count", COUNT, "of these, lost to every figure")                 \
	X(SPAN_COUNT, "span_count", COUNT, "of these, timed work that is analysed")                \
	X(CAPTURE_NS, "capture_ns", NS, "length of the profiler's own span")                       \
	X(WORK_NS, "work_ns", NS, "first start to last end of all timed work")                     \
	X(PYTHON_FRAME_COUNT, "python_frame_count", COUNT,                                         \
	  "calls of Python functions, where the profiler recorded stacks")                         \
	X(DEVICE_EVENT_COUNT, "device_event_count", COUNT, "kernels, copies and fills")            \
	X(LINK_BASIS, "link_basis", TEXT,                                                          \
	  "how device events were bound to their launches: correlation, flow or External id; "     \
	  "several with their counts")                                                             \
	X(LINKED_BY_CORRELATION_COUNT, "linked_by_correlation_count", COUNT,                       \
	  "device events whose launch call has their correlation")                                 \
	X(LINKED_BY_FLOW_COUNT, "linked_by_flow_count", COUNT,                                     \
	  "of the others, those that a flow event leads to")                                       \
	X(LINKED_BY_EXTERNAL_ID_COUNT, "linked_by_external_id_count", COUNT,                       \
	  "of the rest, those with the External id of a call or an operator")                      \
	X(UNLINKED_COUNT, "unlinked_count", COUNT,                                                 \
	  "device events without a launch call or operator in the trace")                          \
	X(UNLINKED_DEVICE_RATIO, "unlinked_device_ratio", RATIO,                                   \
	  "their share of all device events' time")                                                \
	X(DEVICE_BEFORE_LAUNCH_COUNT, "device_before_launch_count", COUNT,                         \
	  "device events that start before their launch call")                                     \
	X(IMPOSSIBLE_COUNT, "impossible_count", COUNT,                                             \
	  "device events whose duration is impossible and was clipped")                            \
	X(IMPOSSIBLE_NS, "impossible_ns", NS, "time removed from them")                            \
	X(EMPTY_GRAPH_LAUNCH_COUNT, "empty_graph_launch_count", COUNT,                             \
	  "graph launches without a kernel")                                                       \
	X(SHORT_GRAPH_REPLAY_COUNT, "short_graph_replay_count", COUNT,                             \
	  "graph replays with fewer nodes than others of their graph: the profiler lost some")     \
	X(SHORT_GRAPH_REPLAY_MS, "short_graph_replay_ms", NUMBER,                                  \
	  "ms from the first work to the launch of the first of these: what comes later is "       \
	  "unreliable")                                                                            \
	X(ATTRIBUTED_BY_TIME_COUNT, "attributed_by_time_count", COUNT,                             \
	  "device events put in the step of their start, for want of a launch")                    \
	X(INCOMPLETE_STEP_COUNT, "incomplete_step_count", COUNT,                                   \
	  "steps cut by the end of the capture")                                                   \
	X(UNRECORDED_STEP_COUNT, "unrecorded_step_count", COUNT,                                   \
	  "steps left out because the trace lacks kernels that they launched")                     \
	X(OVERFLOW_FLAG, "overflow", FLAG, "VizTracer's ring buffer lost the oldest events")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define CATEGORY_COLUMNS(X)                                                                        \
	X(PHASE, "phase", TEXT, "ph of the events")                                                \
	X(CATEGORY, "category", TEXT, "cat of the events")                                         \
	X(CATEGORY_COUNT, "count", COUNT, "events")

TSI_FACT_LIST(enum category_column, category_columns, CATEGORY_COLUMNS);

#define DIAGNOSTIC_COLUMNS(X)                                                                      \
	X(DIAGNOSTIC_ID, "id", TEXT, "kind of what is odd")                                        \
	X(DIAGNOSTIC_EFFECT, "effect", TEXT, "dropped, repaired or noted")                         \
	X(DIAGNOSTIC_MEANING, "meaning", TEXT, "what is counted")                                  \
	X(DIAGNOSTIC_COUNT, "count", COUNT, "how often")

TSI_FACT_LIST(enum diagnostic_column, diagnostic_columns, DIAGNOSTIC_COLUMNS);

#define MISSING_COLUMNS(X)                                                                         \
	X(MISSING_WHAT, "what", TEXT, "what the trace does not hold")                              \
	X(MISSING_NEEDED_BY, "needed_by", TEXT, "the figures that are missing for it")             \
	X(MISSING_ADVICE, "advice", TEXT, "how to record it")

TSI_FACT_LIST(enum missing_column, missing_columns, MISSING_COLUMNS);

#define TABLES(X)                                                                                  \
	X(CATEGORIES, "categories", category_columns, "what the file is made of")                  \
	X(DIAGNOSTICS, "diagnostics", diagnostic_columns, "what was odd about it")                 \
	X(MISSING, "missing", missing_columns, "what to record next time")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* Contents of the trace that decide on advice. */
struct contents {
	bool has_device_events, has_linked_event, has_cpu_ops, has_shapes;
	bool has_frames, has_memory, has_sync_events, has_steps;
	bool has_comm, has_comm_metadata;
};

static bool has_category(const struct tscope_trace *trace, const char *name)
{
	uint32_t id = tsi_intern_find(&trace->names, tsi_str_of(name));

	for (size_t i = 0; i < trace->category_count; i++)
		if (id != UINT32_MAX && trace->categories[i].name == id)
			return true;
	return false;
}

static struct contents look(const struct analysis_scope *scope)
{
	const struct tscope_trace *trace = scope->trace;
	struct contents contents = {
		.has_device_events = trace->device_event_count > 0,
		/* Operators dropped for a memory limit were recorded; a diagnostic counts them. */
		.has_cpu_ops = trace->cpu_op_count > 0 ||
			       trace->diagnostics[TSCOPE_DIAGNOSTIC_unkept_operator] > 0,
		.has_shapes = tsi_trace_has_shapes(trace),
		.has_frames = has_category(trace, "python_function") || trace->is_viztracer,
		.has_memory = has_category(trace, "cpu_instant_event"),
		.has_sync_events = has_category(trace, "cuda_sync"),
		.has_steps = scope->timeline->boundary != TSCOPE_BOUNDARY_WHOLE_TRACE,
	};

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		const struct device_event *event = tsi_device_event(trace, row);
		bool is_comm = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM;
		contents.has_linked_event |= event->call != NO_ROW;
		contents.has_comm |= is_comm;
		contents.has_comm_metadata |=
			is_comm && tsi_collective_has_metadata(tsi_collective_of(trace, row));
	}
	return contents;
}

static void add_missing(struct fact_sheet *out, bool is_missing, const char *what,
			const char *needed_by, const char *advice)
{
	if (!is_missing)
		return;
	struct tscope_value *cells = tsi_table_row(out, MISSING);
	cells[MISSING_WHAT] = tsi_text(what);
	cells[MISSING_NEEDED_BY] = tsi_text(needed_by);
	cells[MISSING_ADVICE] = tsi_text(advice);
}

/* Only for PyTorch's profiler: we know how to make it record more. */
static void add_all_missing(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct contents has = look(scope);
	bool is_cuda = has.has_device_events && has_category(scope->trace, "cuda_runtime") &&
		       !scope->trace->hip_runtime_version;
	const struct {
		bool is_missing;
		const char *what, *needed_by, *advice;
	} rows[] = {
		{ !has.has_device_events, "device activity",
		  "device_busy, overlap, kernels, copies",
		  "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])" },
		{ !has.has_cpu_ops, "operators", "operators, phases of the budget",
		  "profile(activities=[ProfilerActivity.CPU, ...])" },
		{ has.has_device_events && !has.has_linked_event && !scope->trace->call_count,
		  "launch calls", "launches, stalls of the budget",
		  "record CPU activity together with the device's, in one profile" },
		{ !has.has_steps, "step markers", "steps, step_time, budget by step",
		  "call prof.step() after each step, or name a span with --step-marker" },
		{ has.has_cpu_ops && !has.has_shapes, "input shapes", "operators.by_shape",
		  "profile(record_shapes=True)" },
		{ has.has_cpu_ops && !has.has_frames, "Python frames", "python",
		  "profile(with_stack=True)" },
		{ has.has_cpu_ops && !has.has_memory, "memory events", "memory over time",
		  "profile(profile_memory=True)" },
		{ is_cuda && !has.has_sync_events, "synchronisation events",
		  "dependencies between streams",
		  "_ExperimentalConfig(enable_cuda_sync_events=True)" },
		{ has.has_comm && !has.has_comm_metadata, "metadata of collectives",
		  "sizes and bandwidths of collectives, overlap by process group",
		  "PyTorch 2.4 or newer writes it with CPU activity" },
	};

	for (size_t i = 0; scope->trace->is_kineto && i < TSI_COUNT_OF(rows); i++)
		add_missing(out, rows[i].is_missing, rows[i].what, rows[i].needed_by,
			    rows[i].advice);
}

/* A phase is one character; its text must live as long as the analysis. */
static const char *phase_text(char phase)
{
	static const char *const texts[] = {
		"X", "B", "E", "M", "C", "i", "I", "s", "t", "f", "b", "n", "e", "P", "N", "O",
		"D", "R", "c", "v", "V", "S", "T", "p", "F", "G", "(", ")", "=", "a", "A",
	};

	for (size_t i = 0; i < TSI_COUNT_OF(texts); i++)
		if (*texts[i] == phase)
			return texts[i];
	return "?";
}

static void add_categories(const struct tscope_trace *trace, struct fact_sheet *out)
{
	for (size_t i = 0; i < trace->category_count; i++) {
		const struct category *category = &trace->categories[i];
		struct tscope_value *cells = tsi_table_row(out, CATEGORIES);
		cells[PHASE] = tsi_text(phase_text(category->phase));
		cells[CATEGORY] = tsi_text(tsi_intern_text(&trace->names, category->name).data);
		cells[CATEGORY_COUNT] = tsi_int((int64_t)category->count);
	}
	tsi_table_order(out, CATEGORIES, CATEGORY_COUNT, CATEGORY);
}

static void add_diagnostics(const struct tscope_trace *trace, struct fact_sheet *out)
{
	static const char *const effects[] = {
		[TSCOPE_EFFECT_DROPPED] = "dropped",
		[TSCOPE_EFFECT_REPAIRED] = "repaired",
		[TSCOPE_EFFECT_NOTED] = "noted",
	};

	for (int i = 0; i < TSCOPE_DIAGNOSTIC_COUNT; i++) {
		enum tscope_diagnostic kind = (enum tscope_diagnostic)i;
		if (trace->diagnostics[i] == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, DIAGNOSTICS);
		cells[DIAGNOSTIC_ID] = tsi_text(tscope_diagnostic_id(kind));
		cells[DIAGNOSTIC_EFFECT] = tsi_text(effects[tscope_diagnostic_effect(kind)]);
		cells[DIAGNOSTIC_MEANING] = tsi_text(tscope_diagnostic_text(kind));
		cells[DIAGNOSTIC_COUNT] = tsi_int((int64_t)trace->diagnostics[i]);
	}
}

static void set_link_facts(const struct tscope_trace *trace, struct fact_sheet *out)
{
	int64_t event_count = 0, total_ns = 0, unlinked_count = 0, unlinked_ns = 0;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		bool is_unlinked = tsi_launch_row(trace, row) == NO_ROW;
		int64_t dur_ns = tsi_dur_ns(&trace->spans, row);
		event_count++;
		unlinked_count += is_unlinked;
		tsi_sum(&total_ns, dur_ns);
		tsi_sum(&unlinked_ns, is_unlinked ? dur_ns : 0);
	}
	tsi_fact_int(out, PYTHON_FRAME_COUNT, (int64_t)trace->frame_count);
	tsi_fact_int(out, DEVICE_EVENT_COUNT, event_count);
	if (*trace->info.link_basis)
		tsi_fact_text(out, LINK_BASIS, trace->info.link_basis);
	for (int way = 0; way < LINK_WAY_COUNT; way++)
		tsi_fact_int(out, LINKED_BY_CORRELATION_COUNT + way,
			     (int64_t)trace->link_counts[way]);
	tsi_fact_int(out, UNLINKED_COUNT, unlinked_count);
	tsi_fact_ratio(out, UNLINKED_DEVICE_RATIO, unlinked_ns, total_ns);
}

static int64_t count_marked(const struct tscope_timeline *timeline, enum tscope_step_mark mark)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < timeline->step_count; i++)
		count += timeline->steps[i].mark == mark;
	return count;
}

static void set_facts(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	const uint64_t *diagnostics = trace->diagnostics;
	const char *doubt = tsi_device_time_doubt(scope->timeline);

	tsi_fact_text(out, PATH, trace->info.path);
	tsi_fact_text(out, VERDICT, trace->is_damaged ? "damaged" : doubt ? "doubtful" : "sound");
	if (doubt)
		tsi_fact_text(out, DOUBT, doubt);
	tsi_fact_int(out, EVENT_COUNT, (int64_t)trace->info.event_count);
	tsi_fact_int(out, DROPPED_COUNT, (int64_t)trace->info.dropped_count);
	tsi_fact_int(out, SPAN_COUNT,
		     (int64_t)trace->spans.count - (int64_t)trace->chosen_frame_count);
	if (trace->capture_start_ns != NO_NUMBER && trace->capture_end_ns != NO_NUMBER)
		tsi_fact_int(out, CAPTURE_NS, trace->capture_end_ns - trace->capture_start_ns);
	tsi_fact_int(out, WORK_NS, trace->info.last_ns - trace->info.first_ns);
	tsi_fact_int(out, DEVICE_BEFORE_LAUNCH_COUNT,
		     (int64_t)diagnostics[TSCOPE_DIAGNOSTIC_device_before_launch]);
	tsi_fact_int(out, IMPOSSIBLE_COUNT,
		     (int64_t)diagnostics[TSCOPE_DIAGNOSTIC_impossible_duration]);
	tsi_fact_int(out, IMPOSSIBLE_NS, trace->impossible_ns);
	tsi_fact_int(out, EMPTY_GRAPH_LAUNCH_COUNT,
		     (int64_t)diagnostics[TSCOPE_DIAGNOSTIC_empty_graph_launch]);
	tsi_fact_int(out, SHORT_GRAPH_REPLAY_COUNT,
		     (int64_t)diagnostics[TSCOPE_DIAGNOSTIC_short_graph_replay]);
	if (trace->short_replay_ns != NO_NUMBER)
		tsi_fact_real(out, SHORT_GRAPH_REPLAY_MS,
			      (double)(trace->short_replay_ns - trace->info.first_ns) / 1e6);
	tsi_fact_int(out, ATTRIBUTED_BY_TIME_COUNT, (int64_t)scope->timeline->attributed_by_time);
	tsi_fact_int(out, INCOMPLETE_STEP_COUNT,
		     count_marked(scope->timeline, TSCOPE_STEP_INCOMPLETE));
	tsi_fact_int(out, UNRECORDED_STEP_COUNT,
		     count_marked(scope->timeline, TSCOPE_STEP_UNRECORDED));
	if (trace->is_viztracer)
		tsi_fact_flag(out, OVERFLOW_FLAG, trace->viztracer_overflow);
	set_link_facts(trace, out);
}

static void fill_integrity(const struct analysis_scope *scope, struct fact_sheet *out)
{
	set_facts(scope, out);
	add_categories(scope->trace, out);
	add_diagnostics(scope->trace, out);
	add_all_missing(scope, out);
}

const struct analyzer tsi_analyzer_integrity = {
	.def = {
		.id = "integrity",
		.summary = "what the trace holds, what is odd about it, what to record next time",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.is_of_file = true,
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_integrity,
};
