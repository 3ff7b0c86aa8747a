/* SPDX-License-Identifier: MIT */
/*
 * Python functions by their own and their whole time, what keeps threads from the work, and the
 * pauses of Python's garbage collector. Only on request, as frames are most of a file, or where
 * VizTracer wrote it: then they are what it is about.
 */
#include "analyze/facts.h"

#include "analyze/shared/nest.h"
#include "analyze/trace/python_stalls.h"
#include "base/sum.h"
#include "timeline/host_kinds.h"

#define FACTS(X)                                                                                   \
	X(CALL_COUNT, "call_count", COUNT, "calls of Python functions")                            \
	X(FUNCTION_COUNT, "function_count", COUNT, "different functions")                          \
	X(SELF_NS, "self_ns", NS, "time in Python functions, over all threads")                    \
	X(GC_COUNT, "gc_count", COUNT, "pauses of the garbage collector")                          \
	X(GC_TOTAL_NS, "gc_total_ns", NS, "sum of their durations")                                \
	X(GC_MAX_NS, "gc_max_ns", NS, "the longest")                                               \
	X(GC_RATIO, "gc_ratio", RATIO,                                                             \
	  "gc_total_ns by the time from the first start to the last end of all timed work in the " \
	  "trace that holds the pauses")                                                           \
	X(MAIN_NS, "main_ns", NS, "the main thread's time in the steps, all together")             \
	X(DATA_LOADING_NS, "data_loading_ns", NS, "of it, in loading of data")                     \
	X(LOGGING_NS, "logging_ns", NS, "of it, in logging and printing")                          \
	X(CHECKPOINT_NS, "checkpoint_ns", NS, "of it, in saving of checkpoints")                   \
	X(SYNCHRONISATION_NS, "synchronisation_ns", NS,                                            \
	  "of it, in calls that wait for the device")                                              \
	X(WAITING_NS, "waiting_ns", NS,                                                            \
	  "of it, in calls that wait for time, a lock, a queue or a file")                         \
	X(STALL_RATIO, "stall_ratio", RATIO, "share of it in any of the causes of by_cause")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(NAME, "name", TEXT, "of the function")                                                   \
	X(COUNT, "count", COUNT, "calls")                                                          \
	X(NAME_SELF_NS, "self_ns", NS,                                                             \
	  "time in it, less that of calls directly in it, as far as they lie in it")               \
	X(TOTAL_NS, "total_ns", NS,                                                                \
	  "time in it and in what it called; of a recursive one, the outermost calls'")            \
	X(MEAN_NS, "mean_ns", NS, "mean duration of a call")                                       \
	X(IS_WAITING, "is_waiting", FLAG, "it only waits for time, a lock, a queue or a file")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define CAUSE_COLUMNS(X)                                                                           \
	X(CAUSE, "cause", TEXT,                                                                    \
	  "data_loading, logging, checkpoint, synchronisation, communication, compilation, "       \
	  "garbage_collection or waiting")                                                         \
	X(CAUSE_FUNCTION, "function", TEXT, "that has most of the time")                           \
	X(CAUSE_FUNCTION_COUNT, "function_count", COUNT, "different functions that were called")   \
	X(CAUSE_CALL_COUNT, "call_count", COUNT,                                                   \
	  "calls of such functions, without those within calls of one")                            \
	X(CAUSE_TOTAL_NS, "total_ns", NS, "time in them, over all threads")                        \
	X(CAUSE_MAIN_NS, "main_ns", NS, "of the main thread, in the steps")                        \
	X(CAUSE_MAIN_RATIO, "main_ratio", RATIO, "its share of the steps")                         \
	X(CAUSE_MAIN_FUNCTION, "main_function", TEXT, "that has most of it")

TSI_FACT_LIST(enum cause_column, cause_columns, CAUSE_COLUMNS);

#define THREAD_COLUMNS(X)                                                                          \
	X(PID, "pid", TEXT, "of the process")                                                      \
	X(TID, "tid", TEXT, "of the thread, or of an asynchronous task")                           \
	X(THREAD, "thread", TEXT, "its name")                                                      \
	X(THREAD_CALL_COUNT, "call_count", COUNT, "calls of Python functions")                     \
	X(THREAD_NS, "total_ns", NS, "time in them")                                               \
	X(THREAD_STALL_NS, "stall_ns", NS, "of it, in any of the causes of by_cause")              \
	X(IS_MAIN, "is_main", FLAG, "it is the main thread")

TSI_FACT_LIST(enum thread_column, thread_columns, THREAD_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_NAME, "by_name", columns, "Python functions")                                         \
	X(BY_CAUSE, "by_cause", cause_columns,                                                     \
	  "what keeps threads from the work, by functions that are known; time in calls within "   \
	  "each other is that of the outermost")                                                   \
	X(BY_THREAD, "by_thread", thread_columns, "threads that run Python")

TSI_TABLE_LIST(enum table, tables, TABLES);

static void add_functions(const struct nested_times *functions, const struct tscope_trace *trace,
			  struct fact_sheet *out)
{
	int64_t call_count = 0, function_count = 0, self_ns = 0;

	for (uint32_t id = 0; id < trace->names.count; id++) {
		const struct nested_times *function = &functions[id];
		if (function->count == 0)
			continue;
		call_count += function->count;
		function_count++;
		tsi_sum(&self_ns, function->self_ns);
		struct tscope_value *cells = tsi_table_row(out, BY_NAME);
		struct str name = tsi_intern_text(&trace->names, id);
		cells[NAME] = tsi_text(name.data);
		cells[COUNT] = tsi_int(function->count);
		cells[NAME_SELF_NS] = tsi_int(function->self_ns);
		cells[TOTAL_NS] = tsi_int(function->total_ns);
		cells[MEAN_NS] = tsi_mean(function->dur_ns, function->count);
		cells[IS_WAITING] = tsi_flag(tsi_is_idle_frame(name));
	}
	tsi_fact_int(out, CALL_COUNT, call_count);
	tsi_fact_int(out, FUNCTION_COUNT, function_count);
	tsi_fact_int(out, SELF_NS, self_ns);
	tsi_table_order(out, BY_NAME, NAME_SELF_NS, NAME);
}

static void add_pauses(const struct tscope_trace *trace, struct fact_sheet *out)
{
	const struct spans *spans = &trace->spans;
	int64_t count = 0, total_ns = 0, longest_ns = 0;

	for (uint32_t row = 0; row < spans->count; row++) {
		if (tsi_span_class(spans, row) != TSCOPE_SPAN_GC)
			continue;
		count++;
		tsi_sum(&total_ns, tsi_dur_ns(spans, row));
		if (tsi_dur_ns(spans, row) > longest_ns)
			longest_ns = tsi_dur_ns(spans, row);
	}
	tsi_fact_int(out, GC_COUNT, count);
	tsi_fact_int(out, GC_TOTAL_NS, total_ns);
	if (count)
		tsi_fact_int(out, GC_MAX_NS, longest_ns);
	tsi_fact_ratio(out, GC_RATIO, total_ns, trace->info.last_ns - trace->info.first_ns);
}

static const struct {
	const char *cause;
	int fact; /* enum fact of the main thread's time, or -1 */
} causes[] = {
	[PYTHON_DATA] = { "data_loading", DATA_LOADING_NS },
	[PYTHON_LOGGING] = { "logging", LOGGING_NS },
	[PYTHON_CHECKPOINT] = { "checkpoint", CHECKPOINT_NS },
	[PYTHON_SYNC] = { "synchronisation", SYNCHRONISATION_NS },
	[PYTHON_COMM] = { "communication", -1 },
	[PYTHON_COMPILE] = { "compilation", -1 },
	[PYTHON_GC] = { "garbage_collection", -1 },
	[PYTHON_WAITING] = { "waiting", WAITING_NS },
};

_Static_assert(TSI_COUNT_OF(causes) == PYTHON_STALL_COUNT, "a name for each");

static void add_causes(const struct python_stalls *stalls, const struct tscope_trace *trace,
		       struct fact_sheet *out)
{
	bool has_main = stalls->main_ns > 0;

	for (size_t work = PYTHON_OTHER + 1; work < PYTHON_STALL_COUNT; work++) {
		const struct python_stall *stall = &stalls->by_work[work];
		if (has_main && causes[work].fact >= 0)
			tsi_fact_int(out, (size_t)causes[work].fact, stall->main_ns);
		if (stall->call_count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_CAUSE);
		cells[CAUSE] = tsi_text(causes[work].cause);
		cells[CAUSE_FUNCTION] = tsi_text(tsi_intern_text(&trace->names, stall->name).data);
		cells[CAUSE_FUNCTION_COUNT] = tsi_int(stall->function_count);
		cells[CAUSE_CALL_COUNT] = tsi_int(stall->call_count);
		cells[CAUSE_TOTAL_NS] = tsi_int(stall->total_ns);
		if (has_main)
			cells[CAUSE_MAIN_NS] = tsi_int(stall->main_ns);
		cells[CAUSE_MAIN_RATIO] = tsi_ratio(stall->main_ns, stalls->main_ns);
		if (stall->main_ns > 0)
			cells[CAUSE_MAIN_FUNCTION] =
				tsi_text(tsi_intern_text(&trace->names, stall->main_name).data);
	}
	tsi_table_order(out, BY_CAUSE, CAUSE_TOTAL_NS, CAUSE);
}

static void add_threads(const struct python_stalls *stalls, const struct analysis_scope *scope,
			struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;

	for (uint32_t i = 0; i < trace->host_track_count; i++) {
		const struct python_thread *thread = &stalls->threads[i];
		const struct track *track = &trace->tracks[i];
		if (thread->call_count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_THREAD);
		cells[PID] = tsi_text(tsi_intern_text(&trace->names, track->pid).data);
		cells[TID] = tsi_text(tsi_intern_text(&trace->names, track->tid).data);
		if (track->name)
			cells[THREAD] = tsi_text(tsi_intern_text(&trace->names, track->name).data);
		cells[THREAD_CALL_COUNT] = tsi_int(thread->call_count);
		cells[THREAD_NS] = tsi_int(thread->call_ns);
		cells[THREAD_STALL_NS] = tsi_int(thread->stall_ns);
		cells[IS_MAIN] = tsi_flag(i == scope->timeline->main_track);
	}
	tsi_table_order(out, BY_THREAD, THREAD_NS, TID);
}

static void add_stalls(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct python_stalls stalls;
	int64_t stall_ns = 0;

	tsi_python_stalls_init(&stalls, scope->timeline, tsi_sheet_scratch(out));
	if (!stalls.threads)
		return;
	if (stalls.main_ns > 0)
		tsi_fact_int(out, MAIN_NS, stalls.main_ns);
	for (size_t work = 0; work < PYTHON_STALL_COUNT; work++)
		tsi_sum(&stall_ns, stalls.by_work[work].main_ns);
	tsi_fact_ratio(out, STALL_RATIO, stall_ns, stalls.main_ns);
	add_causes(&stalls, scope->trace, out);
	add_threads(&stalls, scope, out);
}

static void fill_python(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_trace *trace = scope->trace;
	const struct nested_times *functions =
		tsi_nested_times(trace, TSI_CLASS_BIT(TSCOPE_SPAN_PYTHON), tsi_sheet_scratch(out));

	if (!functions)
		return;
	add_functions(functions, trace, out);
	add_pauses(trace, out);
	add_stalls(scope, out);
}

const struct analyzer tsi_analyzer_python = {
	.def = {
		.id = "python",
		.summary = "Python functions, what keeps threads from the work, and garbage "
			   "collection pauses",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace of VizTracer, or --python and a trace with Python frames",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.on_request = true,
	.fill = fill_python,
};
