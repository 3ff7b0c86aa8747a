/* SPDX-License-Identifier: MIT */
/*
 * The critical path of a step on one rank: what its time is made of, who is on it, and so
 * how much a step can gain at most where one of its lines takes no time at all.
 */
#include "analyze/facts.h"

#include "analyze/trace/path_walk.h"
#include "base/sum.h"

#define FACTS(X)                                                                                   \
	X(STEP_COUNT, "step_count", COUNT, "steps that count")                                     \
	X(LENGTH_NS, "length_ns", NS, "length of the chain in a step, mean: its lines sum to it")  \
	X(COVERAGE_RATIO, "coverage_ratio", RATIO,                                                 \
	  "its share of the step: what is missing had no cause in the trace")                      \
	X(COMPUTE_NS, "compute_ns", NS, "kernels on it, per step")                                 \
	X(COMM_NS, "comm_ns", NS, "communication on it")                                           \
	X(COPY_NS, "copy_ns", NS, "copies and fills on it")                                        \
	X(LAUNCH_NS, "launch_ns", NS, "from launch calls to the start of what they launched")      \
	X(DEVICE_GAP_NS, "device_gap_ns", NS,                                                      \
	  "from the end of what a device event waited for to its start")                           \
	X(HOST_NS, "host_ns", NS, "operators, runtime calls and scripts on it")                    \
	X(DATA_NS, "data_ns", NS, "waits for a data loader on it")                                 \
	X(SCRIPT_NS, "script_ns", NS, "of host_ns: in no span but the step's")                     \
	X(SYNC_IS_RECORDED, "sync_is_recorded", FLAG,                                              \
	  "the trace records synchronisation; without it dependencies between streams are "        \
	  "guessed")

TSI_FACT_LIST(enum fact, facts, FACTS);

#define LINES_COLUMNS(X)                                                                           \
	X(LINES_LINE, "line", TEXT, "compute, comm, copy, launch and so on")                       \
	X(LINES_STEP_NS, "step_ns", NS, "on the chain, per step: at most so much can be gained")   \
	X(LINES_SHARE_RATIO, "share_ratio", RATIO, "of the chain")

TSI_FACT_LIST(enum lines_column, lines_columns, LINES_COLUMNS);

#define KERNELS_COLUMNS(X)                                                                         \
	X(PART_NAME, "name", TEXT, "name of the kernel, collective or copy")                       \
	X(PART_COUNT, "count", COUNT, "pieces on it, in the steps that count")                     \
	X(PART_TOTAL_NS, "total_ns", NS, "their time")                                             \
	X(PART_SHARE_RATIO, "share_ratio", RATIO, "of the chain")

TSI_FACT_LIST(enum part_column, kernels_columns, KERNELS_COLUMNS);

static const struct tscope_fact_def operators_columns[] = {
	[PART_NAME] = { "name", TSCOPE_UNIT_TEXT, "name" },
	[PART_COUNT] = { "count", TSCOPE_UNIT_COUNT, "pieces on it, in the steps that count" },
	[PART_TOTAL_NS] = { "total_ns", TSCOPE_UNIT_NS, "their own time" },
	[PART_SHARE_RATIO] = { "share_ratio", TSCOPE_UNIT_RATIO, "of the chain" },
};

#define TABLES(X)                                                                                  \
	X(TABLE_LINES, "lines", lines_columns, "its composition")                                  \
	X(TABLE_KERNELS, "by_kernel", kernels_columns, "device events on it")                      \
	X(TABLE_OPERATORS, "by_operator", operators_columns, "host spans on it, innermost")

TSI_TABLE_LIST(enum table, tables, TABLES);

static const struct {
	const char *name;
	enum fact fact;
	bool is_of_devices;
} lines[PATH_LINE_COUNT] = {
	[PATH_COMPUTE] = { "compute", COMPUTE_NS, true },
	[PATH_COMM] = { "comm", COMM_NS, false },
	[PATH_COPY] = { "copy", COPY_NS, true },
	[PATH_LAUNCH] = { "launch", LAUNCH_NS, true },
	[PATH_DEVICE_GAP] = { "device_gap", DEVICE_GAP_NS, true },
	[PATH_HOST] = { "host", HOST_NS, false },
	[PATH_DATA] = { "data", DATA_NS, false },
};

struct part {
	int64_t count, ns;
};

struct sums {
	struct path_sink sink; /* first: a pointer to it is one to the sums */
	const struct tscope_trace *trace;
	int64_t line_ns[PATH_LINE_COUNT];
	int64_t script_ns;
	struct part *device_parts, *host_parts; /* by name id */
	int64_t step_count, wall_ns, length_ns;
};

static void take_piece(struct path_sink *sink, const struct path_piece *piece)
{
	struct sums *sums = (struct sums *)sink;
	int64_t length_ns = piece->end_ns - piece->start_ns;

	tsi_sum(&sums->line_ns[piece->line], length_ns);
	if (piece->line == PATH_LAUNCH || piece->line == PATH_DEVICE_GAP)
		return;
	if (piece->row == NO_ROW) {
		tsi_sum(&sums->script_ns, length_ns);
		return;
	}
	const struct span_kind *kind = tsi_span_kind(&sums->trace->spans, piece->row);
	bool is_device = tsi_class_is_device((uint8_t)kind->span_class);
	struct part *part = &(is_device ? sums->device_parts : sums->host_parts)[kind->name];
	part->count++;
	tsi_sum(&part->ns, length_ns);
}

static void find_sums(struct sums *sums, const struct tscope_timeline *timeline,
		      struct arena *scratch)
{
	size_t name_count = timeline->trace->names.count;

	*sums = (struct sums){ .sink.take = take_piece, .trace = timeline->trace };
	for (uint32_t i = 0; i < timeline->step_count; i++) {
		if (timeline->steps[i].mark != TSCOPE_STEP_COUNTED)
			continue;
		sums->step_count++;
		tsi_sum(&sums->wall_ns, timeline->steps[i].wall_ns);
	}
	sums->device_parts = tsi_arena_new(scratch, name_count, sizeof(struct part));
	sums->host_parts = tsi_arena_new(scratch, name_count, sizeof(struct part));
	if (sums->device_parts && sums->host_parts)
		tsi_path_walk(timeline, &sums->sink, scratch);
	for (unsigned line = 0; line < PATH_LINE_COUNT; line++)
		tsi_sum(&sums->length_ns, sums->line_ns[line]);
}

/* Mean per counted step of a sum over them; rounds halves up. */
static int64_t per_step(const struct sums *sums, int64_t sum_ns)
{
	int64_t rest_ns = sum_ns % sums->step_count;

	return sum_ns / sums->step_count + (rest_ns >= sums->step_count - rest_ns);
}

/* Each line gets what the mean grows by with it: so they sum to the length, without a rest. */
static void find_step_lines(const struct sums *sums, int64_t step_ns[PATH_LINE_COUNT])
{
	int64_t sum_ns = 0;

	for (unsigned line = 0; line < PATH_LINE_COUNT; line++) {
		int64_t before_ns = per_step(sums, sum_ns);
		tsi_sum(&sum_ns, sums->line_ns[line]);
		step_ns[line] = per_step(sums, sum_ns) - before_ns;
	}
}

/* Can the trace have time of this kind at all? */
static bool may_have(const struct sums *sums, unsigned line)
{
	bool has_devices = sums->trace->device_count > 0;

	if (line == PATH_COMM)
		return has_devices || sums->line_ns[PATH_COMM] > 0;
	return lines[line].is_of_devices ? has_devices : sums->trace->host_track_count > 0;
}

static void put_lines(const struct sums *sums, struct fact_sheet *out)
{
	int64_t step_ns[PATH_LINE_COUNT];

	find_step_lines(sums, step_ns);
	for (unsigned line = 0; line < PATH_LINE_COUNT; line++) {
		if (!may_have(sums, line))
			continue;
		tsi_fact_int(out, lines[line].fact, step_ns[line]);
		if (sums->line_ns[line] == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, TABLE_LINES);
		cells[LINES_LINE] = tsi_text(lines[line].name);
		cells[LINES_STEP_NS] = tsi_int(step_ns[line]);
		cells[LINES_SHARE_RATIO] = tsi_ratio(sums->line_ns[line], sums->length_ns);
	}
	tsi_table_order(out, TABLE_LINES, LINES_STEP_NS, LINES_LINE);
}

static void put_parts(const struct sums *sums, const struct part *parts, enum table table,
		      struct fact_sheet *out)
{
	const struct intern *names = &sums->trace->names;

	for (uint32_t name = 0; name < names->count; name++) {
		if (parts[name].count == 0)
			continue;
		struct tscope_value *cells = tsi_table_row(out, table);
		cells[PART_NAME] = tsi_text(tsi_intern_text(names, name).data);
		cells[PART_COUNT] = tsi_int(parts[name].count);
		cells[PART_TOTAL_NS] = tsi_int(parts[name].ns);
		cells[PART_SHARE_RATIO] = tsi_ratio(parts[name].ns, sums->length_ns);
	}
	tsi_table_order(out, table, PART_TOTAL_NS, PART_NAME);
}

static void put_sums(const struct sums *sums, struct fact_sheet *out)
{
	if (sums->length_ns == 0)
		return;
	tsi_fact_int(out, STEP_COUNT, sums->step_count);
	tsi_fact_int(out, LENGTH_NS, per_step(sums, sums->length_ns));
	tsi_fact_ratio(out, COVERAGE_RATIO, sums->length_ns, sums->wall_ns);
	if (sums->trace->host_track_count > 0)
		tsi_fact_int(out, SCRIPT_NS, per_step(sums, sums->script_ns));
	if (sums->trace->device_count > 0)
		tsi_fact_flag(out, SYNC_IS_RECORDED, sums->trace->sync_record_count > 0);
	put_lines(sums, out);
	put_parts(sums, sums->device_parts, TABLE_KERNELS, out);
	put_parts(sums, sums->host_parts, TABLE_OPERATORS, out);
}

static void fill_critical_path(const struct analysis_scope *scope, struct fact_sheet *out)
{
	struct sums sums;

	if (scope->trace->device_count == 0 && scope->trace->cpu_op_count == 0)
		return;
	find_sums(&sums, scope->timeline, tsi_sheet_scratch(out));
	if (!sums.host_parts)
		return;
	put_sums(&sums, out);
	if (scope->trace->device_count > 0 && scope->steps->doubt)
		tsi_fact_unreliable(out, scope->steps->doubt);
}

const struct analyzer tsi_analyzer_critical_path = {
	.def = {
		.id = "critical_path",
		.summary = "the chain of spans on host and device that bounds a step",
		TSI_FACTS(facts),
		TSI_TABLES(tables),
		.needs = "a trace with device activity or operators, and a complete step",
	},
	.levels = LEVEL_TRACE,
	.beside_flops = true,
	.fill = fill_critical_path,
};
