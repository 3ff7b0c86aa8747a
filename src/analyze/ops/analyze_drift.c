/* SPDX-License-Identifier: MIT */
/*
 * Whether the same work takes longer and longer: GEMM and convolution kernels that come equally
 * often in each step that counts, launched alike on the same inputs, in the last third of these
 * steps against the first. A clock that falls slows all of them, which longer sequences do not:
 * they change how kernels are launched, and slow some.
 */
#include "analyze/facts.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/ops/kernel_kind.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"
#include "timeline/timeline.h"

enum {
	MIN_STEPS = 5,
	MIN_NS = 10000, /* of a kernel: what is shorter varies for other reasons */
	MAX_ROWS = 5,   /* of the table */
};

#define FACTS(X)                                                                                   \
	X(STEP_COUNT, "step_count", COUNT, "counted steps")                                        \
	X(KERNEL_COUNT, "kernel_count", COUNT,                                                     \
	  "different GEMM and convolution kernels of 10 µs or more, told apart by launch and "    \
	  "inputs, that come equally often in each of these steps; of at least 5 steps")           \
	X(COMPARED_RATIO, "compared_ratio", RATIO,                                                 \
	  "their part of the time of all GEMM and convolution kernels")                            \
	X(FACTOR, "factor", NUMBER,                                                                \
	  "their mean duration in the last third of the steps ÷ that in the first: the median "   \
	  "over them, weighted by time")                                                           \
	X(AGREE_RATIO, "agree_ratio", RATIO,                                                       \
	  "part of their time in kernels that drift the same way, at least half as much")          \
	X(LOST_NS, "lost_ns", NS,                                                                  \
	  "their time a step and device beyond that in the first third of the steps; below 0: "    \
	  "saved")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define COLUMNS(X)                                                                                 \
	X(NAME, "name", TEXT, "of the kernel")                                                     \
	X(EARLY_NS, "early_ns", NS, "mean duration in the first third of the steps")               \
	X(LATE_NS, "late_ns", NS, "mean duration in the last third")                               \
	X(TOTAL_NS, "total_ns", NS, "sum of their durations in all of these steps")                \
	X(LAST_START_NS, "max_start_ns", NS, "when the longest in the last third starts")          \
	X(LAST_NS, "max_ns", NS, "its duration")

TSI_FACT_LIST(enum column, columns, COLUMNS);

#define TABLES(X)                                                                                  \
	X(KERNELS, "kernels", columns, "of the kernels that are compared those with most time")

TSI_TABLE_LIST(enum table, tables, TABLES);

enum part { FIRST, MIDDLE, LAST, PART_COUNT };

/* Kernels that are launched alike. */
struct alike {
	int64_t part_ns[PART_COUNT];
	int64_t max_ns;         /* of the longest in the last part, and its row */
	uint32_t row;           /* … or that of the last one so far */
	uint32_t step, in_step; /* of the last one; how many were in it so far */
	uint32_t per_step;      /* in the first step that has them */
	uint32_t step_count;    /* that have them */
	bool is_uneven;         /* not so many in each of these */
};

/* The comparable ones among them. */
struct compared {
	const struct alike *alike;
	double factor; /* late ÷ early */
	int64_t ns;
};

/* Kernels of a kind of span. */
struct kind_work {
	bool is_product;
	uint32_t inputs, number_and_1; /* of the last one's pair; 0: none yet */
};

struct work {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	struct kind_work *kinds; /* by kind of span */
	uint32_t step_count, third;
	uint8_t *part_of_step; /* of counted steps */
	struct pair_set alike; /* (text id of the inputs, kind of span): struct alike */
	int64_t total_ns;
	uint32_t step; /* that was found last */
};

static bool work_init(struct work *work, const struct analysis_scope *scope, struct arena *arena)
{
	const struct tscope_timeline *timeline = scope->timeline;
	uint32_t number = 0;

	*work = (struct work){
		.trace = scope->trace,
		.timeline = timeline,
		.kinds = tsi_arena_new(arena, scope->trace->spans.kind_count, sizeof(*work->kinds)),
		.part_of_step = tsi_arena_new(arena, timeline->step_count, 1),
		.alike = { .arena = arena, .item_bytes = sizeof(struct alike) },
	};
	for (uint32_t i = 0; i < timeline->step_count; i++)
		work->step_count += timeline->steps[i].mark == TSCOPE_STEP_COUNTED;
	work->third = (work->step_count + 2) / 3;
	for (uint32_t i = 0; work->part_of_step && i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		work->part_of_step[i] = number < work->third                       ? FIRST
					: number >= work->step_count - work->third ? LAST
										   : MIDDLE;
		number++;
	}
	return work->part_of_step && work->kinds;
}

/* ---- sums ---------------------------------------------------------------------------- */

static void count_in_step(struct alike *alike, uint32_t step)
{
	if (alike->step_count && alike->step == step) {
		alike->in_step++;
		return;
	}
	if (alike->step_count == 1)
		alike->per_step = alike->in_step;
	alike->is_uneven |=
		alike->step_count && (step < alike->step || alike->in_step != alike->per_step);
	alike->step = step;
	alike->in_step = 1;
	alike->step_count++;
}

/* The number of those that are launched as this one, mostly that of the last of its kind. */
static inline uint32_t number_of(struct work *work, uint32_t row)
{
	uint32_t op = tsi_launching_op(work->trace, row), kind = work->trace->spans.kind[row];
	uint32_t inputs = op == NO_ROW ? 0 : tsi_op_inputs(work->trace, op)->signature;
	struct kind_work *last = &work->kinds[kind];

	if (last->inputs != inputs || last->number_and_1 == 0) {
		last->inputs = inputs;
		last->number_and_1 = tsi_pair_set_add(&work->alike, inputs, kind) + 1;
	}
	return last->number_and_1 - 1;
}

static void add_kernel(struct work *work, uint32_t row, uint32_t step)
{
	int64_t dur_ns = tsi_dur_ns(&work->trace->spans, row);
	uint32_t number = number_of(work, row);

	tsi_sum(&work->total_ns, dur_ns);
	if (number == UINT32_MAX)
		return;
	struct alike *alike = (struct alike *)work->alike.items + number;
	enum part part = (enum part)work->part_of_step[step];
	count_in_step(alike, step);
	tsi_sum(&alike->part_ns[part], dur_ns);
	if (part != LAST) {
		alike->row = row;
	} else if (dur_ns > alike->max_ns) {
		alike->row = row;
		alike->max_ns = dur_ns;
	}
}

static void find_products(struct work *work, const uint8_t *kind_of_name)
{
	const struct spans *spans = &work->trace->spans;

	for (uint32_t i = 0; i < spans->kind_count; i++) {
		uint8_t what = kind_of_name[spans->kinds[i].name];
		work->kinds[i].is_product = spans->kinds[i].span_class == TSCOPE_SPAN_KERNEL &&
					    (what == KERNEL_GEMM || what == KERNEL_CONV);
	}
}

static void add_kernels(struct work *work)
{
	const struct tscope_trace *trace = work->trace;
	const uint32_t *kind = trace->spans.kind;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		if (!work->kinds[kind[row]].is_product)
			continue;
		uint32_t step = tsi_timeline_step_near(
			work->timeline, tsi_timeline_launch_time(trace, row), &work->step);
		if (step != NO_ROW && work->timeline->steps[step].mark == TSCOPE_STEP_COUNTED)
			add_kernel(work, row, step);
	}
}

/* ---- comparing ----------------------------------------------------------------------- */

/*
 * Is the work the same each time? The inputs say it, or that a graph is replayed; else the grid
 * does unless it has been made for the device (persistent kernels), whatever the work.
 */
static bool is_same_work(const struct work *work, size_t index)
{
	const struct alike *alike = (const struct alike *)work->alike.items + index;
	float blocks = tsi_work_shape(work->trace, alike->row)->blocks_per_sm;

	if (work->alike.pairs[index].first || tsi_device_event(work->trace, alike->row)->graph)
		return true;
	return isfinite(blocks) && (blocks < 1 || fabsf(blocks - roundf(blocks)) > 0.001F);
}

static bool is_comparable(const struct work *work, const struct alike *alike)
{
	double early_count = (double)work->third * alike->per_step;

	return !alike->is_uneven && alike->step_count == work->step_count &&
	       alike->in_step == alike->per_step &&
	       (double)alike->part_ns[FIRST] >= MIN_NS * early_count;
}

/* By factor. Those that are alike in this keep no order: it decides nothing. */
static int compare_factors(const void *left, const void *right)
{
	const struct compared *a = left, *b = right;

	return (a->factor > b->factor) - (a->factor < b->factor);
}

static size_t find_compared(const struct work *work, struct compared *items)
{
	const struct alike *alike = work->alike.items;
	size_t count = 0;

	for (size_t i = 0; i < work->alike.count; i++, alike++) {
		if (!is_comparable(work, alike) || !is_same_work(work, i))
			continue;
		struct compared *item = &items[count++];
		*item = (struct compared){
			.alike = alike,
			.factor = (double)alike->part_ns[LAST] / (double)alike->part_ns[FIRST],
		};
		for (int part = 0; part < PART_COUNT; part++)
			tsi_sum(&item->ns, alike->part_ns[part]);
	}
	if (count)
		qsort(items, count, sizeof(*items), compare_factors);
	return count;
}

static double find_median(const struct compared *items, int64_t ns)
{
	double below_ns = (double)items->ns;

	while (2 * below_ns < (double)ns)
		below_ns += (double)(++items)->ns;
	return items->factor;
}

static void set_sums(const struct work *work, const struct compared *items, size_t count,
		     struct fact_sheet *out)
{
	int64_t ns = 0, agree_ns = 0;
	double early_ns = 0;

	for (size_t i = 0; i < count; i++) {
		tsi_sum(&ns, items[i].ns);
		early_ns += (double)items[i].alike->part_ns[FIRST] / work->third;
	}
	double factor = find_median(items, ns);
	for (size_t i = 0; i < count; i++)
		if (factor != 1 && (items[i].factor - 1) / (factor - 1) >= 0.5)
			tsi_sum(&agree_ns, items[i].ns);
	tsi_fact_ratio(out, COMPARED_RATIO, ns, work->total_ns);
	tsi_fact_real(out, FACTOR, factor);
	tsi_fact_ratio(out, AGREE_RATIO, agree_ns, ns);
	tsi_fact_int(
		out, LOST_NS,
		llround(((double)ns / work->step_count - early_ns) / work->trace->device_count));
}

static void list_kernel(const struct work *work, const struct alike *alike, int64_t ns,
			struct fact_sheet *out)
{
	const struct tscope_trace *trace = work->trace;
	int64_t count = (int64_t)work->third * alike->per_step;
	uint32_t name = tsi_name_id(&trace->spans, alike->row);
	struct tscope_value *cells = tsi_table_row(out, KERNELS);

	cells[NAME] = tsi_text(tsi_intern_text(&trace->names, name).data);
	cells[EARLY_NS] = tsi_mean(alike->part_ns[FIRST], count);
	cells[LATE_NS] = tsi_mean(alike->part_ns[LAST], count);
	cells[TOTAL_NS] = tsi_int(ns);
	cells[LAST_START_NS] = tsi_int(tsi_start_ns(&trace->spans, alike->row));
	cells[LAST_NS] = tsi_int(tsi_dur_ns(&trace->spans, alike->row));
}

/* Those with most time; of equals the first in the file. */
static void list_kernels(const struct work *work, struct compared *items, size_t count,
			 struct fact_sheet *out)
{
	for (size_t n = 0; n < MAX_ROWS && n < count; n++) {
		size_t most = 0;
		for (size_t i = 1; i < count; i++)
			if (items[i].ns > items[most].ns ||
			    (items[i].ns == items[most].ns && items[i].alike < items[most].alike))
				most = i;
		list_kernel(work, items[most].alike, items[most].ns, out);
		items[most].ns = -1;
	}
}

static void fill_drift(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct arena *arena = tsi_sheet_scratch(out);
	struct work work;

	if (!scope->trace->device_count || !work_init(&work, scope, arena))
		return;
	if (work.step_count >= MIN_STEPS) {
		find_products(&work, scope->kernel_kinds);
		add_kernels(&work);
	}
	struct compared *items = tsi_arena_new(arena, work.alike.count, sizeof(*items));
	size_t count = items ? find_compared(&work, items) : 0;
	tsi_fact_int(out, STEP_COUNT, work.step_count);
	tsi_fact_int(out, KERNEL_COUNT, (int64_t)count);
	if (!count)
		return;
	set_sums(&work, items, count, out);
	list_kernels(&work, items, count, out);
}

const struct analyzer tsi_analyzer_drift = {
	.def = {
		.id = "drift",
		.summary = "whether the same kernels take longer from step to step",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with device activity",
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_drift,
};
