/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_INFERENCE_GAPS_H
#define TSCOPE_ANALYZE_TRACE_INFERENCE_GAPS_H

#include "analyze/trace/host_parts.h"
#include "analyze/trace/inference_turns.h"

/*
 * Where the devices wait for the host between iterations: from the end of one's device work to the
 * first kernel of the next one's model. Work on the device that prepares its inputs lies in it.
 */
struct host_gaps {
	int64_t count;           /* iterations before which a gap could be */
	int64_t total_ns;        /* of all gaps */
	int64_t wall_ns;         /* gaps and the device work behind them */
	struct host_parts parts; /* of total_ns */
};

struct host_gaps tsi_find_host_gaps(const struct turns *turns, struct arena *scratch);

#endif
