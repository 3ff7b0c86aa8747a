/* SPDX-License-Identifier: MIT */
#include "analyze/trace/source_frame.h"

#include "base/bisect.h"
#include "model/trace/python_name.h"

uint32_t tsi_first_row_after(const struct tscope_trace *trace, uint32_t track_index, int64_t t_ns)
{
	const struct track *track = &trace->tracks[track_index];
	uint32_t low = track->first, high = track->first + track->count;

	TSI_BISECT(low, high, tsi_start_ns(&trace->spans, middle) <= t_ns);
	return low;
}

uint32_t tsi_source_frame(const struct tscope_trace *trace, uint32_t track, int64_t t_ns,
			  uint32_t row_count)
{
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > row_count ? end - row_count : first, innermost = NO_ROW;

	for (uint32_t row = end; row > last; row--) {
		if (tsi_span_class(&trace->spans, row - 1) != TSCOPE_SPAN_PYTHON ||
		    tsi_span_end(trace, row - 1) <= t_ns)
			continue;
		struct str name = tsi_span_name(trace, row - 1);
		if (tsi_python_name(name).file.length && innermost == NO_ROW)
			innermost = row - 1;
		if (tsi_is_user_frame(name))
			return row - 1;
	}
	return innermost;
}
