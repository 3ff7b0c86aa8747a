/* SPDX-License-Identifier: MIT */
/*
 * Why the devices are idle: the idle lines of the budget by cause (timeline/idle_cause.h), as the
 * mean unmarked step of one device, so that steps and ranks compare. The causes sum to total_ns.
 */
#include "analyze/facts.h"
#include "analyze/lookup.h"
#include "analyze/steps/step_lines.h"
#include "analyze/trace/part_names.h"
#include "analyze/trace/source_frame.h"
#include "base/ckd.h"
#include "base/sum.h"
#include "model/trace/classify.h"

#include <stdlib.h>
#include <string.h>

#define CAUSE_FACT(id, name, line, words, meaning) TSI_FACT_DEF(, name "_ns", NS, meaning)
#define FACTS(X)                                                                                   \
	X(TOTAL_NS, "total_ns", NS, "idle time of the mean unmarked step on a device")             \
	X(COLD_NS, "cold_ns", NS, "of total_ns: startup_ns, compile_ns and alloc_ns")              \
	X(FRAME_COUNT, "python_frame_count", COUNT,                                                \
	  "Python frames in the trace, if any: they name lines")

enum fact { FACTS(TSI_FACT_ID) FIRST_CAUSE };
static const struct tscope_fact_def facts[] = { FACTS(TSI_FACT_DEF) IDLE_CAUSES(CAUSE_FACT) };

#define GAP_COLUMNS(X)                                                                             \
	X(GAP_CAUSE, "cause", TEXT, "what most of it went to")                                     \
	X(GAP_CAUSE_NS, "cause_ns", NS, "of it, to that cause")                                    \
	X(GAP_START_NS, "start_ns", NS, "its start, on the trace's clock")                         \
	X(GAP_DURATION_NS, "duration_ns", NS, "its length")                                        \
	X(GAP_DEVICE, "device", COUNT, "the device's ordinal")                                     \
	X(GAP_STEP, "step", COUNT, "the step that most of it is in, if any")                       \
	X(GAP_INSIDE, "inside", TEXT, "the host span that the launching thread was in meanwhile")  \
	X(GAP_CALL, "call", TEXT, "the call that launched what ends it")                           \
	X(GAP_NEXT, "next", TEXT, "the device event that ends it")                                 \
	X(GAP_THREAD, "thread", TEXT, "the id of the launching thread")                            \
	X(GAP_OPERATOR, "operator", TEXT, "the operator that launched what ends it")               \
	X(GAP_SOURCE, "source", TEXT,                                                              \
	  "file, line and function of Python meanwhile, where recorded: the innermost that is "    \
	  "not PyTorch's or Python's own, if there is one")                                        \
	X(GAP_MODULE, "module", TEXT,                                                              \
	  "the innermost modules meanwhile, as the profiler names them: \"Block_3.Linear_7\"")     \
	X(GAP_PATH, "path", TEXT, "its trace, where the steps are those of several")

TSI_FACT_LIST(enum gap_column, gap_columns, GAP_COLUMNS);

#define CULPRIT_COLUMNS(X)                                                                         \
	X(CULPRIT_CAUSE, "cause", TEXT, "of idle time")                                            \
	X(CULPRIT_KIND, "kind", TEXT, "as in breakdown.parts")                                     \
	X(CULPRIT_NAME, "name", TEXT, "what the host was in, or launched or ran next")             \
	X(CULPRIT_NS_PER_STEP, "ns_per_step", NS,                                                  \
	  "idle time in the mean unmarked step on a device")                                       \
	X(CULPRIT_COUNT, "count", COUNT, "pieces of idle time in all unmarked steps")

TSI_FACT_LIST(enum culprit_column, culprit_columns, CULPRIT_COLUMNS);

#define TABLES(X)                                                                                  \
	X(GAPS_TABLE, "gaps", gap_columns, "the longest gaps of the devices, in all steps")        \
	X(CULPRITS_TABLE, "culprits", culprit_columns, "names behind each cause, the largest first")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum { MAX_CULPRITS = 10 }; /* of a cause */

struct sums {
	int64_t cause_ns[IDLE_CAUSE_COUNT];
	int64_t lines_ns; /* of the idle lines: what the causes sum to, where they are known */
	int64_t step_count;
	const char *doubt;
};

static void add_budget(struct sums *sums, const struct budget *budget, int64_t step_count)
{
	tsi_sum(&sums->step_count, step_count);
	for (unsigned i = 0; i < IDLE_CAUSE_COUNT; i++)
		tsi_sum(&sums->cause_ns[i], budget->idle_ns[i]);
	for (unsigned i = TSI_IDLE_SLOT; i < TSCOPE_BUDGET_LINE_COUNT; i++)
		tsi_sum(&sums->lines_ns, budget->line_ns[i]);
}

/* The counted steps of the devices in scope. */
static void add_trace(struct sums *sums, const struct analysis_scope *scope)
{
	const struct tscope_timeline *timeline = scope->timeline;

	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		for (uint32_t d = scope->first_device; d < scope->end_device; d++)
			add_budget(sums, tsi_timeline_budget(timeline, i, d), 1);
	}
	sums->doubt = scope->steps->doubt;
}

static void add_rank(struct sums *sums, const struct step_series *steps)
{
	for (size_t i = 0; steps->device_count && i < steps->count; i++) {
		const struct step_budget *budget = tsi_counted_budget(steps, &steps->records[i]);
		if (budget)
			add_budget(sums, &budget->device, steps->device_count);
	}
	if (steps->device_count && !sums->doubt)
		sums->doubt = steps->doubt;
}

static void put_sums(struct fact_sheet *out, struct sums *sums)
{
	int64_t total_ns = 0, cold_ns = 0;

	tsi_divide_lines(sums->cause_ns, IDLE_CAUSE_COUNT, sums->step_count);
	for (unsigned i = 0; i < IDLE_CAUSE_COUNT; i++) {
		tsi_fact_int(out, FIRST_CAUSE + i, sums->cause_ns[i]);
		tsi_sum(&total_ns, sums->cause_ns[i]);
		if (i == IDLE_STARTUP || i == IDLE_COMPILE || i == IDLE_ALLOC)
			tsi_sum(&cold_ns, sums->cause_ns[i]);
	}
	tsi_fact_int(out, TOTAL_NS, total_ns);
	tsi_fact_int(out, COLD_NS, cold_ns);
	if (sums->doubt)
		tsi_fact_unreliable(out, sums->doubt);
}

/* ---- tables -------------------------------------------------------------------------- */

/* How far find_open() looks back, so that it costs no more in large traces. */
enum { FEW_ROWS = 1 << 10 };

/* The innermost row of a thread that is open at a time and of one of these classes, or NO_ROW. */
static uint32_t find_open(const struct open_rows *rows, uint32_t track_index, int64_t t_ns,
			  unsigned classes, uint32_t row_count)
{
	const struct tscope_trace *trace = rows->trace;
	uint32_t first = trace->tracks[track_index].first;
	uint32_t low = tsi_first_row_after(trace, track_index, t_ns);
	uint32_t last = low - first > row_count ? low - row_count : first;
	do
		low = tsi_open_before(rows, last, low, t_ns);
	while (low != NO_ROW && (!(classes >> tsi_span_class(&trace->spans, low) & 1) ||
				 tsi_is_step_marker(tsi_span_name(trace, low))));
	return low;
}

static struct tscope_value name_value(const struct tscope_trace *trace, uint32_t row)
{
	return row == NO_ROW ? (struct tscope_value){ 0 }
			     : tsi_text(tsi_span_name(trace, row).data);
}

/* Fills the cells about the launching thread: the span and the code that it was in. */
static void put_host(struct tscope_value *cells, const struct frame_sites *sites,
		     const struct long_gap *gap, uint32_t call, struct fact_sheet *out)
{
	enum {
		WORK = 1 << TSCOPE_SPAN_PYTHON | 1 << TSCOPE_SPAN_CPU_OP |
		       1 << TSCOPE_SPAN_RUNTIME | 1 << TSCOPE_SPAN_ANNOTATION | 1 << TSCOPE_SPAN_GC,
	};
	const struct tscope_trace *trace = sites->rows.trace;
	uint32_t track = gap->track == NO_ROW ? tsi_trace_track_of(trace, call) : gap->track;
	uint32_t inside = gap->row;

	if (inside == NO_ROW)
		inside = find_open(&sites->rows, track, gap->at_ns, WORK, FEW_ROWS);
	cells[GAP_INSIDE] = name_value(trace, inside);
	cells[GAP_THREAD] = tsi_text(tsi_intern_text(&trace->names, trace->tracks[track].tid).data);
	tsi_put_site(sites, track, gap->at_ns, &cells[GAP_MODULE], &cells[GAP_SOURCE], out);
}

static void add_gaps(const struct analysis_scope *scope, struct fact_sheet *out)
{
	const struct tscope_timeline *timeline = scope->timeline;
	const struct tscope_trace *trace = scope->trace;
	struct frame_sites sites = tsi_frame_sites(trace, SITE_ROWS, out);

	for (uint32_t i = 0; i < timeline->long_gap_count; i++) {
		const struct long_gap *gap = &timeline->long_gaps[i];
		uint32_t step = tsi_timeline_step_at(timeline, gap->at_ns), call;
		struct tscope_value *cells = tsi_table_row(out, GAPS_TABLE);

		cells[GAP_CAUSE] = tsi_text(tsi_idle_cause_name((enum idle_cause)gap->cause));
		cells[GAP_CAUSE_NS] = tsi_int(gap->cause_ns);
		cells[GAP_START_NS] = tsi_int(gap->start_ns);
		cells[GAP_DURATION_NS] = tsi_int(gap->end_ns - gap->start_ns);
		cells[GAP_DEVICE] = tsi_int(trace->devices[gap->device].ordinal);
		if (step != NO_ROW)
			cells[GAP_STEP] = tsi_int(timeline->steps[step].number);
		cells[GAP_NEXT] = name_value(trace, gap->event);
		call = gap->event == NO_ROW ? NO_ROW : tsi_device_event(trace, gap->event)->call;
		if (call == NO_ROW)
			continue;
		cells[GAP_CALL] = name_value(trace, call);
		cells[GAP_OPERATOR] = name_value(trace, tsi_call(trace, call)->op);
		put_host(cells, &sites, gap, call, out);
	}
}

/* Between operators without frames nothing is open: the name is that of what came next. */
static const char *name_of(const struct named_part *part, struct fact_sheet *out)
{
	unsigned cause = part->group - TSI_IDLE_SLOT;
	bool is_between = cause == IDLE_PYTHON || cause == IDLE_HOST_UNRECORDED;

	if (is_between && (part->kind == KIND_OPERATOR || part->kind == KIND_CALL))
		return tsi_sheet_print(out, "before %s", part->name);
	return part->name;
}

static void add_culprits(const struct analysis_scope *scope, int64_t step_count,
			 struct fact_sheet *out)
{
	struct named_parts parts = tsi_name_parts(scope, true, out);
	size_t cause_rows = 0;

	for (size_t i = 0; i < parts.count; i++) {
		const struct named_part *part = &parts.items[i];
		cause_rows = i && part->group == part[-1].group ? cause_rows + 1 : 0;
		if (cause_rows >= MAX_CULPRITS || part->kind == KIND_NONE)
			continue;
		struct tscope_value *cells = tsi_table_row(out, CULPRITS_TABLE);
		enum idle_cause cause = (enum idle_cause)(part->group - TSI_IDLE_SLOT);
		cells[CULPRIT_CAUSE] = tsi_text(tsi_idle_cause_name(cause));
		cells[CULPRIT_KIND] = tsi_text(tsi_part_kind_name(part->kind));
		cells[CULPRIT_NAME] = tsi_text(name_of(part, out));
		cells[CULPRIT_NS_PER_STEP] = tsi_mean(part->ns, step_count);
		cells[CULPRIT_COUNT] = tsi_int(part->count);
	}
}

/* ---- tables of several traces -------------------------------------------------------- */

/* The trace whose next gap is the longest; window_count: no gap is left. */
static size_t longest_head(const struct table_view *gaps, const size_t *heads, size_t window_count)
{
	size_t longest = window_count;
	int64_t longest_ns = -1;

	for (size_t i = 0; i < window_count; i++) {
		if (heads[i] == gaps[i].row_count)
			continue;
		int64_t ns = tsi_table_cell(&gaps[i], heads[i], GAP_DURATION_NS).integer;
		if (ns > longest_ns) {
			longest_ns = ns;
			longest = i;
		}
	}
	return longest;
}

/* The longest gaps of all traces. */
static void merge_gaps(const struct analysis_scope *scope, struct fact_sheet *out)
{
	size_t count = scope->window_count, from;
	struct table_view *gaps = tsi_arena_new(tsi_sheet_scratch(out), count, sizeof(*gaps));
	size_t *heads = tsi_arena_new(tsi_sheet_scratch(out), count, sizeof(*heads));

	if (!gaps || !heads)
		return;
	for (size_t i = 0; i < count; i++)
		if (scope->windows[i])
			gaps[i] = tsi_lookup_table(scope->windows[i], "idle.gaps");
	for (size_t row = 0; row < MAX_LONG_GAPS; row++) {
		from = longest_head(gaps, heads, count);
		if (from == count)
			return;
		struct tscope_value *cells = tsi_table_row(out, GAPS_TABLE);
		for (size_t column = 0; column < GAP_PATH; column++)
			cells[column] = tsi_table_cell(&gaps[from], heads[from], column);
		cells[GAP_PATH] = tsi_lookup(scope->windows[from], "integrity.path");
		heads[from]++;
	}
}

struct culprit {
	const char *cause, *kind, *name;
	int64_t ns, count; /* sums over devices and steps */
};

struct culprits {
	struct culprit *items;
	size_t count, capacity;
};

static void collect_culprits(struct culprits *all, const struct tscope_analysis *window,
			     struct arena *arena)
{
	struct table_view view = tsi_lookup_table(window, "idle.culprits");
	int64_t step_count = tsi_lookup_int(window, "budget.step_count");

	for (size_t row = 0; row < view.row_count; row++) {
		struct culprit *item = tsi_arena_push(arena, &all->items, &all->count,
						      &all->capacity, sizeof(*item));
		if (!item)
			return;
		*item = (struct culprit){
			.cause = tsi_table_text(&view, row, "cause"),
			.kind = tsi_table_text(&view, row, "kind"),
			.name = tsi_table_text(&view, row, "name"),
			.count = tsi_table_cell(&view, row, CULPRIT_COUNT).integer,
		};
		if (tsi_ckd_mul(&item->ns, step_count,
				tsi_table_cell(&view, row, CULPRIT_NS_PER_STEP).integer))
			item->ns = INT64_MAX;
	}
}

static int by_name(const void *left, const void *right)
{
	const struct culprit *a = left, *b = right;
	int order = strcmp(a->cause, b->cause);

	if (!order)
		order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->kind, b->kind);
}

static int by_time(const void *left, const void *right)
{
	const struct culprit *a = left, *b = right;

	return a->ns != b->ns ? (a->ns < b->ns ? 1 : -1) : by_name(left, right);
}

/* One item for each name of a cause. */
static void join_culprits(struct culprits *all)
{
	size_t kept = 0;

	qsort(all->items, all->count, sizeof(*all->items), by_name);
	for (size_t i = 0; i < all->count; i++) {
		if (kept && by_name(&all->items[kept - 1], &all->items[i]) == 0) {
			tsi_sum(&all->items[kept - 1].ns, all->items[i].ns);
			tsi_sum(&all->items[kept - 1].count, all->items[i].count);
		} else {
			all->items[kept++] = all->items[i];
		}
	}
	all->count = kept;
	qsort(all->items, all->count, sizeof(*all->items), by_time);
}

static void merge_culprits(const struct analysis_scope *scope, int64_t step_count,
			   struct fact_sheet *out)
{
	struct culprits all = { 0 };

	for (size_t i = 0; i < scope->window_count; i++)
		if (scope->windows[i])
			collect_culprits(&all, scope->windows[i], tsi_sheet_scratch(out));
	if (!all.count)
		return;
	join_culprits(&all);
	for (unsigned cause = 0; cause < IDLE_CAUSE_COUNT; cause++) {
		const char *name = tsi_idle_cause_name((enum idle_cause)cause);
		size_t rows = 0;
		for (size_t i = 0; i < all.count && rows < MAX_CULPRITS; i++) {
			const struct culprit *item = &all.items[i];
			if (strcmp(item->cause, name) != 0)
				continue;
			struct tscope_value *cells = tsi_table_row(out, CULPRITS_TABLE);
			cells[CULPRIT_CAUSE] = tsi_text(name);
			cells[CULPRIT_KIND] = tsi_text(item->kind);
			cells[CULPRIT_NAME] = tsi_text(item->name);
			cells[CULPRIT_NS_PER_STEP] = tsi_mean(item->ns, step_count);
			cells[CULPRIT_COUNT] = tsi_int(item->count);
			rows++;
		}
	}
}

static void fill_idle(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct sums sums = { 0 };

	if (scope->trace && !scope->trace->device_count)
		return;
	if (scope->trace)
		add_trace(&sums, scope);
	else if (scope->ranks)
		for (size_t i = 0; i < scope->rank_count; i++)
			add_rank(&sums, &scope->ranks[i]);
	else
		add_rank(&sums, scope->steps);
	if (scope->trace && scope->end_device - scope->first_device == scope->trace->device_count) {
		if (scope->trace->frame_count)
			tsi_fact_int(out, FRAME_COUNT, (int64_t)scope->trace->frame_count);
		add_gaps(scope, out);
		add_culprits(scope, sums.step_count, out);
	}
	if (scope->window_count > 1 && sums.step_count) {
		merge_gaps(scope, out);
		merge_culprits(scope, sums.step_count, out);
	}
	int64_t total_ns = 0;
	for (unsigned i = 0; i < IDLE_CAUSE_COUNT; i++)
		tsi_sum(&total_ns, sums.cause_ns[i]);
	if (sums.step_count && total_ns == sums.lines_ns) /* else records say lines only */
		put_sums(out, &sums);
}

const struct analyzer tsi_analyzer_idle = {
	.def = {
		.id = "idle",
		.summary = "why the devices are idle",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.per_device = true,
		.needs = "a trace with device activity and a complete step",
	},
	.levels = LEVEL_TRACE | LEVEL_RANK | LEVEL_RUN,
	.keeps_tables = true,
	.fill = fill_idle,
};
