/* SPDX-License-Identifier: MIT */
#include "analyze/ops/graph_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/modules/module_groups.h"
#include "analyze/ops/trace_flops.h"
#include "base/error.h"
#include "model/trace/device_rows.h"
#include "run/file_name.h"
#include "timeline/iteration.h"

struct logger {
	const struct tscope_trace *trace;
	const struct tscope_timeline *timeline;
	struct arena scratch;
	struct graph_log *log;
	struct captured_launch *launches; /* by node */
	size_t launch_count, launch_capacity;
	struct capture_mark *marks; /* by start, on each thread */
	size_t mark_count, mark_capacity;
	const struct places *places;
	size_t *near;      /* as tsi_place_near() wants it */
	uint32_t *op_of;   /* by index of the counted operator: index in log->ops + 1 */
	uint32_t *path_of; /* by node of the places: index in log->modules + 1 */
	enum tscope_status status;
	struct tscope_error *err;
};

/* ---- what is captured ---------------------------------------------------------------- */

/* An engine's annotation around captures. */
struct capture_mark {
	int64_t start_ns, end_ns, batch;
};

static void list_marks(struct logger *l)
{
	const struct spans *spans = &l->trace->spans;

	for (uint32_t row = 0; row < tsi_first_device_row(l->trace); row++) {
		int64_t batch;
		if (tsi_span_class(spans, row) != TSCOPE_SPAN_ANNOTATION ||
		    !tsi_is_capture_mark(tsi_span_name(l->trace, row), &batch))
			continue;
		struct capture_mark *mark = tsi_arena_push(&l->scratch, &l->marks, &l->mark_count,
							   &l->mark_capacity, sizeof(*mark));
		if (mark)
			*mark = (struct capture_mark){ tsi_start_ns(spans, row),
						       tsi_span_end(l->trace, row), batch };
	}
}

/* That of the annotation around a capture; else of "bs_32_rank0.json"; else -1. */
static int64_t batch_at(const struct logger *l, int64_t t_ns)
{
	int batch, end = 0;

	for (size_t i = l->mark_count; i-- > 0;)
		if (l->marks[i].start_ns <= t_ns && t_ns < l->marks[i].end_ns)
			return l->marks[i].batch;
	const char *base = tsi_base_name(l->trace->path ? l->trace->path : "");
	return sscanf(base, "bs_%9d_rank%n", &batch, &end) == 1 && end > 0 && batch > 0 ? batch
											: -1;
}

static void begin_graph(struct logger *l, uint32_t row)
{
	struct graph_log *log = l->log;
	struct captured_graph *graph = tsi_arena_push(&log->arena, &log->graphs, &log->graph_count,
						      &log->graph_capacity, sizeof(*graph));

	if (graph)
		*graph = (struct captured_graph){
			.first = (uint32_t)l->launch_count,
			.batch = batch_at(l, tsi_start_ns(&l->trace->spans, row)),
		};
}

static void add_launch(struct logger *l, uint32_t row)
{
	struct captured_launch *launch = tsi_arena_push(&l->scratch, &l->launches, &l->launch_count,
							&l->launch_capacity, sizeof(*launch));

	if (!launch)
		return;
	*launch = (struct captured_launch){
		.row = row,
		.kernel = tsi_span_kind(&l->trace->spans, row)->call.kernel,
		.op = tsi_call(l->trace, row)->op,
		.owner = NO_ROW,
		.owner_row = NO_ROW,
	};
	l->log->graphs[l->log->graph_count - 1].count++;
}

static void list_launches(struct logger *l)
{
	const struct tscope_trace *trace = l->trace;
	struct bit_walk calls = tsi_bit_set_walk(&trace->spans.calls);
	uint32_t track = NO_ROW;
	bool is_capturing = false;

	for (size_t i = 0; i < trace->call_count; i++) {
		uint32_t row = tsi_bit_walk_next(&calls);
		uint8_t kind = tsi_call_kind(trace, row);

		if (tsi_trace_track_of(trace, row) != track)
			is_capturing = false;
		track = tsi_trace_track_of(trace, row);
		if (kind == CALL_CAPTURE_BEGIN)
			begin_graph(l, row);
		if (kind == CALL_CAPTURE_BEGIN || kind == CALL_CAPTURE_END)
			is_capturing = kind == CALL_CAPTURE_BEGIN && !l->log->arena.has_failed;
		if (is_capturing && tsi_span_kind(&trace->spans, row)->call.kernel)
			add_launch(l, row);
	}
}

/* ---- the log ------------------------------------------------------------------------- */

static uint32_t keep_text(struct logger *l, struct str text)
{
	uint32_t id = 0;

	if (l->status == TSCOPE_OK && text.length > 0)
		l->status = tsi_intern_add(&l->log->texts, text, &id, l->err);
	return id;
}

static uint32_t keep_name(struct logger *l, uint32_t name)
{
	return name ? keep_text(l, tsi_intern_text(&l->trace->names, name)) : 0;
}

static uint32_t add_op(struct logger *l, uint32_t name, uint32_t inputs)
{
	struct graph_log *log = l->log;
	struct graph_op *op = tsi_arena_push(&log->arena, &log->ops, &log->op_count,
					     &log->op_capacity, sizeof(*op));

	if (!op)
		return NO_ROW;
	*op = (struct graph_op){
		.name = keep_name(l, name),
		.signature = keep_name(l, l->trace->op_inputs[inputs].signature),
		.result = OP_WORK_NO_MODEL,
	};
	return (uint32_t)log->op_count - 1;
}

static uint32_t counted_op(struct logger *l, const struct trace_flops *flops, uint32_t owner)
{
	const struct counted_op *counted = &flops->ops[owner];

	if (l->op_of[owner] == 0) {
		uint32_t added = add_op(l, counted->name, counted->inputs);
		if (added == NO_ROW)
			return NO_ROW;
		struct graph_op *op = &l->log->ops[added];
		op->work = counted->work;
		op->multiplies = counted->multiplies;
		op->result =
			counted->work.paged.pair_flops > 0 ? OP_WORK_BY_CONTEXT : OP_WORK_KNOWN;
		l->op_of[owner] = added + 1;
	}
	return l->op_of[owner] - 1;
}

/* One that no formula counts: by its name, inputs, and whether these are what is missing. */
static uint32_t plain_op(struct logger *l, const struct captured_launch *launch)
{
	uint32_t name = tsi_name_id(&l->trace->spans, launch->op);
	uint32_t inputs = tsi_cpu_op(l->trace, launch->op)->inputs;
	uint32_t name_id = keep_name(l, name);
	uint32_t signature = keep_name(l, l->trace->op_inputs[inputs].signature);
	enum op_work_result result = launch->is_lacking ? OP_WORK_NO_INPUTS : OP_WORK_NO_MODEL;

	for (uint32_t i = 0; i < l->log->op_count; i++)
		if (l->log->ops[i].name == name_id && l->log->ops[i].signature == signature &&
		    l->log->ops[i].result == result)
			return i;
	uint32_t added = add_op(l, name, inputs);
	if (added != NO_ROW)
		l->log->ops[added].result = result;
	return added;
}

/* "Qwen3Model > Qwen3DecoderLayer > Linear" */
static uint32_t keep_module(struct logger *l, uint32_t node)
{
	enum { MAX_CHARS = 1024 };
	const struct places *places = l->places;
	char path[MAX_CHARS];
	size_t at = sizeof(path);

	for (; node != 0; node = places->nodes[node].parent) {
		struct str name = places->nodes[node].is_named
					  ? places->nodes[node].text
					  : tsi_module_class(places->nodes[node].text);
		struct str joint = at < sizeof(path) ? TSI_STR(" > ") : TSI_STR("");

		if (name.length + joint.length > at)
			return 0;
		at -= joint.length;
		memcpy(path + at, joint.data, joint.length);
		at -= name.length;
		memcpy(path + at, name.data, name.length);
	}
	return keep_text(l, (struct str){ path + at, sizeof(path) - at });
}

/* As struct graph_module has it. */
static uint32_t keep_module_name(struct logger *l, const struct module_node *node)
{
	enum { MAX_CHARS = 1024 };
	char name[MAX_CHARS];

	if (node->is_named || node->text.length >= MAX_CHARS - 16)
		return keep_text(l, node->text);
	int length = snprintf(name, sizeof(name), "nn.Module: %.*s", (int)node->text.length,
			      node->text.data);
	return keep_text(l, (struct str){ name, (size_t)length });
}

/* No deeper than trees of modules are. */
static uint32_t keep_path(struct logger *l, uint32_t node)
{
	struct graph_log *log = l->log;

	if (node == 0 || l->path_of[node])
		return node ? l->path_of[node] : 0;
	uint32_t parent = keep_path(l, l->places->nodes[node].parent);
	struct graph_module *module = tsi_arena_push(&log->arena, &log->modules, &log->module_count,
						     &log->module_capacity, sizeof(*module));
	if (!module)
		return 0;
	*module = (struct graph_module){ parent, keep_module_name(l, &l->places->nodes[node]) };
	l->path_of[node] = (uint32_t)log->module_count;
	return l->path_of[node];
}

static void add_node(struct logger *l, const struct trace_flops *flops,
		     const struct captured_launch *launch)
{
	const struct tscope_trace *trace = l->trace;
	struct graph_log *log = l->log;
	struct graph_node *node = tsi_arena_push(&log->arena, &log->nodes, &log->node_count,
						 &log->node_capacity, sizeof(*node));

	if (!node)
		return;
	*node = (struct graph_node){
		.kernel = keep_name(l, launch->kernel),
		.grid_blocks =
			trace->work_shapes[tsi_span_kind(&trace->spans, launch->row)->call.shape]
				.grid_blocks,
		.op = NO_ROW,
		.call = NO_ROW,
	};
	if (launch->owner != NO_ROW)
		node->op = counted_op(l, flops, launch->owner);
	else if (launch->op != NO_ROW)
		node->op = plain_op(l, launch);
	node->call = launch->owner != NO_ROW ? launch->owner_row : launch->op;
	if (!l->places)
		return;
	struct place place = tsi_place_near(l->places, tsi_trace_track_of(trace, launch->row),
					    tsi_start_ns(&trace->spans, launch->row), l->near);
	node->place = (struct graph_place){ keep_module(l, place.node), keep_name(l, place.source),
					    keep_path(l, place.node) };
}

static void fill_log(struct logger *l)
{
	struct trace_flops *flops = NULL;

	list_marks(l);
	list_launches(l);
	l->places = tsi_places_new(l->timeline, NULL, &l->scratch);
	l->path_of = tsi_arena_new(&l->scratch, l->places ? l->places->node_count : 0,
				   sizeof(*l->path_of));
	l->near = tsi_arena_new(&l->scratch, l->trace->host_track_count, sizeof(*l->near));
	l->status = tsi_arena_status(&l->scratch, l->err);
	if (l->status == TSCOPE_OK)
		l->status = tsi_trace_flops_of_capture(&flops, l->timeline, l->launches,
						       l->launch_count, l->err);
	if (l->status == TSCOPE_OK)
		l->op_of = tsi_arena_new(&l->scratch, flops->op_count, sizeof(*l->op_of));
	for (size_t i = 0; l->op_of && i < l->launch_count && l->status == TSCOPE_OK; i++)
		add_node(l, flops, &l->launches[i]);
	if (l->status == TSCOPE_OK)
		l->status = tsi_arena_status(&l->scratch, l->err);
	if (l->status == TSCOPE_OK)
		l->status = tsi_arena_status(&l->log->arena, l->err);
	tsi_trace_flops_free(flops);
}

enum tscope_status tsi_graph_log_new(struct graph_log **ret, const struct tscope_trace *trace,
				     const struct tscope_timeline *timeline,
				     struct tscope_error *err)
{
	struct logger l = { .trace = trace, .timeline = timeline, .err = err };

	*ret = l.log = calloc(1, sizeof(*l.log));
	if (!l.log)
		return tsi_fail_nomem(err);
	l.status = tsi_intern_init(&l.log->texts, UINT32_MAX - 1, err);
	if (l.status == TSCOPE_OK)
		fill_log(&l);
	tsi_arena_deinit(&l.scratch);
	return l.status;
}

void tsi_graph_log_free(struct graph_log *log)
{
	if (!log)
		return;
	tsi_intern_deinit(&log->texts);
	tsi_arena_deinit(&log->arena);
	free(log);
}
