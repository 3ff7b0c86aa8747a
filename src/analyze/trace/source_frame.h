/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_SOURCE_FRAME_H
#define TSCOPE_ANALYZE_TRACE_SOURCE_FRAME_H

#include "model/trace/trace.h"

/* Of a thread the first row that starts after a time, or the end of its rows. */
uint32_t tsi_first_row_after(const struct tscope_trace *trace, uint32_t track, int64_t t_ns);

/* Going back from row end, the next that is open still at a time; NO_ROW: none from first on. */
uint32_t tsi_open_before(const struct tscope_trace *trace, uint32_t first, uint32_t end,
			 int64_t t_ns);

/*
 * The Python frame with a file and a line that says where the thread is at a time: the innermost
 * of the user's, or else the innermost; NO_ROW: none is kept. Of the thread's rows the last
 * row_count are looked at that start by then.
 */
uint32_t tsi_source_frame(const struct tscope_trace *trace, uint32_t track, int64_t t_ns,
			  uint32_t row_count);

#endif
