/* SPDX-License-Identifier: MIT */
/*
 * Reduces a trace that is about to be closed to the log of its rank. The log follows the device
 * with the most communication; where there is none, the main thread, whose lines become those of a
 * device:
 *
 *	data                              data_stall
 *	forward, backward, optimizer      compute
 *	comm                              exposed_comm
 *	other: the host does other things launch_stall
 */
#include "comm/log_filler.h"

#include "base/sum.h"
#include "comm/latch.h"

/* Times of a trace are below 4e18 ns (model/trace/build.h): such a base leaves them 64 bits. */
#define MAX_BASE_NS INT64_C(5000000000000000000)

uint32_t tsi_log_name(const struct log_filler *filler, uint32_t name)
{
	return tsi_latch_text(&filler->log->arena, &filler->log->names,
			      tsi_intern_text(&filler->trace->names, name));
}

/* ---- who ---- */

static uint32_t find_device(const struct tscope_timeline *timeline)
{
	int64_t most_ns = -1;
	uint32_t device = 0;

	for (uint32_t d = 0; d < timeline->trace->device_count; d++) {
		int64_t comm_ns = tsi_intervals_length(&timeline->activity[d].comm);
		if (comm_ns > most_ns) {
			most_ns = comm_ns;
			device = d;
		}
	}
	return device;
}

static void describe_host(const struct log_filler *filler)
{
	const struct tscope_trace *trace = filler->trace;
	struct rank_log *log = filler->log;

	log->rank = trace->info.rank;
	log->is_host = trace->device_count == 0;
	log->visible_device_count = trace->device_properties_count;
	log->host_name = tsi_log_name(filler, trace->host_name);
	if (log->is_host)
		return;
	const struct device *device = &trace->devices[filler->device];
	log->device_ordinal = device->ordinal;
	if (device->properties != NO_ROW)
		log->device_name =
			tsi_log_name(filler, trace->device_properties[device->properties].name);
}

static void add_steps(const struct log_filler *filler)
{
	const struct tscope_timeline *timeline = filler->timeline;
	struct rank_log *log = filler->log;

	log->steps = tsi_arena_new(&log->arena, timeline->step_count, sizeof(*log->steps));
	if (!log->steps)
		return;
	log->step_count = log->step_capacity = timeline->step_count;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		log->steps[i] = (struct rank_log_step){
			.number = timeline->steps[i].number,
			.start_ns = timeline->steps[i].start_ns,
			.wall_ns = timeline->steps[i].wall_ns,
			.mark = (uint8_t)timeline->steps[i].mark,
		};
}

/* ---- kernels ---- */

struct kernel_counter {
	const struct log_filler *filler;
	uint32_t *kernels; /* by name in the trace: index in the log + 1, 0: none */
	int64_t step_start_ns, step_end_ns; /* of the counted step of the row seen last */
};

static bool is_counted(struct kernel_counter *c, int64_t launch_ns)
{
	const struct tscope_timeline *timeline = c->filler->timeline;

	if (launch_ns >= c->step_start_ns && launch_ns < c->step_end_ns)
		return true;
	uint32_t step = tsi_timeline_step_at(timeline, launch_ns);
	if (step == NO_ROW || timeline->steps[step].mark != TSCOPE_STEP_COUNTED)
		return false;
	c->step_start_ns = timeline->steps[step].start_ns;
	c->step_end_ns = c->step_start_ns + timeline->steps[step].wall_ns;
	return true;
}

static inline void add_kernel(struct kernel_counter *c, uint32_t row, struct rank_kernel part)
{
	const struct tscope_trace *trace = c->filler->trace;
	struct rank_log *log = c->filler->log;
	uint32_t name = tsi_name_id(&trace->spans, row), *number = &c->kernels[name];

	if (*number == 0) {
		struct rank_kernel *added =
			tsi_arena_push(&log->arena, &log->kernels, &log->kernel_count,
				       &log->kernel_capacity, sizeof(*added));
		if (!added)
			return;
		added->name = tsi_log_name(c->filler, name);
		*number = (uint32_t)log->kernel_count;
	}
	struct rank_kernel *kernel = &log->kernels[*number - 1];
	kernel->is_comm |= part.is_comm;
	kernel->count++;
	tsi_sum(&kernel->total_ns, tsi_dur_ns(&trace->spans, row));
	tsi_sum(&kernel->blocks, part.blocks);
}

static void add_device_kernels(struct kernel_counter *c)
{
	const struct tscope_trace *trace = c->filler->trace;
	const struct device *device = &trace->devices[c->filler->device];

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		if (!tsi_is_kernel(trace, row) ||
		    !is_counted(c, tsi_timeline_launch_time(trace, row)))
			continue;
		struct rank_kernel part = {
			.is_comm = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM,
			.blocks = tsi_work_shape(trace, row)->grid_blocks,
		};
		add_kernel(c, row, part);
	}
}

/* Operators with the whole of their time: one within another counts in both. */
static void add_operators(struct kernel_counter *c)
{
	const struct tscope_trace *trace = c->filler->trace;

	for (uint32_t row = 0; row < trace->spans.count; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP ||
		    !is_counted(c, tsi_start_ns(&trace->spans, row)))
			continue;
		struct rank_kernel part = {
			.is_comm = tsi_cpu_op(trace, row)->collective != NO_ROW ||
				   tsi_str_starts(tsi_span_name(trace, row), "c10d::"),
		};
		add_kernel(c, row, part);
	}
}

static void add_kernels(const struct log_filler *filler)
{
	struct arena scratch = { 0 };
	struct kernel_counter c = { .filler = filler };

	c.kernels = tsi_arena_new(&scratch, filler->trace->names.count, sizeof(*c.kernels));
	if (c.kernels && filler->log->is_host)
		add_operators(&c);
	else if (c.kernels)
		add_device_kernels(&c);
	tsi_latch_deinit(&filler->log->arena, &scratch);
	tsi_rank_log_join_kernels(filler->log);
}

/* ---- points ---- */

static const uint8_t line_of_host[HOST_LINE_COUNT] = {
	[HOST_DATA] = TSCOPE_BUDGET_DATA_STALL,   [HOST_FORWARD] = TSCOPE_BUDGET_COMPUTE,
	[HOST_BACKWARD] = TSCOPE_BUDGET_COMPUTE,  [HOST_OPTIMIZER] = TSCOPE_BUDGET_COMPUTE,
	[HOST_COMM] = TSCOPE_BUDGET_EXPOSED_COMM, [HOST_OTHER] = TSCOPE_BUDGET_LAUNCH_STALL,
};

static void add_points(const struct log_filler *filler)
{
	const struct line_pieces *from = &filler->timeline->pieces[filler->device];
	struct rank_log *log = filler->log;
	struct line_pieces host = *from;
	struct arena scratch = { 0 };

	if (log->is_host) {
		host.items = tsi_arena_new(&scratch, from->count, sizeof(*host.items));
		for (size_t i = 0; host.items && i < from->count; i++) {
			host.items[i] = from->items[i];
			host.items[i].line = line_of_host[from->items[i].line];
		}
		from = &host;
	}
	if (!scratch.has_failed)
		tsi_rank_log_find_points(log, from);
	tsi_latch_deinit(&log->arena, &scratch);
}

/* ---- the clock ---- */

static void shift(int64_t *time_ns, int64_t by_ns)
{
	if (*time_ns != NO_NUMBER)
		tsi_sum_signed(time_ns, by_ns);
}

/* Times become Unix times; but with a base that no clock has they would not fit. */
static void shift_all(struct rank_log *log, int64_t by_ns)
{
	log->has_start = by_ns >= -MAX_BASE_NS && by_ns <= MAX_BASE_NS;
	if (!log->has_start)
		return;
	for (size_t i = 0; i < log->op_count; i++) {
		shift(&log->ops[i].start_ns, by_ns);
		shift(&log->ops[i].ready_ns, by_ns);
		shift(&log->ops[i].launch_ns, by_ns);
	}
	for (size_t i = 0; i < log->point_count; i++)
		shift(&log->points[i].time_ns, by_ns);
	for (size_t i = 0; i < log->step_count; i++)
		shift(&log->steps[i].start_ns, by_ns);
	for (size_t i = 0; i < log->still.count; i++) {
		shift(&log->still.items[i].start_ns, by_ns);
		shift(&log->still.items[i].end_ns, by_ns);
	}
}

enum tscope_status tsi_rank_log_fill(struct rank_log *log, const struct tscope_trace *trace,
				     const struct tscope_timeline *timeline,
				     struct tscope_error *err)
{
	const struct log_filler filler = { log, trace, timeline, find_device(timeline) };

	describe_host(&filler);
	add_steps(&filler);
	add_kernels(&filler);
	if (timeline->pieces && !log->arena.has_failed)
		tsi_log_add_ops(&filler);
	if (timeline->pieces && !log->arena.has_failed)
		add_points(&filler);
	if (timeline->pieces && !log->arena.has_failed)
		tsi_log_add_places(&filler);
	if (trace->info.has_base_time && !log->arena.has_failed)
		shift_all(log, trace->info.base_time_ns);
	return tsi_arena_status(&log->arena, err);
}
