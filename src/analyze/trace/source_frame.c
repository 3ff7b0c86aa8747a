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

uint32_t tsi_open_before(const struct tscope_trace *trace, uint32_t first, uint32_t end,
			 int64_t t_ns)
{
	struct span_times times = tsi_span_times(&trace->spans);

	for (uint32_t row = end; row > first; row--)
		if (tsi_start_of(times, row - 1) + tsi_dur_of(times, row - 1) > t_ns)
			return row - 1;
	return NO_ROW;
}

uint32_t tsi_source_frame(const struct tscope_trace *trace, uint32_t track, int64_t t_ns,
			  uint32_t row_count)
{
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > row_count ? end - row_count : first, innermost = NO_ROW;

	for (;;) {
		end = tsi_open_before(trace, last, end, t_ns);
		if (end == NO_ROW)
			return innermost;
		if (tsi_span_class(&trace->spans, end) != TSCOPE_SPAN_PYTHON)
			continue;
		struct str name = tsi_span_name(trace, end);
		if (innermost == NO_ROW && tsi_python_name(name).file.length)
			innermost = end;
		if (tsi_is_user_frame(name))
			return end;
	}
}
