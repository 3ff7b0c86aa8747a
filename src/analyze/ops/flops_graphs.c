/* SPDX-License-Identifier: MIT */
/*
 * The FLOPs of replayed graphs that were joined to their capture (graph_join.h): each replay runs
 * all calls of operators that the graph has. Their kernels take their operator from here.
 */
#include "analyze/ops/flops_count.h"

#include "analyze/ops/graph_join.h"
#include "base/sum.h"

struct graph_counter {
	struct flops_count *c;
	const struct graph_join *join;
	uint32_t *counted; /* by op of the set: index in out->ops + 1 */
	uint32_t step;     /* that the replay was launched in, or NO_ROW */
};

/* The count for calls with this name and these inputs, in or outside graphs. */
static uint32_t find_counted(struct graph_counter *g, uint32_t op)
{
	struct flops_count *c = g->c;
	uint32_t inputs = g->join->set->inputs[op], name = g->join->set->ops[op].name;

	if (g->counted[op])
		return g->counted[op] - 1;
	uint32_t number = tsi_op_sums_find(&c->out->operators, name, inputs);
	if (number == UINT32_MAX)
		return NO_ROW;
	struct op_kind *kind = tsi_op_kind(&c->out->operators, number);
	if (kind->flops_op == 0 || kind->flops_op == NO_ROW)
		kind->flops_op = tsi_flops_add_op(c, name, inputs);
	if (kind->flops_op == 0)
		return NO_ROW;
	struct counted_op *counted = &c->out->ops[kind->flops_op - 1];
	if (counted->count == 0) {
		counted->work = g->join->set->ops[op].work;
		counted->multiplies = g->join->set->ops[op].multiplies;
	}
	g->counted[op] = kind->flops_op;
	return g->counted[op] - 1;
}

/* False where it is not known what the call did. */
static bool work_of(const struct graph_counter *g, const struct graph_op *op, int64_t device_ns,
		    struct call_work *work)
{
	if (op->result == OP_WORK_BY_CONTEXT)
		return tsi_flops_of_contexts(g->c, &op->work, g->step, device_ns, work);
	*work = (struct call_work){ op->work.flops, op->work.bytes };
	return op->result == OP_WORK_KNOWN;
}

/* row: its first kernel. */
static uint32_t count_call(struct graph_counter *g, uint32_t op, uint32_t row, int64_t device_ns)
{
	struct flops_count *c = g->c;
	struct call_work work;

	if (!work_of(g, &g->join->set->ops[op], device_ns, &work))
		return NO_ROW;
	uint32_t index = find_counted(g, op);
	if (index == NO_ROW)
		return NO_ROW;
	struct counted_op *counted = &c->out->ops[index];
	counted->count++;
	tsi_flops_vary(&c->calls[index], work);
	c->out->all.flops += work.flops;
	tsi_flops_move(c, counted, g->step, work);
	tsi_flops_note_call(c, index, row, work);
	if (g->step == NO_ROW)
		return index;
	c->out->steps[g->step].flops += work.flops;
	counted->timed_count += c->timeline->steps[g->step].mark == TSCOPE_STEP_COUNTED;
	return index;
}

/* Kernel time of a call whose first kernel is at i. */
static int64_t ns_of_call(const struct graph_counter *g, uint32_t i, uint32_t end)
{
	const struct graph_join *join = g->join;
	uint32_t call = join->set->nodes[join->nodes[i]].call;
	int64_t sum_ns = 0;

	for (;
	     i < end && (join->nodes[i] == NO_ROW || join->set->nodes[join->nodes[i]].call == call);
	     i++)
		tsi_sum(&sum_ns, tsi_dur_ns(&g->c->trace->spans, join->rows[i]));
	return sum_ns;
}

/* The nodes of a call stand side by side, but for those that were lost. */
static void count_replay(struct graph_counter *g, const struct graph_replay *replay)
{
	const struct graph_join *join = g->join;
	const struct graph_node *last = NULL;
	uint32_t end = replay->first + replay->count, owner = NO_ROW;

	for (uint32_t i = replay->first; i < end; i++) {
		const struct graph_node *node = NULL;

		if (join->nodes[i] != NO_ROW)
			node = &join->set->nodes[join->nodes[i]];
		if (!node || node->op == NO_ROW)
			continue;
		if (!last || node->call != last->call)
			owner = count_call(g, node->op, join->rows[i], ns_of_call(g, i, end));
		last = node;
		g->c->owner_of_row[tsi_device_event_index(g->c->trace, join->rows[i])] = owner;
	}
}

void tsi_flops_count_graphs(struct flops_count *c)
{
	const struct graph_join *join = c->out->graphs;

	if (!join)
		return;
	struct graph_counter g = {
		.c = c,
		.join = join,
		.counted = tsi_arena_new(&c->memory, join->set->op_count, sizeof(*g.counted)),
	};
	c->owner_of_row =
		tsi_arena_new(&c->memory, c->trace->device_event_count, sizeof(*c->owner_of_row));
	if (!g.counted || !c->owner_of_row)
		return;
	for (size_t i = 0; i < c->trace->device_event_count; i++)
		c->owner_of_row[i] = NO_ROW;
	for (size_t i = 0; i < join->replay_count; i++) {
		const struct graph_replay *replay = &join->replays[i];
		g.step = tsi_flops_step_at(c, tsi_start_ns(&c->trace->spans, replay->call));
		if (replay->graph != NO_ROW)
			count_replay(&g, replay);
	}
}
