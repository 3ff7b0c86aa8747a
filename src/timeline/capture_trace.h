/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TIMELINE_CAPTURE_TRACE_H
#define TSCOPE_TIMELINE_CAPTURE_TRACE_H

#include "model/trace/trace.h"

/*
 * The launches of a trace that lie within the capture of a graph: they become a part of it, and do
 * not run.
 */
struct captured_launches {
	int64_t count;
	bool is_all; /* the trace records the capture of graphs: it holds no step of a run */
};

/* O(kinds) where nothing is captured, else O(calls). */
struct captured_launches tsi_find_captured(const struct tscope_trace *trace);

static inline bool tsi_is_launch_call(uint8_t kind)
{
	return kind == CALL_LAUNCH || kind == CALL_GRAPH_LAUNCH || kind == CALL_MEMCPY ||
	       kind == CALL_MEMSET;
}

/*
 * enum call_kind; a call that no name describes, but that device work is linked to, launched it.
 * index: of the call, in the order of rows.
 */
static inline uint8_t tsi_launching_kind(const struct tscope_trace *trace, size_t index,
					 uint32_t row)
{
	uint8_t kind = tsi_call_kind(trace, row);

	return kind == CALL_OTHER && trace->calls[index].has_work ? CALL_LAUNCH : kind;
}

#endif
