/* SPDX-License-Identifier: MIT */
/*
 * Kernels, communication included, over all devices and the whole trace: by name with the spread of
 * their durations, by kind, and how well they use the device, as far as it is known.
 */
#include "analyze/facts.h"

#include <math.h>

#include "analyze/ops/kernel_kind.h"
#include "analyze/ops/step_work.h"
#include "analyze/shared/quantile.h"
#include "analyze/shared/reliability.h"
#include "analyze/trace/source_frame.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

enum { SHORT_NS = 10000 }; /* below, launching costs about as much as the kernel does */

/* Share of kernel time that may lack what a figure is made of. */
#define MOST_LACKING 0.1

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "kernels")                                                        \
	X(TOTAL_NS, "total_ns", NS, "sum of their durations")                                      \
	X(NAME_COUNT, "name_count", COUNT, "different kernels")                                    \
	X(SHORT_COUNT, "short_count", COUNT, "kernels shorter than 10 µs")                         \
	X(SHORT_RATIO, "short_ratio", RATIO, "of all kernels")                                     \
	X(SMALL_GRID_COUNT, "small_grid_count", COUNT,                                             \
	  "kernels with fewer blocks than the device has multiprocessors")                         \
	X(SMALL_GRID_NS, "small_grid_ns", NS, "sum of their durations")                            \
	X(TENSOR_CORE_NS, "tensor_core_ns", NS,                                                    \
	  "kernels whose names say that they use tensor or matrix cores")                          \
	X(TENSOR_CORE_UNKNOWN_NS, "tensor_core_unknown_ns", NS,                                    \
	  "kernels that may use them: the name does not say")                                      \
	X(SM_EFFICIENCY_RATIO, "sm_efficiency_ratio", RATIO,                                       \
	  "multiprocessors with work, over the devices' span: at most this")                       \
	X(OCCUPANCY_PCT, "occupancy_pct", NUMBER,                                                  \
	  "estimated achieved occupancy in %, weighted by duration")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define NAME_COLUMNS(X)                                                                            \
	X(NAME, "name", TEXT, "of the kernel")                                                     \
	X(NAME_KIND, "kind", TEXT, "what it computes, by its operators, else its name")            \
	X(NAME_KERNEL_COUNT, "count", COUNT, "kernels")                                            \
	X(NAME_TOTAL_NS, "total_ns", NS, "sum of their durations")                                 \
	X(NAME_SHARE_RATIO, "share_ratio", RATIO, "of the total of all kernels")                   \
	X(NAME_MEAN_NS, "mean_ns", NS, "mean duration")                                            \
	X(NAME_P50_NS, "p50_ns", NS, "median duration")                                            \
	X(NAME_P95_NS, "p95_ns", NS, "95th percentile of the durations")                           \
	X(NAME_MIN_NS, "min_ns", NS, "shortest")                                                   \
	X(NAME_MAX_NS, "max_ns", NS, "longest")                                                    \
	X(NAME_MAX_START_NS, "max_start_ns", NS, "when the longest starts, on the trace's clock")  \
	X(NAME_BLOCKS_PER_SM, "blocks_per_sm", NUMBER,                                             \
	  "blocks ÷ multiprocessors, weighted by duration")                                        \
	X(NAME_OCCUPANCY_PCT, "occupancy_pct", NUMBER,                                             \
	  "estimated achieved occupancy in %, weighted by duration")                               \
	X(NAME_SMALL_GRID_COUNT, "small_grid_count", COUNT,                                        \
	  "with fewer blocks than multiprocessors")                                                \
	X(NAME_COUNTED, "counted", COUNT,                                                          \
	  "launched in the steps that count, or in all steps where none does")                     \
	X(NAME_COUNTED_NS, "counted_ns", NS, "sum of the durations of these")                      \
	X(NAME_STEP_DEVIATION_NS, "step_deviation_ns", NS,                                         \
	  "standard deviation of their time per step, of these steps")                             \
	X(NAME_COUNTED_UNLINKED, "counted_unlinked", COUNT,                                        \
	  "of these, without a known launch: by their own start")                                  \
	X(NAME_MODULE, "module", TEXT,                                                             \
	  "of 1 % of all time or more: the innermost modules that launched the longest, as in "    \
	  "idle.gaps")                                                                             \
	X(NAME_SOURCE, "source", TEXT, "the function that launched it, as in idle.gaps")

TSI_FACT_LIST(enum name_column, name_columns, NAME_COLUMNS);

#define KIND_COLUMNS(X)                                                                            \
	X(KIND, "kind", TEXT, "what the kernels compute")                                          \
	X(KIND_NAME_COUNT, "name_count", COUNT, "different kernels")                               \
	X(KIND_KERNEL_COUNT, "count", COUNT, "kernels")                                            \
	X(KIND_TOTAL_NS, "total_ns", NS, "sum of their durations")                                 \
	X(KIND_SHARE_RATIO, "share_ratio", RATIO, "of the total of all kernels")

TSI_FACT_LIST(enum kind_column, kind_columns, KIND_COLUMNS);

#define LAUNCHER_COLUMNS(X)                                                                        \
	X(LAUNCHER_NAME, "name", TEXT, "of the kernel")                                            \
	X(LAUNCHER_OPERATOR, "operator", TEXT, "that launched it, the innermost")                  \
	X(LAUNCHER_INPUTS, "inputs", TEXT, "dimensions and types of its inputs")                   \
	X(LAUNCHER_COUNTED, "counted", COUNT, "kernels launched in the steps that count")          \
	X(LAUNCHER_COUNTED_NS, "counted_ns", NS, "sum of their durations")

TSI_FACT_LIST(enum launcher_column, launcher_columns, LAUNCHER_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_NAME, "by_name", name_columns, "kernels by name")                                     \
	X(BY_KIND, "by_kind", kind_columns, "kernels by what they compute")                        \
	X(BY_LAUNCHER, "by_launcher", launcher_columns,                                            \
	  "kernels of the steps that count, by name and what launched them")

TSI_TABLE_LIST(enum table, tables, TABLES);

/* A mean of something that only some kernels say, weighted by their durations. */
struct weighted {
	double sum;
	double weight_ns;
};

/* Kernels of one name; their durations are kept apart. */
struct kernel {
	int64_t count, total_ns, min_ns, max_ns;
	int64_t small_grid_count, counted_unlinked;
	uint32_t longest_row;
	struct weighted blocks_per_sm, occupancy_pct;
};

/* Kernels of one name from one operator: a renamed kernel is found by its operator. */
struct launched {
	int64_t count, ns;
};

struct work {
	const struct tscope_trace *trace;
	struct arena *scratch;
	const uint8_t *kind_of; /* by name id, of kernels' names: enum kernel_kind */
	struct step_work steps; /* of those launched in the steps that count */
	/* In steps that count, by name and by the launching operator with its inputs. */
	struct pair_set operators; /* (name, signature); ids of texts, 0: none, or not recorded */
	uint32_t *op_of_kind;      /* by kind of span: number among them + 1; 0: not asked yet */
	struct pair_set launched;  /* (name, number of its operator): struct launched */
	struct kernel *kernels;    /* by name id */
	int64_t *durations;        /* of the names in their order */
	size_t count;
	int64_t total_ns, short_count, small_grid_count, small_grid_ns;
	double used_sm_ns;     /* sum of min(blocks per SM, 1) × duration */
	bool has_graph;        /* some kernel is a graph's */
	bool has_blocks;       /* of some grid, be it that the multiprocessors are not known */
	int64_t known_grid_ns; /* durations of kernels whose blocks are known */
	struct weighted occupancy_pct;
	int64_t tensor_core_ns, tensor_core_unknown_ns;
	struct {
		int64_t name_count, count, total_ns;
	} kinds[KERNEL_KIND_COUNT];
};

static void weigh(struct weighted *mean, float number, int64_t dur_ns)
{
	if (!isfinite(number))
		return;
	mean->sum += (double)number * (double)dur_ns;
	mean->weight_ns += (double)dur_ns;
}

static struct tscope_value weighted_value(const struct weighted *mean)
{
	return tsi_real(mean->sum / mean->weight_ns); /* 0 ÷ 0: absent */
}

static void work_init(struct work *work, const struct analysis_scope *scope, struct arena *scratch)
{
	*work = (struct work){
		.trace = scope->trace,
		.scratch = scratch,
		.kind_of = scope->kernel_kinds,
		.operators.arena = scratch,
		.op_of_kind = tsi_arena_new(scratch, scope->trace->spans.kind_count,
					    sizeof(*work->op_of_kind)),
		.launched = { .arena = scratch, .item_bytes = sizeof(struct launched) },
		.kernels =
			tsi_arena_new(scratch, scope->trace->names.count, sizeof(*work->kernels)),
	};
	tsi_step_work_init(&work->steps, scope->timeline, scratch);
}

/* Blocks of the grid ÷ multiprocessors of the device, or NAN. */
static float blocks_per_sm(const struct tscope_trace *trace, uint32_t device,
			   const struct work_shape *shape)
{
	if (isfinite(shape->blocks_per_sm) || shape->grid_blocks == 0)
		return shape->blocks_per_sm;
	uint32_t properties = trace->devices[device].properties;
	if (properties == NO_ROW || trace->device_properties[properties].sm_count <= 0)
		return NAN;
	return (float)shape->grid_blocks / (float)trace->device_properties[properties].sm_count;
}

static void add_grid(struct work *work, struct kernel *kernel, float blocks, int64_t dur_ns)
{
	if (!isfinite(blocks))
		return;
	tsi_sum(&work->known_grid_ns, dur_ns);
	work->used_sm_ns += fmin((double)blocks, 1) * (double)dur_ns;
	weigh(&kernel->blocks_per_sm, blocks, dur_ns);
	if (blocks < 1) {
		kernel->small_grid_count++;
		work->small_grid_count++;
		tsi_sum(&work->small_grid_ns, dur_ns);
	}
}

/* The number of an operator among work->operators: that of all of its kind. */
static uint32_t number_of_op(struct work *work, uint32_t op)
{
	if (op == NO_ROW)
		return tsi_pair_set_add(&work->operators, 0, 0);
	const struct span_kind *kind = tsi_span_kind(&work->trace->spans, op);
	uint32_t *known_and_1 = &work->op_of_kind[work->trace->spans.kind[op]];
	if (tsi_unlikely(!*known_and_1))
		*known_and_1 = 1 + tsi_pair_set_add(&work->operators, kind->name,
						    tsi_op_inputs(work->trace, op)->signature);
	return *known_and_1 - 1;
}

static void add_to_launcher(struct work *work, uint32_t name, uint32_t row, int64_t dur_ns)
{
	uint32_t number = number_of_op(work, tsi_launching_op(work->trace, row));

	if (number != UINT32_MAX)
		number = tsi_pair_set_add(&work->launched, name, number);
	if (number == UINT32_MAX)
		return;
	struct launched *launched = (struct launched *)work->launched.items + number;
	launched->count++;
	tsi_sum(&launched->ns, dur_ns);
}

/* Adds a kernel to the step that launched it, where that counts. */
static void add_to_step(struct work *work, uint32_t name, uint32_t row, int64_t dur_ns)
{
	uint32_t step =
		tsi_counted_step_at(&work->steps, tsi_timeline_launch_time(work->trace, row));

	if (step == NO_ROW)
		return;
	work->kernels[name].counted_unlinked += tsi_launch_row(work->trace, row) == NO_ROW;
	tsi_step_work_add(&work->steps, name, step, dur_ns);
	add_to_launcher(work, name, row, dur_ns);
}

static void add_kernel(struct work *work, uint32_t device, uint32_t row)
{
	uint32_t name = tsi_name_id(&work->trace->spans, row);
	const struct work_shape *shape = tsi_work_shape(work->trace, row);
	struct kernel *kernel = &work->kernels[name];
	int64_t dur_ns = tsi_dur_ns(&work->trace->spans, row);

	work->count++;
	tsi_sum(&work->total_ns, dur_ns);
	if (kernel->count++ == 0 || dur_ns < kernel->min_ns)
		kernel->min_ns = dur_ns;
	if (dur_ns > kernel->max_ns || kernel->count == 1) {
		kernel->longest_row = row;
		kernel->max_ns = dur_ns;
	}
	tsi_sum(&kernel->total_ns, dur_ns);
	work->short_count += dur_ns < SHORT_NS;
	work->has_blocks |= shape->grid_blocks > 0;
	work->has_graph |= tsi_device_event(work->trace, row)->graph;
	add_grid(work, kernel, blocks_per_sm(work->trace, device, shape), dur_ns);
	weigh(&kernel->occupancy_pct, shape->occupancy_pct, dur_ns);
	weigh(&work->occupancy_pct, shape->occupancy_pct, dur_ns);
	add_to_step(work, name, row, dur_ns);
}

static void collect(struct work *work)
{
	const struct tscope_trace *trace = work->trace;

	for (uint32_t device = 0; device < trace->device_count; device++) {
		for (uint32_t i = 0; i < trace->devices[device].row_count; i++) {
			uint32_t row = trace->devices[device].rows[i];
			if (tsi_is_kernel(trace, row))
				add_kernel(work, device, row);
		}
	}
	tsi_step_work_settle(&work->steps);
}

/* By name: where its durations end; while they are filled in, where the next one goes. */
static size_t *find_ends(const struct work *work)
{
	size_t end = 0, names = work->trace->names.count;
	size_t *ends = tsi_arena_new(work->scratch, names, sizeof(*ends));

	for (size_t name = 0; ends && name < names; name++) {
		ends[name] = end;
		end += (size_t)work->kernels[name].count;
	}
	return ends;
}

/* Puts the durations together that are of one name. */
static void collect_durations(struct work *work)
{
	const struct tscope_trace *trace = work->trace;
	size_t *ends = find_ends(work);

	work->durations = tsi_arena_new(work->scratch, work->count, sizeof(*work->durations));
	if (!ends || !work->durations)
		return;
	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
		if (tsi_is_kernel(trace, row))
			work->durations[ends[tsi_name_id(&trace->spans, row)]++] =
				tsi_dur_ns(&trace->spans, row);
}

static void add_to_kind(struct work *work, enum kernel_kind kind, struct str name, int64_t count,
			int64_t total_ns)
{
	work->kinds[kind].name_count++;
	work->kinds[kind].count += count;
	tsi_sum(&work->kinds[kind].total_ns, total_ns);
	switch (tsi_tensor_core_use(kind, name)) {
	case TENSOR_CORES_USED:
		tsi_sum(&work->tensor_core_ns, total_ns);
		break;
	case TENSOR_CORES_UNKNOWN:
		tsi_sum(&work->tensor_core_unknown_ns, total_ns);
		break;
	case TENSOR_CORES_NOT_USED:
		break;
	}
}

static void fill_name(struct work *work, uint32_t name, int64_t *durations,
		      struct tscope_value *cells)
{
	const struct kernel *kernel = &work->kernels[name];
	struct str text = tsi_intern_text(&work->trace->names, name);
	enum kernel_kind kind = (enum kernel_kind)work->kind_of[name];
	int64_t total_ns = kernel->total_ns;
	size_t count = (size_t)kernel->count;

	add_to_kind(work, kind, text, kernel->count, total_ns);

	cells[NAME] = tsi_text(text.data);
	cells[NAME_KIND] = tsi_text(tsi_kernel_kind_name(kind));
	cells[NAME_KERNEL_COUNT] = tsi_int(kernel->count);
	cells[NAME_TOTAL_NS] = tsi_int(total_ns);
	cells[NAME_SHARE_RATIO] = tsi_ratio(total_ns, work->total_ns);
	cells[NAME_MEAN_NS] = tsi_mean(total_ns, kernel->count);
	cells[NAME_P50_NS] = tsi_int(tsi_find_quantile_ns(durations, count, 50));
	cells[NAME_P95_NS] = tsi_int(tsi_find_quantile_ns(durations, count, 95));
	cells[NAME_MIN_NS] = tsi_int(kernel->min_ns);
	cells[NAME_MAX_NS] = tsi_int(kernel->max_ns);
	cells[NAME_MAX_START_NS] = tsi_int(tsi_start_ns(&work->trace->spans, kernel->longest_row));
	cells[NAME_BLOCKS_PER_SM] = weighted_value(&kernel->blocks_per_sm);
	cells[NAME_OCCUPANCY_PCT] = weighted_value(&kernel->occupancy_pct);
	if (kernel->blocks_per_sm.weight_ns > 0)
		cells[NAME_SMALL_GRID_COUNT] = tsi_int(kernel->small_grid_count);
	cells[NAME_COUNTED] = tsi_int(work->steps.names[name].count);
	cells[NAME_COUNTED_NS] = tsi_int(work->steps.names[name].ns);
	cells[NAME_STEP_DEVIATION_NS] = tsi_step_deviation(&work->steps, name);
	cells[NAME_COUNTED_UNLINKED] = tsi_int(kernel->counted_unlinked);
}

static void add_names(struct work *work, struct fact_sheet *out)
{
	struct frame_sites sites = tsi_frame_sites(work->trace, LAUNCH_SITE_ROWS, out);
	int64_t name_count = 0, *durations = work->durations;

	for (uint32_t name = 0; name < work->trace->names.count; name++) {
		if (work->kernels[name].count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_NAME);
		fill_name(work, name, durations, cells);
		if (work->kernels[name].total_ns >= work->total_ns / 100)
			tsi_put_launch_site(&sites, work->kernels[name].longest_row,
					    &cells[NAME_MODULE], &cells[NAME_SOURCE], out);
		durations += work->kernels[name].count;
		name_count++;
	}
	tsi_fact_int(out, NAME_COUNT, name_count);
	tsi_table_order(out, BY_NAME, NAME_TOTAL_NS, NAME);
}

static void add_kinds(const struct work *work, struct fact_sheet *out)
{
	for (int kind = 0; kind < KERNEL_KIND_COUNT; kind++) {
		if (work->kinds[kind].count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_KIND);
		cells[KIND] = tsi_text(tsi_kernel_kind_name((enum kernel_kind)kind));
		cells[KIND_NAME_COUNT] = tsi_int(work->kinds[kind].name_count);
		cells[KIND_KERNEL_COUNT] = tsi_int(work->kinds[kind].count);
		cells[KIND_TOTAL_NS] = tsi_int(work->kinds[kind].total_ns);
		cells[KIND_SHARE_RATIO] = tsi_ratio(work->kinds[kind].total_ns, work->total_ns);
	}
	tsi_table_order(out, BY_KIND, KIND_TOTAL_NS, KIND);
}

static void add_launchers(const struct work *work, struct fact_sheet *out)
{
	const struct intern *names = &work->trace->names;
	const struct launched *launched = work->launched.items;

	for (size_t i = 0; i < work->launched.count; i++) {
		const struct pair *kernel = &work->launched.pairs[i];
		const struct pair *op = &work->operators.pairs[kernel->second];
		struct tscope_value *cells = tsi_table_row(out, BY_LAUNCHER);
		cells[LAUNCHER_NAME] = tsi_text(tsi_intern_text(names, kernel->first).data);
		if (op->first)
			cells[LAUNCHER_OPERATOR] = tsi_text(tsi_intern_text(names, op->first).data);
		if (op->second)
			cells[LAUNCHER_INPUTS] = tsi_text(tsi_intern_text(names, op->second).data);
		cells[LAUNCHER_COUNTED] = tsi_int(launched[i].count);
		cells[LAUNCHER_COUNTED_NS] = tsi_int(launched[i].ns);
	}
	tsi_table_order(out, BY_LAUNCHER, LAUNCHER_COUNTED_NS, LAUNCHER_NAME);
}

/*
 * Tensor core use of unclassified kernels is unknown, too; with many of them the metric is not
 * reliable.
 */
static void doubt_kinds(const struct work *work, struct fact_sheet *out)
{
	const double most_other = 0.1;
	static const char doubt[] = "more than 10 % of kernel time is of no known kind";

	if ((double)work->kinds[KERNEL_OTHER].total_ns <= most_other * (double)work->total_ns)
		return;
	tsi_fact_doubt(out, TENSOR_CORE_NS, doubt);
	tsi_fact_doubt(out, TENSOR_CORE_UNKNOWN_NS, doubt);
}

static double span_of_devices(const struct analysis_scope *scope)
{
	double span_ns = 0;

	for (uint32_t i = 0; i < scope->trace->device_count; i++)
		span_ns += (double)(scope->timeline->activity[i].span_end_ns -
				    scope->timeline->activity[i].span_start_ns);
	return span_ns;
}

/* Why a figure of launch configurations says nothing of all kernels; NULL: it does. */
static const char *find_lack(const struct work *work, double known_ns, const char *what,
			     struct fact_sheet *out)
{
	double lacking = 1 - known_ns / (double)work->total_ns;

	if (!(lacking > MOST_LACKING))
		return NULL;
	return tsi_sheet_print(out, "%.1f %% of kernel time has no %s%s", 100 * lacking, what,
			       work->has_graph ? ": the profiler records none for kernels of graphs"
					       : "");
}

static void set_grid_facts(const struct work *work, const struct analysis_scope *scope,
			   struct fact_sheet *out)
{
	static const enum fact figures[] = { SMALL_GRID_COUNT, SMALL_GRID_NS, SM_EFFICIENCY_RATIO };
	const char *lack =
		find_lack(work, (double)work->known_grid_ns, "launch configuration", out);

	if (lack && !work->known_grid_ns && work->has_blocks)
		lack = "the trace does not say the multiprocessors of the device";
	for (size_t i = 0; lack && i < TSI_COUNT_OF(figures); i++)
		tsi_fact_doubt(out, figures[i], lack);
	if (lack || !work->known_grid_ns)
		return;
	tsi_fact_int(out, SMALL_GRID_COUNT, work->small_grid_count);
	tsi_fact_int(out, SMALL_GRID_NS, work->small_grid_ns);
	/* Kernels of several streams may run at once: their sum is no more than all. */
	tsi_fact_real(out, SM_EFFICIENCY_RATIO, fmin(work->used_sm_ns / span_of_devices(scope), 1));
}

static void set_facts(const struct work *work, const struct analysis_scope *scope,
		      struct fact_sheet *out)
{
	int64_t count = (int64_t)work->count;
	const char *lack =
		find_lack(work, work->occupancy_pct.weight_ns, "estimated occupancy", out);

	tsi_fact_int(out, COUNT, count);
	tsi_fact_int(out, TOTAL_NS, work->total_ns);
	tsi_fact_int(out, SHORT_COUNT, work->short_count);
	tsi_fact_ratio(out, SHORT_RATIO, work->short_count, count);
	tsi_fact_int(out, TENSOR_CORE_NS, work->tensor_core_ns);
	tsi_fact_int(out, TENSOR_CORE_UNKNOWN_NS, work->tensor_core_unknown_ns);
	if (lack)
		tsi_fact_doubt(out, OCCUPANCY_PCT, lack);
	else
		tsi_fact_real(out, OCCUPANCY_PCT,
			      work->occupancy_pct.sum / work->occupancy_pct.weight_ns);
	set_grid_facts(work, scope, out);
	doubt_kinds(work, out);
	tsi_judge_device_time(scope->timeline, out);
}

static void fill_kernels(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work;

	work_init(&work, scope, tsi_sheet_scratch(out));
	if (work.scratch->has_failed)
		return;
	collect(&work);
	collect_durations(&work);
	if (work.scratch->has_failed)
		return;
	add_names(&work, out);
	add_kinds(&work, out);
	add_launchers(&work, out);
	set_facts(&work, scope, out);
}

const struct analyzer tsi_analyzer_kernels = {
	.def = {
		.id = "kernels",
		.summary = "kernels by name, by what they compute and by what launched them",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with kernels",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_kernels,
};
