/* SPDX-License-Identifier: MIT */
/*
 * What counting FLOPs asks of the devices' rows: who launched them, whether they
 * multiply matrices, and whose work they are.
 */
#include "analyze/ops/flops_count.h"

#include "base/array.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

static bool is_matrix_kernel(const struct flops_count *c, uint32_t row)
{
	const struct spans *spans = &c->trace->spans;

	return tsi_span_class(spans, row) == TSCOPE_SPAN_KERNEL &&
	       tsi_kernel_kind_multiplies(
		       (enum kernel_kind)c->kernel_kinds[tsi_name_id(spans, row)]);
}

/* Which operators launched anything. */
static enum tscope_status find_launchers(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;
	uint32_t first_row = tsi_first_device_row(trace);

	if (tsi_bit_set_init(&c->launcher_rows, first_row, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t row = first_row; row < trace->spans.count; row++) {
		uint32_t op = tsi_device_event(trace, row)->op;
		if (op != NO_ROW)
			tsi_bit_set_add(&c->launcher_rows, op);
	}
	uint32_t launcher_count = tsi_bit_set_close(&c->launcher_rows);
	return tsi_array_new(&c->launchers, launcher_count, sizeof(*c->launchers), err);
}

static struct launcher *launcher_of(const struct flops_count *c, uint32_t op)
{
	return &c->launchers[tsi_bit_set_rank(&c->launcher_rows, op)];
}

static void note_launches(struct flops_count *c, const struct device *device,
			  struct device_time *time)
{
	const struct spans *spans = &c->trace->spans;

	for (uint32_t i = 0; i < device->row_count; i++) {
		uint32_t row = device->rows[i];
		const struct device_event *event = tsi_device_event(c->trace, row);
		bool is_matrix = is_matrix_kernel(c, row);
		int64_t dur_ns = tsi_dur_ns(spans, row);

		if (event->op != NO_ROW) {
			struct launcher *launcher = launcher_of(c, event->op);
			tsi_sum(&launcher->launched_ns, dur_ns);
			launcher->is_launcher |= !event->graph;
			launcher->launches_matrix |= is_matrix && !event->graph;
		}
		if (tsi_span_class(spans, row) == TSCOPE_SPAN_KERNEL)
			tsi_sum(&time->compute_ns, dur_ns);
		if (is_matrix)
			tsi_sum(&time->matrix_ns, dur_ns);
	}
}

enum tscope_status tsi_flops_look_at_devices(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;

	if (find_launchers(c, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (uint32_t i = 0; i < trace->device_count; i++)
		note_launches(c, &trace->devices[i], &c->device_times[i]);
	return TSCOPE_OK;
}

/* Then a link limits it, and not the device's memory. */
static bool crosses_link(const struct work_traits *traits)
{
	return traits->direction == COPY_H2D || traits->direction == COPY_D2H ||
	       traits->direction == COPY_P2P;
}

static enum tscope_status add_launch(struct flops_count *c, uint32_t op, uint32_t row,
				     struct tscope_error *err)
{
	const struct spans *spans = &c->trace->spans;
	size_t known = c->launches.count;
	uint32_t number;

	tsi_sum(&c->out->ops[op].device_ns, tsi_dur_ns(spans, row));
	c->out->ops[op].crosses_link |= crosses_link(tsi_work_traits(c->trace, row));
	if (tsi_span_class(spans, row) != TSCOPE_SPAN_KERNEL)
		return TSCOPE_OK;
	if (tsi_pair_set_find(&c->launches, op, tsi_name_id(spans, row), &number, err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&c->launch_ns, &c->launch_capacity, c->launches.count,
			      sizeof(*c->launch_ns), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (number == known)
		c->launch_ns[number] = 0;
	tsi_sum(&c->launch_ns[number], tsi_dur_ns(spans, row));
	return TSCOPE_OK;
}

static enum tscope_status add_uncounted(struct flops_count *c, uint32_t row,
					enum uncounted_reason reason, struct tscope_error *err)
{
	const struct spans *spans = &c->trace->spans;
	uint32_t op = tsi_device_event(c->trace, row)->op, op_name = 0, number;
	size_t known = c->uncounted.count;

	if (reason != UNCOUNTED_NO_OPERATOR)
		op_name = tsi_name_id(spans, op);
	if (tsi_pair_set_find(&c->uncounted, tsi_name_id(spans, row), op_name, &number, err) !=
		    TSCOPE_OK ||
	    tsi_array_reserve(&c->out->uncounted, &c->uncounted_capacity, c->uncounted.count,
			      sizeof(*c->out->uncounted), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct uncounted_kernel *kernel = &c->out->uncounted[number];
	if (number == known)
		*kernel = (struct uncounted_kernel){
			.kernel = tsi_name_id(spans, row),
			.op = op_name,
			.kind = (enum kernel_kind)c->kernel_kinds[tsi_name_id(spans, row)],
			.reason = reason,
		};
	c->out->uncounted_count = c->uncounted.count;
	kernel->count++;
	tsi_sum(&kernel->total_ns, tsi_dur_ns(spans, row));
	return TSCOPE_OK;
}

/* op: the counted operator whose kernel it is, or NO_ROW. */
static enum tscope_status add_matrix_kernel(struct flops_count *c, uint32_t op, uint32_t row,
					    struct tscope_error *err)
{
	const struct spans *spans = &c->trace->spans;
	uint32_t call = tsi_device_event(c->trace, row)->call;
	uint32_t launcher = tsi_launching_op(c->trace, row);
	uint32_t step = tsi_flops_step_at(c, tsi_start_ns(spans, call == NO_ROW ? row : call));
	int64_t dur_ns = tsi_dur_ns(spans, row);

	tsi_sum(&c->out->all.matrix_ns, dur_ns);
	if (step != NO_ROW)
		tsi_sum(&c->out->steps[step].matrix_ns, dur_ns);
	if (op != NO_ROW && c->out->ops[op].multiplies) {
		tsi_sum(&c->out->all.counted_ns, dur_ns);
		if (step != NO_ROW)
			tsi_sum(&c->out->steps[step].counted_ns, dur_ns);
		return TSCOPE_OK;
	}
	if (launcher == NO_ROW)
		return add_uncounted(c, row, UNCOUNTED_NO_OPERATOR, err);
	return add_uncounted(c, row,
			     launcher_of(c, launcher)->is_lacking ? UNCOUNTED_NO_INPUTS
								  : UNCOUNTED_NO_MODEL,
			     err);
}

enum tscope_status tsi_flops_collect_kernels(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;
	enum tscope_status status = TSCOPE_OK;

	for (uint32_t row = tsi_first_device_row(trace);
	     status == TSCOPE_OK && row < trace->spans.count; row++) {
		uint32_t launcher = tsi_launching_op(trace, row);
		uint32_t op = launcher == NO_ROW ? NO_ROW : launcher_of(c, launcher)->owner;
		if (op != NO_ROW)
			status = add_launch(c, op, row, err);
		if (status == TSCOPE_OK && is_matrix_kernel(c, row))
			status = add_matrix_kernel(c, op, row, err);
	}
	return status;
}
