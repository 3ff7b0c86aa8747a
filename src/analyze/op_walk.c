/* SPDX-License-Identifier: MIT */
/*
 * One pass over the rows of the host with a stack of the operators that are open. Rows are ordered
 * by start, the longer first, so a parent always comes before its children.
 */
#include "analyze/op_walk.h"

#include <stdlib.h>

#include "analyze/flops_count.h"
#include "base/array.h"
#include "base/sum.h"

struct walk {
	struct flops_count *c;
	struct op_sums *sums;
	struct op_stack stack;
	size_t capacity;
};

/* What was launched in an operator itself is known before it opens. */
static enum tscope_status open_launcher(struct walk *walk, struct open_op *op,
					struct tscope_error *err)
{
	struct flops_count *c = walk->c;
	uint32_t number = NO_ROW;

	if (tsi_bit_set_has(&c->launcher_rows, op->row)) {
		number = tsi_bit_set_rank(&c->launcher_rows, op->row);
		op->self_device_ns = c->launchers[number].launched_ns;
		op->device_ns = op->self_device_ns;
		if (!c->launchers[number].is_launcher)
			number = NO_ROW;
	}
	if (number == NO_ROW && c->trace->device_count)
		return TSCOPE_OK;
	return tsi_flops_open(c, &walk->stack, number, err);
}

static enum tscope_status open_op(struct walk *walk, uint32_t row, int64_t start_ns,
				  struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->c->trace;
	struct op_stack *stack = &walk->stack;
	int64_t dur_ns = tsi_dur_ns(&trace->spans, row), end_ns = start_ns + dur_ns;

	if (tsi_array_reserve(&stack->open, &walk->capacity, stack->depth + 1, sizeof(*stack->open),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	struct open_op *op = &stack->open[stack->depth];
	if (stack->depth++) {
		end_ns = end_ns < op[-1].end_ns ? end_ns : op[-1].end_ns;
		op[-1].children_ns += end_ns - start_ns;
	}
	*op = (struct open_op){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.dur_ns = dur_ns,
		.row = row,
		.node = NO_NODE,
	};
	if (tsi_op_sums_find(walk->sums, tsi_name_id(&trace->spans, row),
			     tsi_cpu_op(trace, row)->inputs, &op->kind, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return open_launcher(walk, op, err);
}

/* Device time counts for the operators around it, too. */
static void add_device_time(struct walk *walk, const struct open_op *op, struct op_times *sum)
{
	struct op_stack *stack = &walk->stack;

	tsi_sum(&sum->device_ns, op->device_ns);
	tsi_sum(&sum->self_device_ns, op->self_device_ns);
	if (stack->depth)
		tsi_sum(&stack->open[stack->depth - 1].device_ns, op->device_ns);
}

static inline enum tscope_status close_op(struct walk *walk, struct tscope_error *err)
{
	const struct open_op *op = &walk->stack.open[--walk->stack.depth];
	struct ended_op ended = { op->start_ns, op->dur_ns, op->dur_ns - op->children_ns };
	struct op_times *sum;

	if (tsi_op_sums_add(walk->sums, op->kind, &ended, &sum, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	if (op->device_ns)
		add_device_time(walk, op, sum);
	return op->node == NO_NODE ? TSCOPE_OK : tsi_flops_close(walk->c, op, err);
}

/* Closes what has ended by then. */
static enum tscope_status close_until(struct walk *walk, int64_t t_ns, struct tscope_error *err)
{
	const struct op_stack *stack = &walk->stack;

	while (stack->depth && stack->open[stack->depth - 1].end_ns <= t_ns)
		if (close_op(walk, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	return TSCOPE_OK;
}

/* The operator that made a call is nearly always the innermost that is open. */
static enum tscope_status add_call(struct walk *walk, uint32_t row, struct tscope_error *err)
{
	const struct tscope_trace *trace = walk->c->trace;
	const struct op_stack *stack = &walk->stack;
	uint32_t op = tsi_call(trace, row)->op, kind;

	if (op == NO_ROW)
		return TSCOPE_OK;
	if (stack->depth && stack->open[stack->depth - 1].row == op)
		kind = stack->open[stack->depth - 1].kind;
	else if (tsi_op_sums_find(walk->sums, tsi_name_id(&trace->spans, op),
				  tsi_cpu_op(trace, op)->inputs, &kind, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	tsi_sum(&walk->sums->items[kind].others.call_ns, tsi_dur_ns(&trace->spans, row));
	return TSCOPE_OK;
}

static enum tscope_status walk_track(struct walk *walk, const struct track *track,
				     struct tscope_error *err)
{
	const struct spans *spans = &walk->c->trace->spans;
	uint32_t end_row = track->first + track->count;

	walk->stack.is_autograd = track->is_autograd;
	for (uint32_t row = track->first; row < end_row; row++) {
		uint8_t span_class = tsi_span_class(spans, row);

		if (span_class == TSCOPE_SPAN_RUNTIME && add_call(walk, row, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
		if (span_class != TSCOPE_SPAN_CPU_OP)
			continue;
		int64_t start_ns = tsi_start_ns(spans, row);
		if (close_until(walk, start_ns, err) != TSCOPE_OK ||
		    open_op(walk, row, start_ns, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return close_until(walk, INT64_MAX, err);
}

enum tscope_status tsi_walk_ops(struct flops_count *c, struct tscope_error *err)
{
	const struct tscope_trace *trace = c->trace;
	struct walk walk = { .c = c, .sums = &c->out->operators };
	enum tscope_status status = tsi_op_sums_init(walk.sums, c->timeline, err);

	for (uint32_t i = 0; status == TSCOPE_OK && i < trace->host_track_count; i++)
		status = walk_track(&walk, &trace->tracks[i], err);
	free(walk.stack.open);
	if (status == TSCOPE_OK)
		tsi_op_sums_settle(walk.sums);
	return status;
}
