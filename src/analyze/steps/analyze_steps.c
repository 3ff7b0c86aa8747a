/* SPDX-License-Identifier: MIT */
/*
 * The steps of the timeline, one row each: what marks them, how long they took
 * and what their time went to. Everything here was computed by src/timeline.
 */
#include "analyze/facts.h"
#include "analyze/ops/op_work.h"
#include "analyze/steps/step_lines.h"
#include "timeline/landmarks.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "steps of the timeline, marked ones too")                         \
	X(COUNTED_COUNT, "counted_count", COUNT, "of them, without those that are marked")         \
	X(BOUNDARY, "boundary", TEXT, "rule that bounds the steps")                                \
	X(COLD_COUNT, "cold_count", COUNT,                                                         \
	  "steps left out as cold: start-up, compilation, first allocations")                      \
	X(ALL_COLD, "all_cold", FLAG,                                                              \
	  "every step that would count is cold, so that they do count")                            \
	X(NESTED_COUNT, "nested_count", COUNT,                                                     \
	  "marks of steps that lie inside another step's mark, so that they begin none")           \
	X(OVERLAP_COUNT, "overlap_count", COUNT,                                                   \
	  "steps whose mark ends after the next one begins; with any no step time is known")       \
	X(MERGED_RANK_COUNT, "merged_rank_count", COUNT,                                           \
	  "ranks whose traces were merged into the file, where these are several: figures mix "    \
	  "them")                                                                                  \
	X(PROCESS_COUNT, "process_count", COUNT,                                                   \
	  "processes that run operators, where these are several: files were merged, and figures " \
	  "mix them")                                                                              \
	X(PROCESS, "process", TEXT, "of them, the one whose steps these are")                      \
	X(WORKLOAD, "workload", TEXT,                                                              \
	  "training: there is a backward pass or an optimizer; inference: iterations of an "       \
	  "engine, or a product or 100 operators without either; absent: nothing says")

TSI_FACT_LIST(enum fact, facts, FACTS);

enum list_column {
	LIST_STEP,
	LIST_START_NS,
	LIST_DUR_NS,
	LIST_WALL_NS,
	LIST_MARK,
	LIST_DEVICE_EVENTS,
	LIST_FIRST_DEVICE_LINE,
	LIST_STARTUP_NS = LIST_FIRST_DEVICE_LINE + TSCOPE_BUDGET_LINE_COUNT,
	LIST_COMPILE_NS,
	LIST_ALLOC_NS,
	LIST_FIRST_HOST_LINE,
};

static const struct tscope_fact_def list_columns[] = {
	[LIST_STEP] = { "step", TSCOPE_UNIT_COUNT, "number of the step" },
	[LIST_START_NS] = { "start_ns", TSCOPE_UNIT_NS,
			    "start of its marker, on the trace's clock" },
	[LIST_DUR_NS] = { "dur_ns", TSCOPE_UNIT_NS, "the marker's own duration" },
	[LIST_WALL_NS] = { "wall_ns", TSCOPE_UNIT_NS, "until the next step starts" },
	[LIST_MARK] = { "mark", TSCOPE_UNIT_TEXT, "why statistics leave it out, or empty" },
	[LIST_DEVICE_EVENTS] = { "device_events", TSCOPE_UNIT_COUNT,
				 "kernels, copies and fills launched in it" },
	/* In the order of enum tscope_budget_line; absent without devices. */
	{ "compute_ns", TSCOPE_UNIT_NS, "a compute kernel runs; sum over devices" },
	{ "exposed_comm_ns", TSCOPE_UNIT_NS, "only communication runs" },
	{ "exposed_copy_ns", TSCOPE_UNIT_NS, "only copies or fills run" },
	{ "data_stall_ns", TSCOPE_UNIT_NS, "idle: the host waits for data" },
	{ "sync_stall_ns", TSCOPE_UNIT_NS, "idle: the host waits for the device or a copy" },
	{ "launch_stall_ns", TSCOPE_UNIT_NS, "idle: the host is too slow to launch" },
	{ "device_gap_ns", TSCOPE_UNIT_NS,
	  "idle although the launch of the next work has returned" },
	{ "unattributed_ns", TSCOPE_UNIT_NS, "idle, and nothing recorded explains it" },
	[LIST_STARTUP_NS] = { "startup_ns", TSCOPE_UNIT_NS, "of the idle lines, start-up" },
	[LIST_COMPILE_NS] = { "compile_ns", TSCOPE_UNIT_NS, "of the idle lines, compilation" },
	[LIST_ALLOC_NS] = { "alloc_ns", TSCOPE_UNIT_NS, "of the idle lines, driver allocation" },
	/* In the order of enum host_line; absent with devices. */
	{ "data_ns", TSCOPE_UNIT_NS, "the main thread waits for data" },
	{ "forward_ns", TSCOPE_UNIT_NS, "it is in forward work" },
	{ "backward_ns", TSCOPE_UNIT_NS, "it is in backward work, or waits for it" },
	{ "optimizer_ns", TSCOPE_UNIT_NS, "it is in the optimizer" },
	{ "comm_ns", TSCOPE_UNIT_NS, "it is in communication, or waits for it" },
	{ "other_ns", TSCOPE_UNIT_NS, "anything else" },
};

_Static_assert(TSI_COUNT_OF(list_columns) == LIST_FIRST_HOST_LINE + HOST_LINE_COUNT,
	       "a column for each line of both budgets");

#define TABLES(X) X(LIST, "list", list_columns, "every step, in order of time")

TSI_TABLE_LIST(enum table, tables, TABLES);

static void fill_row(struct tscope_value *cells, const struct analysis_scope *scope, uint32_t index)
{
	const struct tscope_timeline *timeline = scope->timeline;
	const struct tscope_step *step = &timeline->steps[index];
	const struct step_series *steps = scope->steps; /* a record for each step */
	size_t first_line = steps->device_count ? LIST_FIRST_DEVICE_LINE : LIST_FIRST_HOST_LINE;

	cells[LIST_STEP] = tsi_int(step->number);
	cells[LIST_START_NS] = tsi_int(step->start_ns);
	cells[LIST_DUR_NS] = tsi_int(step->dur_ns);
	cells[LIST_WALL_NS] = tsi_int(step->wall_ns);
	cells[LIST_MARK] = tsi_text(tscope_step_mark_name(step->mark));
	cells[LIST_DEVICE_EVENTS] = tsi_int(timeline->step_device_events[index]);
	if (steps->records[index].budget == NO_ROW)
		return;
	const struct step_budget *budget = &steps->budgets[steps->records[index].budget];
	for (size_t line = 0; line < tsi_step_line_count(steps); line++)
		cells[first_line + line] = tsi_int(tsi_step_line_ns(steps, budget, line));
	if (!steps->device_count)
		return;
	const int64_t *idle_ns = budget->device.idle_ns;
	cells[LIST_STARTUP_NS] = tsi_int(idle_ns[IDLE_STARTUP]);
	cells[LIST_COMPILE_NS] = tsi_int(idle_ns[IDLE_COMPILE]);
	cells[LIST_ALLOC_NS] = tsi_int(idle_ns[IDLE_ALLOC]);
}

/* So many operators of which none is of a backward pass are no accident. */
enum { MANY_OPS = 100 };

/* "training", "inference" or NULL. O(kinds of spans) */
static const char *workload_of(const struct tscope_timeline *timeline)
{
	static const unsigned training =
		LABEL_TRAIN_BATCH | LABEL_OPTIMIZER_STEP | LABEL_OPTIMIZER | LABEL_BACKWARD;
	const struct tscope_trace *trace = timeline->trace;
	bool multiplies = false, has_loader = false;

	if (timeline->boundary == TSCOPE_BOUNDARY_ITERATION)
		return "inference";
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		unsigned labels = tsi_labels_of_kind(timeline->marks, kind);

		if (labels & training)
			return "training";
		has_loader |= (labels & LABEL_DATA) != 0;
		multiplies |= kind->span_class == TSCOPE_SPAN_CPU_OP && !multiplies &&
			      tsi_op_multiplies(tsi_intern_text(&trace->names, kind->name));
	}
	if (has_loader) /* it may feed either */
		return NULL;
	return multiplies || trace->cpu_op_count >= MANY_OPS ? "inference" : NULL;
}

static void put_processes(const struct tscope_timeline *timeline, struct fact_sheet *out)
{
	const struct tscope_trace *trace = timeline->trace;
	uint64_t other_count = trace->diagnostics[TSCOPE_DIAGNOSTIC_other_process];

	if (other_count == 0)
		return;
	tsi_fact_int(out, trace->info.merged_rank_count ? MERGED_RANK_COUNT : PROCESS_COUNT,
		     (int64_t)other_count + 1);
	if (timeline->boundary != TSCOPE_BOUNDARY_WHOLE_TRACE)
		tsi_fact_text(
			out, PROCESS,
			tsi_intern_text(&trace->names, trace->tracks[timeline->main_track].pid)
				.data);
}

static void fill_steps(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	int64_t counted_count = 0, cold_count = 0;

	tsi_fact_int(out, COUNT, timeline->step_count);
	tsi_fact_text(out, BOUNDARY, tscope_boundary_name(timeline->boundary));
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		struct tscope_value *cells = tsi_table_row(out, LIST);
		fill_row(cells, scope, i);
		counted_count += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
		cold_count += timeline->steps[i].mark == TSCOPE_STEP_COLD;
	}
	tsi_fact_int(out, COUNTED_COUNT, counted_count);
	tsi_fact_int(out, COLD_COUNT, cold_count);
	tsi_fact_int(out, NESTED_COUNT, timeline->nested_count);
	tsi_fact_int(out, OVERLAP_COUNT, timeline->overlap_count);
	put_processes(timeline, out);
	const char *workload = workload_of(timeline);
	if (workload)
		tsi_fact_text(out, WORKLOAD, workload);
	if (timeline->trace->device_count)
		tsi_fact_flag(out, ALL_COLD, timeline->is_all_cold);
}

const struct analyzer tsi_analyzer_steps = {
	.def = {
		.id = "steps",
		.summary = "steps and how they were found",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace",
	},
	.is_of_file = true,
	.levels = LEVEL_TRACE,
	.fill = fill_steps,
};
