/* SPDX-License-Identifier: MIT */
/* Brings the graphs of several logs into one set, in terms of a trace that replays them. */
#include "analyze/ops/graph_join.h"

struct setter {
	struct tscope_trace *trace;
	struct graph_set *set;
	const struct graph_log *log;
	uint32_t *ids;         /* by id in the log's texts: in trace->names */
	uint32_t *ops;         /* by op of the log: in the set */
	uint32_t first_module; /* of the log, in the set */
	enum tscope_status status;
	struct tscope_error *err;
};

static void translate_texts(struct setter *s)
{
	const struct intern *texts = &s->log->texts;

	for (size_t i = 0; i < texts->count && s->status == TSCOPE_OK; i++)
		s->status = tsi_intern_add(&s->trace->names, tsi_intern_text(texts, (uint32_t)i),
					   &s->ids[i], s->err);
}

static uint32_t add_inputs(struct setter *s, uint32_t signature)
{
	struct tscope_trace *trace = s->trace;
	struct op_inputs *inputs;

	if (!signature)
		return 0;
	for (size_t i = 0; i < trace->op_inputs_count; i++)
		if (trace->op_inputs[i].signature == signature && !trace->op_inputs[i].concrete &&
		    !trace->op_inputs[i].flops)
			return (uint32_t)i;
	inputs = tsi_arena_push(&trace->arena, &trace->op_inputs, &trace->op_inputs_count,
				&trace->op_inputs_capacity, sizeof(*inputs));
	if (!inputs)
		return 0;
	*inputs = (struct op_inputs){ .signature = signature };
	return (uint32_t)trace->op_inputs_count - 1;
}

static bool is_same_op(const struct graph_op *a, const struct graph_op *b)
{
	return a->name == b->name && a->signature == b->signature && a->result == b->result &&
	       a->work.flops == b->work.flops;
}

static uint32_t add_op(struct setter *s, struct graph_op op)
{
	struct graph_set *set = s->set;
	struct arena *arena = &s->trace->arena;

	op.name = s->ids[op.name];
	op.signature = s->ids[op.signature];
	for (uint32_t i = 0; i < set->op_count; i++)
		if (is_same_op(&set->ops[i], &op))
			return i;
	struct graph_op *added =
		tsi_arena_push(arena, &set->ops, &set->op_count, &set->op_capacity, sizeof(*added));
	uint32_t *inputs = tsi_arena_push(arena, &set->inputs, &set->inputs_count,
					  &set->inputs_capacity, sizeof(*inputs));
	if (!added || !inputs)
		return NO_ROW;
	*added = op;
	*inputs = add_inputs(s, op.signature);
	return (uint32_t)set->op_count - 1;
}

static void add_graph(struct setter *s, struct captured_graph graph)
{
	struct graph_set *set = s->set;
	struct arena *arena = &s->trace->arena;

	if (graph.count == 0)
		return;

	const struct graph_node *nodes = s->log->nodes + graph.first;

	graph.first = (uint32_t)set->node_count;
	for (uint32_t i = 0; i < graph.count; i++) {
		struct graph_node *node = tsi_arena_push(arena, &set->nodes, &set->node_count,
							 &set->node_capacity, sizeof(*node));
		if (!node)
			return;
		*node = nodes[i];
		node->kernel = s->ids[node->kernel];
		node->op = node->op == NO_ROW ? NO_ROW : s->ops[node->op];
		node->place.module = s->ids[node->place.module];
		node->place.source = s->ids[node->place.source];
		if (node->place.path)
			node->place.path += s->first_module;
	}
	struct captured_graph *added = tsi_arena_push(arena, &set->graphs, &set->graph_count,
						      &set->graph_capacity, sizeof(*added));
	if (added)
		*added = graph;
}

static void add_modules(struct setter *s)
{
	struct graph_set *set = s->set;
	struct arena *arena = &s->trace->arena;

	s->first_module = (uint32_t)set->module_count;
	for (size_t i = 0; i < s->log->module_count; i++) {
		struct graph_module of = s->log->modules[i];
		struct graph_module *module =
			tsi_arena_push(arena, &set->modules, &set->module_count,
				       &set->module_capacity, sizeof(*module));
		if (!module)
			return;
		*module = (struct graph_module){ of.parent ? of.parent + s->first_module : 0,
						 s->ids[of.name] };
	}
}

static void add_log(struct setter *s, struct arena *scratch)
{
	s->ids = tsi_arena_new(scratch, s->log->texts.count, sizeof(*s->ids));
	s->ops = tsi_arena_new(scratch, s->log->op_count, sizeof(*s->ops));
	s->status = tsi_arena_status(scratch, s->err);
	translate_texts(s);
	for (size_t i = 0; i < s->log->op_count && s->status == TSCOPE_OK; i++) {
		s->ops[i] = add_op(s, s->log->ops[i]);
		s->status = tsi_arena_status(&s->trace->arena, s->err);
	}
	if (s->status == TSCOPE_OK)
		add_modules(s);
	for (size_t i = 0; i < s->log->graph_count && s->status == TSCOPE_OK; i++) {
		add_graph(s, s->log->graphs[i]);
		s->status = tsi_arena_status(&s->trace->arena, s->err);
	}
}

enum tscope_status tsi_graph_set_add(struct tscope_trace *trace,
				     const struct graph_log *const *logs, size_t count,
				     struct tscope_error *err)
{
	struct arena scratch = { 0 };
	struct setter s = { .trace = trace, .err = err };

	s.set = tsi_arena_new(&trace->arena, 1, sizeof(*s.set));
	s.status = tsi_arena_status(&trace->arena, err);
	for (size_t i = 0; i < count && s.status == TSCOPE_OK; i++) {
		s.log = logs[i];
		add_log(&s, &scratch);
	}
	tsi_arena_deinit(&scratch);
	if (s.status == TSCOPE_OK && s.set->graph_count > 0)
		trace->graphs = s.set;
	return s.status;
}
