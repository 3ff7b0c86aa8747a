/* SPDX-License-Identifier: MIT */
/*
 * One pass over the rows of the host with a stack of the operators that are open. Rows are ordered
 * by start, the longer first, so a parent always comes before its children.
 */
#include "analyze/ops/op_walk.h"

#include "analyze/ops/flops_count.h"
#include "base/sum.h"

/* Role of a kind of spans in the walk. */
struct op_ref {
	struct op_kind *kind; /* NULL: it is no operator */
	uint32_t *open_at;    /* that of open_op; of a call, which has none, not NULL either */
};

struct walk {
	struct flops_count *c;
	struct op_sums *sums;
	struct span_times times;
	struct op_stack stack;
	struct open_op *last; /* where the stack's room ends */
	size_t capacity;
	uint32_t next_launcher; /* row of the first operator from here on that is one */
	uint32_t next_call;     /* index of the next call: they stand in the order of rows */
	struct op_ref *refs;    /* by kind of span */
	uint32_t *open_at;      /* by name: where the outermost that is open stands, or 0 */
};

/*
 * An operator's own launches are known before it opens. Without devices all are taken for
 * launchers.
 */
static void open_launcher(struct walk *walk, struct open_op *op)
{
	struct flops_count *c = walk->c;

	if (c->trace->device_count || c->captured) {
		if (op->row != walk->next_launcher)
			return;
		op->launcher = tsi_bit_set_rank(&c->launcher_rows, op->row);
		op->device_ns = c->launchers[op->launcher].launched_ns;
		walk->next_launcher = tsi_bit_set_next(&c->launcher_rows, op->row + 1);
		if (!c->launchers[op->launcher].is_launcher)
			return;
	}
	walk->stack.depth = (size_t)(op - walk->stack.open) + 1;
	tsi_flops_open(c, &walk->stack);
}

/* Makes room behind the top of the stack, which moves; NULL without memory. */
static struct open_op *grow_stack(struct walk *walk, const struct open_op *top)
{
	struct op_stack *stack = &walk->stack;
	size_t depth = top ? (size_t)(top - stack->open) + 1 : 0;
	struct open_op *open = tsi_arena_reserve(&walk->c->memory, stack->open, &walk->capacity,
						 depth + 1, sizeof(*open));
	if (!open)
		return NULL;
	stack->open = open;
	walk->last = open + walk->capacity - 1;
	return top ? open + depth - 1 : open;
}

/* Opens an operator on the top of the stack, and returns the new one. */
static inline struct open_op *open_op(struct walk *walk, struct open_op *top,
				      const struct op_ref *ref, uint32_t row, int64_t start_ns)
{
	int64_t dur_ns = tsi_dur_of(walk->times, row);

	if (tsi_unlikely(top == walk->last)) {
		struct open_op *moved = grow_stack(walk, top);
		if (!moved)
			return top;
		top = moved;
	}
	struct open_op *op = top + 1;
	int64_t end_ns = start_ns + dur_ns < top->end_ns ? start_ns + dur_ns : top->end_ns;
	top->children_ns += end_ns - start_ns;
	op->dur_ns = dur_ns;
	op->end_ns = end_ns;
	op->children_ns = 0;
	op->device_ns = 0;
	op->kind = ref->kind;
	op->open_at = ref->open_at;
	op->row = row;
	op->step = tsi_counted_step_at(&walk->sums->steps, start_ns);
	op->launcher = NO_ROW;
	op->node = NO_NODE;
	if (tsi_likely(*ref->open_at == 0))
		*ref->open_at = (uint32_t)(op - walk->stack.open);
	if (tsi_unlikely(row >= walk->next_launcher))
		open_launcher(walk, op);
	return op;
}

/* Device time counts for the operators around it, too. */
static void add_device_time(const struct walk *walk, struct open_op *op, struct op_times *sum,
			    bool is_nested)
{
	if (!is_nested)
		tsi_sum(&sum->device_ns, op->device_ns);
	if (op->launcher != NO_ROW)
		tsi_sum(&sum->self_device_ns, walk->c->launchers[op->launcher].launched_ns);
	tsi_sum(&op[-1].device_ns, op->device_ns);
}

/* Nested operators of one name: the time goes to the kind of the outermost. */
static inline void close_op(struct walk *walk, struct open_op *op)
{
	struct open_op *outermost = &walk->stack.open[*op->open_at];
	bool is_nested = outermost != op;
	struct op_times *sum = tsi_op_sums_of(walk->sums, outermost->kind, op->step);

	if (tsi_likely(!is_nested))
		*op->open_at = 0;
	if (tsi_unlikely(!sum))
		return;
	if (tsi_likely(!is_nested)) {
		sum->count++;
		tsi_sum(&sum->total_ns, op->dur_ns);
	}
	tsi_sum(&sum->self_ns, op->dur_ns - op->children_ns);
	if (op->device_ns)
		add_device_time(walk, op, sum, is_nested);
	if (op->node != NO_NODE)
		tsi_flops_close(walk->c, op);
}

static void add_call(struct walk *walk, uint32_t row)
{
	const struct tscope_trace *trace = walk->c->trace;
	uint32_t op = trace->calls[walk->next_call++].op;

	if (op == NO_ROW)
		return;
	const struct op_ref *ref = &walk->refs[trace->spans.kind[op]];
	struct op_kind *kind = *ref->open_at ? walk->stack.open[*ref->open_at].kind : ref->kind;
	tsi_sum(&kind->others.call_ns, tsi_dur_ns(&trace->spans, row));
}

static void walk_track(struct walk *walk, const struct track *track)
{
	const struct span_times times = walk->times;
	uint32_t end_row = track->first + track->count;
	struct open_op *top = walk->stack.open;

	walk->stack.is_autograd = track->is_autograd;
	for (uint32_t row = track->first; row < end_row; row++) {
		const struct op_ref *ref = &walk->refs[times.kind[row]];

		if (!ref->kind) {
			if (ref->open_at)
				add_call(walk, row);
			continue;
		}
		int64_t start_ns = tsi_start_of(times, row);
		while (top->end_ns <= start_ns) /* that of the thread never ends */
			close_op(walk, top--);
		top = open_op(walk, top, ref, row, start_ns);
	}
	while (top > walk->stack.open)
		close_op(walk, top--);
}

/* The kind of a span says what it is: nothing is asked row by row. False without memory. */
static bool find_kinds(struct walk *walk)
{
	const struct tscope_trace *trace = walk->c->trace;
	const struct spans *spans = &trace->spans;
	struct arena *arena = &walk->c->memory;
	uint32_t *kinds = tsi_arena_new(arena, spans->kind_count, sizeof(*kinds));

	walk->refs = tsi_arena_new(arena, spans->kind_count, sizeof(*walk->refs));
	walk->open_at = tsi_arena_new(arena, trace->names.count, sizeof(*walk->open_at));
	if (!walk->open_at || !kinds || !walk->refs)
		return false;
	for (uint32_t i = 0; i < spans->kind_count; i++)
		if (spans->kinds[i].span_class == TSCOPE_SPAN_CPU_OP)
			kinds[i] = tsi_op_sums_find(walk->sums, spans->kinds[i].name,
						    spans->kinds[i].op.inputs);
	if (walk->sums->memory.has_failed)
		return false;
	for (uint32_t i = 0; i < spans->kind_count; i++) {
		const struct span_kind *kind = &spans->kinds[i];
		if (kind->span_class == TSCOPE_SPAN_CPU_OP) /* all are there: none will move */
			walk->refs[i].kind = tsi_op_kind(walk->sums, kinds[i]);
		if (kind->span_class == TSCOPE_SPAN_CPU_OP ||
		    kind->span_class == TSCOPE_SPAN_RUNTIME)
			walk->refs[i].open_at = &walk->open_at[kind->name];
	}
	return true;
}

void tsi_walk_ops(struct flops_count *c)
{
	const struct tscope_trace *trace = c->trace;
	struct walk walk = {
		.c = c,
		.sums = &c->out->operators,
		.times = tsi_span_times(&trace->spans),
		.next_launcher = trace->device_count || c->captured
					 ? tsi_bit_set_next(&c->launcher_rows, 0)
					 : 0,
	};

	tsi_op_sums_init(walk.sums, c->timeline);
	if (!find_kinds(&walk) || !grow_stack(&walk, NULL))
		return;
	walk.stack.open[0] =
		(struct open_op){ .end_ns = INT64_MAX, .row = NO_ROW, .node = NO_NODE };
	for (uint32_t i = 0; i < trace->host_track_count; i++)
		walk_track(&walk, &trace->tracks[i]);
	tsi_op_sums_settle(walk.sums);
}
