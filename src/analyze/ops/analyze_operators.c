/* SPDX-License-Identifier: MIT */
/*
 * Operators (cpu_op) over the whole trace: their time on the host, their own
 * part of it, and the device time of what was launched in them; by name and,
 * where the trace has them, by input shapes. Self time leaves out only the
 * operators directly below: launch calls and Python frames are the operator's.
 */
#include "analyze/facts.h"

#include "analyze/ops/trace_flops.h"
#include "base/pair_set.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

#define FACTS(X)                                                                                   \
	X(COUNT, "count", COUNT, "operators that ran")                                             \
	X(SELF_NS, "self_ns", NS, "host time in operators, over all threads")                      \
	X(DEVICE_NS, "device_ns", NS,                                                              \
	  "sum of the durations of device events launched by operators")                           \
	X(UNATTRIBUTED_DEVICE_RATIO, "unattributed_device_ratio", RATIO,                           \
	  "of all device events' time, launched by no known operator")                             \
	X(NAME_COUNT, "name_count", COUNT, "different operators")

TSI_FACT_LIST(enum fact, facts, FACTS);

/* Nested operators of one name: only the outermost counts; torch's key_averages() has all. */
#define TIME_COLUMNS(X, prefix)                                                                    \
	X(prefix##_OP_COUNT, "count", COUNT, "how often it ran, not counting calls within itself") \
	X(prefix##_TOTAL_NS, "total_ns", NS, "sum of its durations on the host")                   \
	X(prefix##_MEAN_NS, "mean_ns", NS, "mean duration on the host")                            \
	X(prefix##_SELF_NS, "self_ns", NS, "total less the operators directly in it")              \
	X(prefix##_CALL_NS, "call_ns", NS, "of self_ns, in runtime and driver calls")              \
	X(prefix##_DEVICE_NS, "device_ns", NS,                                                     \
	  "sum of the durations of device events launched in it")                                  \
	X(prefix##_SELF_DEVICE_NS, "self_device_ns", NS, "of these, not in an operator within it")

#define NAME_COLUMNS(X)                                                                            \
	X(NAME, "name", TEXT, "of the operator")                                                   \
	TIME_COLUMNS(X, NAME)                                                                      \
	X(NAME_COUNTED, "counted", COUNT,                                                          \
	  "that began in the steps that count, or in any step where none does")                    \
	X(NAME_COUNTED_NS, "counted_ns", NS, "sum of the self times of these")                     \
	X(NAME_STEP_DEVIATION_NS, "step_deviation_ns", NS,                                         \
	  "standard deviation of their self time per step, of these steps")                        \
	X(NAME_COUNTED_DEVICE_NS, "counted_device_ns", NS,                                         \
	  "of counted ones, device time of what they launched themselves")                         \
	X(NAME_DEVICE_DEVIATION_NS, "step_device_deviation_ns", NS,                                \
	  "standard deviation of that per step, of these steps")

TSI_FACT_LIST(enum name_column, name_columns, NAME_COLUMNS);

#define SHAPE_COLUMNS(X)                                                                           \
	X(SHAPE_NAME, "name", TEXT, "of the operator")                                             \
	X(SHAPE_INPUTS, "inputs", TEXT, "dimensions and types of its inputs")                      \
	TIME_COLUMNS(X, SHAPE)

TSI_FACT_LIST(enum shape_column, shape_columns, SHAPE_COLUMNS);

#define TABLES(X)                                                                                  \
	X(BY_NAME, "by_name", name_columns, "operators by name")                                   \
	X(BY_SHAPE, "by_shape", shape_columns,                                                     \
	  "operators by name and inputs, of those whose inputs were recorded")

TSI_TABLE_LIST(enum table, tables, TABLES);

struct work {
	const struct tscope_trace *trace;
	const struct op_sums *sums;
	struct op_times *by_name; /* by name id */
	struct pair_set shapes;   /* (name, signature): struct op_times */
	struct op_times all;
	int64_t all_device_ns; /* of all device events */
};

static void work_init(struct work *work, const struct analysis_scope *scope, struct arena *scratch)
{
	size_t names = scope->trace->names.count;

	*work = (struct work){
		.trace = scope->trace,
		.sums = &scope->flops->operators,
		.by_name = tsi_arena_new(scratch, names, sizeof(*work->by_name)),
		.shapes = { .arena = scratch, .item_bytes = sizeof(struct op_times) },
	};
}

static void sum_up_devices(struct work *work)
{
	const struct tscope_trace *trace = work->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++)
		tsi_sum(&work->all_device_ns, tsi_dur_ns(&trace->spans, row));
}

static void add_times(struct op_times *sum, const struct op_times *part)
{
	sum->count += part->count;
	tsi_sum(&sum->total_ns, part->total_ns);
	tsi_sum(&sum->self_ns, part->self_ns);
	tsi_sum(&sum->call_ns, part->call_ns);
	tsi_sum(&sum->device_ns, part->device_ns);
	tsi_sum(&sum->self_device_ns, part->self_device_ns);
}

static void add_kind(struct work *work, uint32_t number)
{
	const struct op_kind *kind = tsi_op_kind(work->sums, number);
	const struct pair *kind_pair = &work->sums->kinds.pairs[number];
	uint32_t name = kind_pair->first;
	uint32_t signature = work->trace->op_inputs[kind_pair->second].signature;
	struct op_times times = kind->counted;

	add_times(&times, &kind->others);
	add_times(&work->by_name[name], &times);
	add_times(&work->all, &times);
	uint32_t shape = signature ? tsi_pair_set_add(&work->shapes, name, signature) : UINT32_MAX;
	if (shape != UINT32_MAX)
		add_times((struct op_times *)work->shapes.items + shape, &times);
}

/* Fills the columns that both tables have; cells points to the first, "count". */
static void fill_times(struct tscope_value *cells, const struct op_times *times)
{
	enum { FIRST = NAME_OP_COUNT };

	cells[NAME_OP_COUNT - FIRST] = tsi_int(times->count);
	cells[NAME_TOTAL_NS - FIRST] = tsi_int(times->total_ns);
	cells[NAME_MEAN_NS - FIRST] = tsi_mean(times->total_ns, times->count);
	cells[NAME_SELF_NS - FIRST] = tsi_int(times->self_ns);
	cells[NAME_CALL_NS - FIRST] = tsi_int(times->call_ns);
	cells[NAME_DEVICE_NS - FIRST] = tsi_int(times->device_ns);
	cells[NAME_SELF_DEVICE_NS - FIRST] = tsi_int(times->self_device_ns);
}

static void add_names(const struct work *work, struct fact_sheet *out)
{
	int64_t name_count = 0;

	for (uint32_t name = 0; name < work->trace->names.count; name++) {
		if (work->by_name[name].count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, BY_NAME);
		cells[NAME] = tsi_text(tsi_intern_text(&work->trace->names, name).data);
		fill_times(&cells[NAME_OP_COUNT], &work->by_name[name]);
		cells[NAME_COUNTED] = tsi_int(work->sums->steps.names[name].count);
		cells[NAME_COUNTED_NS] = tsi_int(work->sums->steps.names[name].ns);
		cells[NAME_STEP_DEVIATION_NS] = tsi_step_deviation(&work->sums->steps, name);
		cells[NAME_COUNTED_DEVICE_NS] = tsi_int(work->sums->steps.names[name].device_ns);
		cells[NAME_DEVICE_DEVIATION_NS] = tsi_device_deviation(&work->sums->steps, name);
		name_count++;
	}
	tsi_fact_int(out, NAME_COUNT, name_count);
	tsi_table_order(out, BY_NAME, NAME_SELF_NS, NAME);
}

static void add_shapes(const struct work *work, struct fact_sheet *out)
{
	const struct op_times *by_shape = work->shapes.items;
	const struct intern *names = &work->trace->names;

	for (size_t i = 0; i < work->shapes.count; i++) {
		struct tscope_value *cells = tsi_table_row(out, BY_SHAPE);
		const struct pair *shape = &work->shapes.pairs[i];
		cells[SHAPE_NAME] = tsi_text(tsi_intern_text(names, shape->first).data);
		cells[SHAPE_INPUTS] = tsi_text(tsi_intern_text(names, shape->second).data);
		fill_times(&cells[SHAPE_OP_COUNT], &by_shape[i]);
	}
	tsi_table_order(out, BY_SHAPE, SHAPE_DEVICE_NS, SHAPE_NAME);
}

static void fill_operators(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct work work;

	work_init(&work, scope, tsi_sheet_scratch(out));
	if (!work.by_name)
		return;
	sum_up_devices(&work);
	/* Rows of which all figures are the same stay in the order of the trace. */
	for (size_t i = 0; i < work.sums->ended_count; i++)
		add_kind(&work, work.sums->ended[i]);
	add_names(&work, out);
	add_shapes(&work, out);
	tsi_fact_int(out, COUNT, work.all.count);
	tsi_fact_int(out, SELF_NS, work.all.self_ns);
	tsi_fact_int(out, DEVICE_NS, work.all.self_device_ns);
	tsi_fact_ratio(out, UNATTRIBUTED_DEVICE_RATIO, work.all_device_ns - work.all.self_device_ns,
		       work.all_device_ns);
}

const struct analyzer tsi_analyzer_operators = {
	.def = {
		.id = "operators",
		.summary = "operators by name and by input shapes",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with operators",
		.total = TSCOPE_TOTAL_CAPTURE,
	},
	.levels = LEVEL_TRACE,
	.fill = fill_operators,
};
