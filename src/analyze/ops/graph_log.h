/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_GRAPH_LOG_H
#define TSCOPE_ANALYZE_OPS_GRAPH_LOG_H

#include "analyze/ops/op_work.h"
#include "base/arena.h"
#include "base/intern.h"
#include "model/trace/trace.h"
#include "timeline/timeline.h"

/*
 * The graphs that a trace captures: which kernels they launch, in which order, and on behalf of
 * which operators. Where a graph is replayed a trace has kernels alone; graph_set.h brings the two
 * together.
 */

/* Calls of an operator with the same inputs. */
struct graph_op {
	uint32_t name, signature; /* ids of texts; signature: as in struct op_inputs, 0: none */
	/* OP_WORK_KNOWN and _BY_CONTEXT: counted, it stands for all that was launched in it. */
	enum op_work_result result;
	bool multiplies;
	struct op_work work;
};

struct graph_place {
	uint32_t module, source; /* ids of texts: path of classes, function; 0: none, not known */
	uint32_t path;           /* index in modules + 1, or 0 */
};

/* A module as it was called in the one around it, which comes before it. */
struct graph_module {
	uint32_t parent; /* as graph_place.path */
	uint32_t name;   /* id of a text: "nn.Module: Linear_3", of a path its name, "wq" */
};

struct graph_node {
	uint32_t kernel;      /* id of its name */
	uint32_t grid_blocks; /* 0: not said */
	uint32_t op;          /* index in ops, or NO_ROW */
	uint32_t call;        /* of the operator: nodes of one call have the same number */
	struct graph_place place;
};

struct captured_graph {
	uint32_t first, count; /* its nodes */
	int64_t batch;         /* that it was captured for, or -1 */
};

struct graph_log {
	struct arena arena;
	struct intern texts;
	struct graph_op *ops;
	struct graph_node *nodes;
	struct captured_graph *graphs;
	struct graph_module *modules;
	size_t op_count, op_capacity, node_count, node_capacity, graph_count, graph_capacity,
		module_count, module_capacity;
};

/* trace: opened so that it keeps launches. The caller frees the log, on failure too. */
TSI_MUST_CHECK
enum tscope_status tsi_graph_log_new(struct graph_log **ret, const struct tscope_trace *trace,
				     const struct tscope_timeline *timeline,
				     struct tscope_error *err);
void tsi_graph_log_free(struct graph_log *log); /* NULL is fine */

#endif
