/* SPDX-License-Identifier: MIT */
/*
 * Properties of the devices' rows that the FLOPs count needs: who launched them, whether they
 * multiply matrices, and whose work they are.
 */
#include "analyze/ops/flops_count.h"

#include <math.h>

#include "analyze/ops/graph_join.h"
#include "base/sum.h"
#include "model/trace/device_rows.h"

/* KERNEL_KIND_COUNT where it computes nothing. */
static enum kernel_kind kind_of(const struct flops_count *c, uint32_t row)
{
	const struct spans *spans = &c->trace->spans;

	if (tsi_span_class(spans, row) != TSCOPE_SPAN_KERNEL)
		return KERNEL_KIND_COUNT;
	return (enum kernel_kind)c->kernel_kinds[tsi_name_id(spans, row)];
}

static bool is_matrix_kernel(const struct flops_count *c, uint32_t row)
{
	return tsi_kernel_kind_multiplies(kind_of(c, row));
}

/* Which operators launched anything. */
static void find_launchers(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;
	uint32_t first_row = tsi_first_device_row(trace);

	if (!tsi_bit_set_init(&c->launcher_rows, trace->spill, first_row)) {
		c->memory.has_failed = true;
		return;
	}
	for (uint32_t row = first_row; row < trace->spans.count; row++) {
		uint32_t op = tsi_device_event(trace, row)->op;
		if (op != NO_ROW)
			tsi_bit_set_add(&c->launcher_rows, op);
	}
	for (size_t i = 0; i < c->captured_count; i++)
		if (c->captured[i].op != NO_ROW)
			tsi_bit_set_add(&c->launcher_rows, c->captured[i].op);
	uint32_t launcher_count = tsi_bit_set_close(&c->launcher_rows);
	c->launchers = tsi_arena_new(&c->memory, launcher_count, sizeof(*c->launchers));
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
		if (kind_of(c, row) == KERNEL_OTHER)
			tsi_sum(&time->other_ns, dur_ns);
	}
}

/* They will run when the graph is replayed: there are no durations. */
static void note_captured(struct flops_count *c)
{
	for (size_t i = 0; i < c->captured_count; i++) {
		if (c->captured[i].op == NO_ROW)
			continue;
		struct launcher *launcher = launcher_of(c, c->captured[i].op);
		launcher->is_launcher = true;
		launcher->launches_matrix |= tsi_kernel_kind_multiplies(tsi_kernel_kind_of_name(
			tsi_intern_text(&c->trace->names, c->captured[i].kernel)));
	}
}

void tsi_flops_settle_captured(struct flops_count *c)
{
	for (size_t i = 0; i < c->captured_count; i++) {
		struct captured_launch *launch = &c->captured[i];
		if (launch->op == NO_ROW)
			continue;
		const struct launcher *launcher = launcher_of(c, launch->op);
		launch->owner = launcher->owner;
		launch->owner_row = launcher->owner_row;
		launch->is_lacking = launcher->is_lacking;
	}
}

/* Is there so much of no known kind beside products that it may hold some, too? */
static bool may_hide_products(const struct flops_count *c)
{
	const double most_other = 0.1;
	double compute_ns = 0, matrix_ns = 0, other_ns = 0;

	for (uint32_t i = 0; i < c->trace->device_count; i++) {
		compute_ns += (double)c->device_times[i].compute_ns;
		matrix_ns += (double)c->device_times[i].matrix_ns;
		other_ns += (double)c->device_times[i].other_ns;
	}
	return matrix_ns > 0 && other_ns > most_other * compute_ns;
}

void tsi_flops_look_at_devices(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;

	find_launchers(c);
	for (uint32_t i = 0; c->launchers && i < trace->device_count; i++)
		note_launches(c, &trace->devices[i], &c->device_times[i]);
	if (c->launchers)
		note_captured(c);
	c->out->counts_others = may_hide_products(c);
}

/* Such copies are bound by a link, not by the device's memory. */
static bool crosses_link(const struct work_traits *traits)
{
	return traits->direction == COPY_H2D || traits->direction == COPY_D2H ||
	       traits->direction == COPY_P2P;
}

static void add_launch(struct flops_count *c, uint32_t op, uint32_t row)
{
	const struct spans *spans = &c->trace->spans;

	tsi_sum(&c->out->ops[op].device_ns, tsi_dur_ns(spans, row));
	c->out->ops[op].crosses_link |= crosses_link(tsi_work_traits(c->trace, row));
	if (tsi_span_class(spans, row) != TSCOPE_SPAN_KERNEL)
		return;
	uint32_t number = tsi_pair_set_add(&c->launches, op, tsi_name_id(spans, row));
	if (number != UINT32_MAX)
		tsi_sum((int64_t *)c->launches.items + number, tsi_dur_ns(spans, row));
}

/* op_name: of the operator that launched it, 0: not known. */
static void add_uncounted(struct flops_count *c, uint32_t row, uint32_t op_name,
			  enum uncounted_reason reason)
{
	const struct spans *spans = &c->trace->spans;
	uint32_t name = tsi_name_id(spans, row);

	uint32_t number = tsi_pair_set_add(&c->uncounted, name, op_name);
	if (number == UINT32_MAX)
		return;
	struct uncounted_kernel *kernel = (struct uncounted_kernel *)c->uncounted.items + number;
	if (kernel->count++ == 0) {
		kernel->kernel = name;
		kernel->op = op_name;
		kernel->kind = (enum kernel_kind)c->kernel_kinds[name];
		kernel->reason = reason;
	}
	tsi_sum(&kernel->total_ns, tsi_dur_ns(spans, row));
}

/* One that no operator of this trace launched; that of a graph's node may be known. */
static void add_uncounted_node(struct flops_count *c, uint32_t row)
{
	const struct graph_join *graphs = c->out->graphs;
	const struct graph_node *node = tsi_graph_node(graphs, c->trace, row);

	if (!node || node->op == NO_ROW) {
		add_uncounted(c, row, 0, UNCOUNTED_NO_OPERATOR);
		return;
	}
	const struct graph_op *op = &graphs->set->ops[node->op];
	add_uncounted(c, row, op->name,
		      op->result == OP_WORK_NO_MODEL ? UNCOUNTED_NO_MODEL : UNCOUNTED_NO_INPUTS);
}

static bool has_bytes(const struct flops_count *c, uint32_t op)
{
	const struct op_calls *calls = &c->calls[op];

	return !isnan(calls->varied_count ? calls->varied_bytes : c->out->ops[op].work.bytes);
}

static void add_bytes_ns(struct flops_count *c, uint32_t op, uint32_t step, int64_t dur_ns)
{
	struct step_bytes *bytes = &c->out->step_bytes[step];
	bool is_ranged = !has_bytes(c, op) && c->out->ops[op].work.least_bytes > 0;

	if (has_bytes(c, op) || is_ranged)
		tsi_sum(&bytes->counted_ns, dur_ns);
	if (is_ranged)
		tsi_sum(&bytes->ranged_ns, dur_ns);
}

/* op: the counted operator whose kernel it is, or NO_ROW. */
static void add_matrix_kernel(struct flops_count *c, uint32_t op, uint32_t row)
{
	const struct spans *spans = &c->trace->spans;
	uint32_t launcher = tsi_launching_op(c->trace, row);
	uint32_t step = tsi_flops_step_at(c, tsi_timeline_launch_time(c->trace, row));
	int64_t dur_ns = tsi_dur_ns(spans, row);

	tsi_sum(&c->out->all.matrix_ns, dur_ns);
	if (step != NO_ROW)
		tsi_sum(&c->out->steps[step].matrix_ns, dur_ns);
	if (op != NO_ROW && c->out->ops[op].multiplies) {
		tsi_sum(&c->out->all.counted_ns, dur_ns);
		if (step != NO_ROW)
			tsi_sum(&c->out->steps[step].counted_ns, dur_ns);
		if (step != NO_ROW && c->out->step_bytes)
			add_bytes_ns(c, op, step, dur_ns);
	} else if (launcher == NO_ROW) {
		add_uncounted_node(c, row);
	} else {
		bool is_lacking = launcher_of(c, launcher)->is_lacking;
		add_uncounted(c, row, tsi_name_id(spans, launcher),
			      is_lacking ? UNCOUNTED_NO_INPUTS : UNCOUNTED_NO_MODEL);
	}
}

void tsi_flops_collect_kernels(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;

	for (uint32_t row = tsi_first_device_row(trace); row < trace->spans.count; row++) {
		uint32_t launcher = tsi_launching_op(trace, row);
		uint32_t op = NO_ROW;
		if (launcher != NO_ROW)
			op = launcher_of(c, launcher)->owner;
		else if (c->owner_of_row)
			op = c->owner_of_row[tsi_device_event_index(trace, row)];
		if (op != NO_ROW)
			add_launch(c, op, row);
		if (is_matrix_kernel(c, row) ||
		    (c->out->counts_others && kind_of(c, row) == KERNEL_OTHER))
			add_matrix_kernel(c, op, row);
	}
	c->out->uncounted = c->uncounted.items;
	c->out->uncounted_count = c->uncounted.count;
}
