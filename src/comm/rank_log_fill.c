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

#include <stdlib.h>

#include "base/array.h"
#include "base/sum.h"

/* Times of a trace are below 4e18 ns (model/trace/build.h): such a base leaves them 64 bits. */
#define MAX_BASE_NS INT64_C(5000000000000000000)

enum tscope_status tsi_log_name(const struct log_filler *filler, uint32_t name, uint32_t *id)
{
	return tsi_intern_add(&filler->log->names, tsi_intern_text(&filler->trace->names, name), id,
			      filler->err);
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

static enum tscope_status describe_host(const struct log_filler *filler)
{
	const struct tscope_trace *trace = filler->trace;
	struct rank_log *log = filler->log;

	log->rank = trace->info.rank;
	log->is_host = trace->device_count == 0;
	log->visible_device_count = trace->device_properties_count;
	if (tsi_log_name(filler, trace->host_name, &log->host_name) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (log->is_host)
		return TSCOPE_OK;
	const struct device *device = &trace->devices[filler->device];
	log->device_ordinal = device->ordinal;
	return device->properties == NO_ROW
		       ? TSCOPE_OK
		       : tsi_log_name(filler, trace->device_properties[device->properties].name,
				      &log->device_name);
}

static enum tscope_status add_steps(const struct log_filler *filler)
{
	const struct tscope_timeline *timeline = filler->timeline;
	struct rank_log *log = filler->log;

	if (tsi_array_reserve(&log->steps, &log->step_capacity, timeline->step_count,
			      sizeof(*log->steps), filler->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < timeline->step_count; i++)
		log->steps[log->step_count++] = (struct rank_log_step){
			.number = timeline->steps[i].number,
			.start_ns = timeline->steps[i].start_ns,
			.wall_ns = timeline->steps[i].wall_ns,
			.mark = (uint8_t)timeline->steps[i].mark,
		};
	return TSCOPE_OK;
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

static enum tscope_status add_kernel(struct kernel_counter *c, uint32_t row,
				     struct rank_kernel part)
{
	const struct tscope_trace *trace = c->filler->trace;
	struct rank_log *log = c->filler->log;
	uint32_t *number = &c->kernels[tsi_name_id(&trace->spans, row)];

	if (*number == 0) {
		if (tsi_array_reserve(&log->kernels, &log->kernel_capacity, log->kernel_count + 1,
				      sizeof(*log->kernels), c->filler->err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		enum tscope_status status =
			tsi_log_name(c->filler, tsi_name_id(&trace->spans, row), &part.name);
		if (status != TSCOPE_OK)
			return status;
		log->kernels[log->kernel_count] = (struct rank_kernel){ .name = part.name };
		*number = (uint32_t)++log->kernel_count;
	}
	struct rank_kernel *kernel = &log->kernels[*number - 1];
	kernel->is_comm |= part.is_comm;
	kernel->count++;
	tsi_sum(&kernel->total_ns, tsi_dur_ns(&trace->spans, row));
	tsi_sum(&kernel->blocks, part.blocks);
	return TSCOPE_OK;
}

static enum tscope_status add_device_kernels(struct kernel_counter *c)
{
	const struct tscope_trace *trace = c->filler->trace;
	const struct device *device = &trace->devices[c->filler->device];
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t i = 0; status == TSCOPE_OK && i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		struct rank_kernel part = {
			.is_comm = tsi_span_class(&trace->spans, row) == TSCOPE_SPAN_COMM,
			.blocks = tsi_work_shape(trace, row)->grid_blocks,
		};
		if (tsi_is_kernel(trace, row) &&
		    is_counted(c, tsi_timeline_launch_time(trace, row)))
			status = add_kernel(c, row, part);
	}
	return status;
}

/* Operators with the whole of their time: one within another counts in both. */
static enum tscope_status add_operators(struct kernel_counter *c)
{
	const struct tscope_trace *trace = c->filler->trace;
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t row = 0; status == TSCOPE_OK && row < trace->spans.count; row++) {
		if (tsi_span_class(&trace->spans, row) != TSCOPE_SPAN_CPU_OP ||
		    !is_counted(c, tsi_start_ns(&trace->spans, row)))
			continue;
		struct rank_kernel part = {
			.is_comm = tsi_cpu_op(trace, row)->collective != NO_ROW ||
				   tsi_str_starts(tsi_span_name(trace, row), "c10d::"),
		};
		status = add_kernel(c, row, part);
	}
	return status;
}

static enum tscope_status add_kernels(const struct log_filler *filler)
{
	struct kernel_counter c = { .filler = filler };

	if (tsi_array_new(&c.kernels, filler->trace->names.count, sizeof(*c.kernels),
			  filler->err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	enum tscope_status status =
		filler->log->is_host ? add_operators(&c) : add_device_kernels(&c);
	free(c.kernels);
	tsi_rank_log_join_kernels(filler->log);
	return status;
}

/* ---- points ---- */

static const uint8_t line_of_host[HOST_LINE_COUNT] = {
	[HOST_DATA] = TSCOPE_BUDGET_DATA_STALL,   [HOST_FORWARD] = TSCOPE_BUDGET_COMPUTE,
	[HOST_BACKWARD] = TSCOPE_BUDGET_COMPUTE,  [HOST_OPTIMIZER] = TSCOPE_BUDGET_COMPUTE,
	[HOST_COMM] = TSCOPE_BUDGET_EXPOSED_COMM, [HOST_OTHER] = TSCOPE_BUDGET_LAUNCH_STALL,
};

static enum tscope_status copy_host_pieces(struct line_pieces *pieces,
					   const struct line_pieces *from, struct tscope_error *err)
{
	if (tsi_array_reserve(&pieces->items, &pieces->capacity, from->count,
			      sizeof(*pieces->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < from->count; i++) {
		pieces->items[i] = from->items[i];
		pieces->items[i].line = line_of_host[from->items[i].line];
	}
	pieces->count = from->count;
	return TSCOPE_OK;
}

/* With no room to spare: of all that a log holds this is the most. */
static enum tscope_status add_exposed(const struct log_filler *filler,
				      const struct line_pieces *pieces)
{
	struct interval_set *exposed = &filler->log->exposed;
	size_t count = 0;

	for (size_t i = 0; i < pieces->count; i++)
		count += pieces->items[i].line == TSCOPE_BUDGET_EXPOSED_COMM;
	enum tscope_status status =
		tsi_array_new(&exposed->items, count, sizeof(*exposed->items), filler->err);
	if (status == TSCOPE_OK)
		exposed->capacity = count;
	for (size_t i = 0; status == TSCOPE_OK && i < pieces->count; i++) {
		const struct line_piece *piece = &pieces->items[i];
		if (piece->line == TSCOPE_BUDGET_EXPOSED_COMM)
			status = tsi_intervals_append(exposed, piece->start_ns, piece->end_ns,
						      filler->err);
	}
	return status;
}

static enum tscope_status use_pieces(const struct log_filler *filler,
				     const struct line_pieces *pieces)
{
	enum tscope_status status = add_exposed(filler, pieces);

	return status == TSCOPE_OK ? tsi_rank_log_find_points(filler->log, pieces, filler->err)
				   : status;
}

static enum tscope_status add_points(const struct log_filler *filler)
{
	const struct tscope_timeline *timeline = filler->timeline;
	struct line_pieces host = { 0 };

	if (!filler->log->is_host)
		return use_pieces(filler, &timeline->pieces[filler->device]);
	enum tscope_status status = copy_host_pieces(&host, &timeline->pieces[0], filler->err);
	if (status == TSCOPE_OK)
		status = use_pieces(filler, &host);
	free(host.items);
	return status;
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
	for (size_t i = 0; i < log->exposed.count; i++) {
		shift(&log->exposed.items[i].start_ns, by_ns);
		shift(&log->exposed.items[i].end_ns, by_ns);
	}
}

enum tscope_status tsi_rank_log_fill(struct rank_log *log, const struct tscope_trace *trace,
				     const struct tscope_timeline *timeline,
				     struct tscope_error *err)
{
	struct log_filler filler = { log, trace, timeline, find_device(timeline), err };
	enum tscope_status status = describe_host(&filler);

	if (status == TSCOPE_OK)
		status = add_steps(&filler);
	if (status == TSCOPE_OK)
		status = add_kernels(&filler);
	if (status == TSCOPE_OK && timeline->pieces)
		status = tsi_log_add_ops(&filler);
	if (status == TSCOPE_OK && timeline->pieces)
		status = add_points(&filler);
	if (trace->info.has_base_time)
		shift_all(log, trace->info.base_time_ns);
	return status;
}
