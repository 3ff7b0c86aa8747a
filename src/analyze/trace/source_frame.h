/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_ANALYZE_TRACE_SOURCE_FRAME_H
#define TSCOPE_ANALYZE_TRACE_SOURCE_FRAME_H

#include "analyze/facts.h"
#include "base/arena.h"
#include "model/trace/trace.h"

/* The thread's first row that starts after a time, or the end of its rows. */
uint32_t tsi_first_row_after(const struct tscope_trace *trace, uint32_t track, int64_t t_ns);

/* To look for rows that are open at a time. */
struct open_rows {
	const struct tscope_trace *trace;
	int64_t *ends_ns; /* by block of rows, where the last of them ends; 0: not looked at yet */
};

/* The arena says whether memory ran out. */
struct open_rows tsi_open_rows(const struct tscope_trace *trace, struct arena *arena);

/* Going back from row end, the next that is open still at a time; NO_ROW: none from first on. */
uint32_t tsi_open_before(const struct open_rows *rows, uint32_t first, uint32_t end, int64_t t_ns);

/*
 * The Python frame with a file and a line that says where the thread is at a time: the innermost
 * of the user's, or else the innermost; NO_ROW: none is kept. Of the thread's rows the last
 * row_count are looked at that start by then.
 */
uint32_t tsi_source_frame(const struct open_rows *rows, uint32_t track, int64_t t_ns,
			  uint32_t row_count);

/* Python frames of a trace, to find the code of a place in it. */
struct frame_sites {
	struct open_rows rows;
	bool has_frames, has_modules;
	uint32_t row_count; /* so many of a thread's rows are looked at */
};

struct frame_sites tsi_frame_sites(const struct tscope_trace *trace, uint32_t row_count,
				   struct fact_sheet *out);

/* Enough for most launches, which are many; and for what is asked of a few places. */
enum { LAUNCH_SITE_ROWS = 1 << 12, SITE_ROWS = 1 << 16 };

/*
 * Two cells: the innermost modules that a thread is in at a time, "Block_3.Attention_3", and the
 * name of the frame above. Absent where no frames say it.
 */
void tsi_put_site(const struct frame_sites *sites, uint32_t track, int64_t t_ns,
		  struct tscope_value *module, struct tscope_value *source, struct fact_sheet *out);

/* Writes the site at which a device event was launched, or the function that it says it is of. */
void tsi_put_launch_site(const struct frame_sites *sites, uint32_t device_row,
			 struct tscope_value *module, struct tscope_value *source,
			 struct fact_sheet *out);

#endif
