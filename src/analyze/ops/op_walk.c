/* SPDX-License-Identifier: MIT */
/*
 * One pass over the rows of the host with a stack of the operators that are open. Rows are ordered
 * by start, the longer first, so a parent always comes before its children.
 */
#include "analyze/ops/op_walk.h"

#include "analyze/ops/flops_count.h"
#include "base/sum.h"

struct walk {
	struct flops_count *c;
	struct op_sums *sums;
	struct op_stack stack;
	size_t capacity;
	uint32_t next_launcher; /* row of the first operator from here on that is one */
	uint32_t next_call;     /* index of the next call: they stand in the order of rows */
	uint32_t *kinds;        /* by kind of span: that of the operators, or below */
	uint32_t *open_at; /* by name: where the outermost that is open stands on the stack, or 0 */
};

/* Kinds of spans that are no operators. */
#define IS_CALL (UINT32_MAX - 1)
#define IS_OTHER UINT32_MAX

static struct open_op *top_of(const struct walk *walk)
{
	return &walk->stack.open[walk->stack.depth - 1];
}

/* An operator's own launches are known before it opens. */
static void open_launcher(struct walk *walk, struct open_op *op)
{
	struct flops_count *c = walk->c;

	op->launcher = tsi_bit_set_rank(&c->launcher_rows, op->row);
	op->device_ns = c->launchers[op->launcher].launched_ns;
	walk->next_launcher = tsi_bit_set_next(&c->launcher_rows, op->row + 1);
	if (c->launchers[op->launcher].is_launcher)
		tsi_flops_open(c, &walk->stack);
}

/* False without memory. */
static bool grow_stack(struct walk *walk)
{
	struct op_stack *stack = &walk->stack;
	struct open_op *open = tsi_arena_reserve(&walk->c->memory, stack->open, &walk->capacity,
						 stack->depth + 1, sizeof(*open));
	if (open)
		stack->open = open;
	return open;
}

static inline void open_op(struct walk *walk, uint32_t row, uint32_t kind, int64_t start_ns)
{
	const struct tscope_trace *trace = walk->c->trace;
	struct op_stack *stack = &walk->stack;

	if (tsi_unlikely(stack->depth == walk->capacity) && !grow_stack(walk))
		return;
	struct open_op *op = &stack->open[stack->depth++];
	op->start_ns = start_ns;
	op->dur_ns = tsi_dur_ns(&trace->spans, row);
	op->end_ns = start_ns + op->dur_ns;
	if (op->end_ns > op[-1].end_ns)
		op->end_ns = op[-1].end_ns;
	op[-1].children_ns += op->end_ns - start_ns;
	op->children_ns = 0;
	op->device_ns = 0;
	op->row = row;
	uint32_t *open_at = &walk->open_at[walk->sums->kinds.pairs[kind].first];
	op->open_at = open_at;
	op->kind = op->time_kind = kind;
	op->is_nested = *open_at != 0;
	if (tsi_unlikely(op->is_nested))
		op->time_kind = stack->open[*open_at].kind;
	else
		*open_at = (uint32_t)stack->depth - 1;
	op->launcher = NO_ROW;
	op->node = NO_NODE;
	if (tsi_unlikely(row == walk->next_launcher))
		open_launcher(walk, op);
	else if (!trace->device_count) /* then all are taken for launchers */
		tsi_flops_open(walk->c, stack);
}

/* Device time counts for the operators around it, too. */
static void add_device_time(const struct walk *walk, struct open_op *op, struct op_times *sum)
{
	if (!op->is_nested)
		tsi_sum(&sum->device_ns, op->device_ns);
	if (op->launcher != NO_ROW)
		tsi_sum(&sum->self_device_ns, walk->c->launchers[op->launcher].launched_ns);
	tsi_sum(&op[-1].device_ns, op->device_ns);
}

static inline void close_op(struct walk *walk)
{
	struct open_op *op = &walk->stack.open[--walk->stack.depth];
	struct ended_op ended = { op->start_ns, op->dur_ns, op->dur_ns - op->children_ns,
				  op->is_nested };
	struct op_times *sum = tsi_op_sums_add(walk->sums, op->time_kind, &ended);

	if (!op->is_nested)
		*op->open_at = 0;
	if (tsi_unlikely(!sum))
		return;
	if (op->device_ns)
		add_device_time(walk, op, sum);
	if (op->node != NO_NODE)
		tsi_flops_close(walk->c, op);
}

/* Closes what has ended by then. */
static void close_until(struct walk *walk, int64_t t_ns)
{
	while (walk->stack.depth > 1 && top_of(walk)->end_ns <= t_ns)
		close_op(walk);
}

static void add_call(struct walk *walk, uint32_t row)
{
	const struct tscope_trace *trace = walk->c->trace;
	uint32_t op = trace->calls[walk->next_call++].op;

	if (op == NO_ROW)
		return;
	uint32_t kind = walk->kinds[trace->spans.kind[op]];
	uint32_t outermost = walk->open_at[walk->sums->kinds.pairs[kind].first];
	if (outermost)
		kind = walk->stack.open[outermost].kind;
	tsi_sum(&tsi_op_kind(walk->sums, kind)->others.call_ns, tsi_dur_ns(&trace->spans, row));
}

static void walk_track(struct walk *walk, const struct track *track)
{
	const struct spans *spans = &walk->c->trace->spans;
	uint32_t end_row = track->first + track->count;

	walk->stack.is_autograd = track->is_autograd;
	for (uint32_t row = track->first; row < end_row; row++) {
		uint32_t kind = walk->kinds[spans->kind[row]];

		if (kind == IS_CALL)
			add_call(walk, row);
		if (kind >= IS_CALL)
			continue;
		int64_t start_ns = tsi_start_ns(spans, row);
		if (top_of(walk)->end_ns <= start_ns)
			close_until(walk, start_ns);
		open_op(walk, row, kind, start_ns);
	}
	close_until(walk, INT64_MAX);
}

/* The kind of a span says what it is: nothing is asked row by row. */
static void find_kinds(struct walk *walk)
{
	const struct spans *spans = &walk->c->trace->spans;

	walk->kinds = tsi_arena_new(&walk->c->memory, spans->kind_count, sizeof(*walk->kinds));
	for (uint32_t i = 0; walk->kinds && i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];

		walk->kinds[i] = kind->span_class == TSCOPE_SPAN_RUNTIME ? IS_CALL : IS_OTHER;
		if (kind->span_class == TSCOPE_SPAN_CPU_OP)
			walk->kinds[i] = tsi_op_sums_find(walk->sums, kind->name, kind->op.inputs);
	}
}

void tsi_walk_ops(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;
	struct walk walk = {
		.c = c,
		.sums = &c->out->operators,
		.next_launcher = tsi_bit_set_next(&c->launcher_rows, 0),
	};

	tsi_op_sums_init(walk.sums, c->timeline);
	find_kinds(&walk);
	walk.open_at = tsi_arena_new(&c->memory, trace->names.count, sizeof(*walk.open_at));
	if (!walk.open_at || !grow_stack(&walk) || walk.sums->memory.has_failed)
		return;
	walk.stack.open[walk.stack.depth++] =
		(struct open_op){ .end_ns = INT64_MAX, .row = NO_ROW, .node = NO_NODE };
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		walk_track(&walk, &trace->tracks[i]);
	tsi_op_sums_settle(walk.sums);
}
