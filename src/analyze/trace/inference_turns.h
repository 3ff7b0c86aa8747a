/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_INFERENCE_TURNS_H
#define TSCOPE_ANALYZE_TRACE_INFERENCE_TURNS_H

#include "analyze/analyzer.h"
#include "model/trace/kernel_table.h"
#include "timeline/iteration.h"

/* An iteration: what its mark says, and its work on the devices. */
struct turn {
	struct iteration said;
	int64_t start_ns, mark_end_ns;
	/*
	 * Its device work: the first kernel, the first of the model's (a graph, a product,
	 * attention or norm; else any), the last end. INT64_MAX, INT64_MIN: none.
	 */
	int64_t first_kernel_ns, forward_ns, end_ns;
	int64_t kernel_ns, graph_ns;
	int64_t latency_ns;
	/* Its step, mean of the devices: idle for the host, and for what is not recorded. */
	int64_t waiting_ns, unrecorded_ns;
	bool is_counted;
};

struct turns {
	const struct analysis_scope *scope;
	struct turn *items; /* by step */
	uint32_t count, counted;
	const char *engine; /* NULL: no mark says it */
	int64_t kind_ns[ITERATION_PHASE_COUNT][KERNEL_KIND_COUNT];
	int64_t *numbers, *others; /* room for count */
};

static inline bool tsi_turn_decodes(const struct turn *turn)
{
	return turn->said.phase == ITERATION_DECODE || turn->said.phase == ITERATION_SPECULATIVE;
}

/* Does a request get tokens that had some before? */
static inline bool tsi_turn_gives_tokens(const struct turn *turn)
{
	return tsi_turn_decodes(turn) || turn->said.phase == ITERATION_MIXED;
}

/* The iterations of a trace whose steps they are; without memory none. O(rows of its devices). */
struct turns tsi_find_turns(const struct analysis_scope *scope, struct arena *scratch);

#endif
