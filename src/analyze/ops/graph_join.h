/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_OPS_GRAPH_JOIN_H
#define TSCOPE_ANALYZE_OPS_GRAPH_JOIN_H

#include "analyze/ops/graph_log.h"

/*
 * Joins kernels of replayed graphs, of which a trace says no operator, to the nodes of the graphs
 * as they were captured (graph_log.h). A replay is one of a graph if all of its kernels, in the
 * order in which they start, have the names of its nodes, and the same grid where both say it.
 *
 *  - A replay of which the profiler lost some kernels is joined as far as there is one way only to
 *    find the others among the nodes in their order; more than a tenth may not be lost.
 *  - Of several graphs the batch decides: that of the smallest graph that holds what the engine's
 *    annotation says (vLLM counts tokens, others requests). A graph that is too small is none, nor
 *    is one more than half empty where captures of one batch alone are at hand.
 *  - Graphs that cannot be distinguished by batch and kernels (the pieces of a model's layers) are
 *    one where their nodes have the same operators; where these differ, it is not known which.
 */

/* Contents of the logs in terms of one trace: ids of texts are those of trace->names. */
struct graph_set {
	struct graph_op *ops;
	uint32_t *inputs; /* by op: index in trace->op_inputs */
	struct graph_node *nodes;
	struct captured_graph *graphs;
	struct graph_module *modules;
	size_t op_count, op_capacity, inputs_count, inputs_capacity, node_count, node_capacity,
		graph_count, graph_capacity, module_count, module_capacity;
};

/* Sets trace->graphs, before anything is analyzed. */
TSI_MUST_CHECK
enum tscope_status tsi_graph_set_add(struct tscope_trace *trace,
				     const struct graph_log *const *logs, size_t count,
				     struct tscope_error *err);

enum replay_fit {
	REPLAY_JOINED,
	REPLAY_PART,      /* kernels were lost: as far as the others are unambiguous */
	REPLAY_AMBIGUOUS, /* several graphs, or the batch speaks against the only one */
	REPLAY_UNKNOWN,   /* no graph has these kernels */
	REPLAY_FIT_COUNT,
};

struct graph_replay {
	uint32_t call;         /* row of its launch */
	uint32_t first, count; /* its kernels, in graph_join.rows */
	uint32_t graph;        /* in set->graphs; NO_ROW: not joined */
	uint8_t fit;           /* enum replay_fit */
	bool has_places;       /* its nodes' places are those of this replay */
};

struct graph_join {
	const struct graph_set *set;
	struct graph_replay *replays; /* by launch, on each device */
	size_t replay_count, replay_capacity;
	uint32_t *rows;         /* kernels by replay, in the order in which they start */
	uint32_t *nodes;        /* likewise: in set->nodes, or NO_ROW */
	uint32_t *node_of_row;  /* by device row: likewise */
	uint32_t *place_of_row; /* by device row: likewise, where has_places */
	/* Replays without a graph: kernels unlike the nodes of the nearest graph of that length. */
	int64_t mismatch_count;
};

/* NULL where nothing is to be joined, and without memory, which the arena says. O(rows). */
const struct graph_join *tsi_graph_join(const struct tscope_timeline *timeline,
					struct arena *arena);

/* The node of a device row, or NULL. */
static inline const struct graph_node *
tsi_graph_node(const struct graph_join *join, const struct tscope_trace *trace, uint32_t row)
{
	uint32_t node = join ? join->node_of_row[tsi_device_event_index(trace, row)] : NO_ROW;

	return node == NO_ROW ? NULL : &join->set->nodes[node];
}

#endif
