/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_CAPTURE_TRACE_H
#define TSCOPE_ANALYZE_TRACE_CAPTURE_TRACE_H

#include "model/trace/trace.h"

/*
 * Does it record the capture of graphs, so that it is neither a step nor a rank of a run? captured:
 * how many of its launches lie in captures.
 */
bool tsi_is_capture_trace(const struct tscope_trace *trace, int64_t captured, int64_t launched);

#endif
