/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_FLOWS_H
#define TSCOPE_MODEL_TRACE_FLOWS_H

#include "model/trace/build.h"

/* The op of a device event that has no correlation, until it is known. */
#define WITHOUT_CORRELATION (NO_ROW - 1)

/* Device work without a launch, and where the flow that ends at it comes from. */
struct followed_flow {
	uint32_t event;  /* row */
	uint32_t source; /* row of a call or an operator; NO_ROW: the file does not hold it */
	uint64_t id;
};

struct flow_walk {
	struct builder *builder;
	uint32_t *starts;                /* numbers of the builder's flow_starts, by id and time */
	struct key_map threads, streams; /* (pid id, tid id) -> track */
	size_t next;
};

/* Walks the flows to events that have no call by then. Failures latch in the builder. */
void tsi_flow_walk_init(struct flow_walk *walk, struct builder *b);
bool tsi_flow_walk_next(struct flow_walk *walk, struct followed_flow *followed);
void tsi_flow_walk_deinit(struct flow_walk *walk);

#endif
