/* SPDX-License-Identifier: MIT */
#include "analyze/trace/source_frame.h"

#include "base/bisect.h"
#include "model/trace/device_rows.h"
#include "model/trace/python_name.h"

uint32_t tsi_first_row_after(const struct tscope_trace *trace, uint32_t track_index, int64_t t_ns)
{
	const struct track *track = &trace->tracks[track_index];
	uint32_t low = track->first, high = track->first + track->count;

	TSI_BISECT(low, high, tsi_start_ns(&trace->spans, middle) <= t_ns);
	return low;
}

struct open_rows tsi_open_rows(const struct tscope_trace *trace, struct arena *arena)
{
	size_t block_count = trace->spans.count / TIME_BLOCK + 1;

	return (struct open_rows){ trace, tsi_arena_new(arena, block_count, sizeof(int64_t)) };
}

/* Whether a row of the block may be open; each block is looked at once. */
static bool may_be_open(const struct open_rows *rows, uint32_t block, int64_t t_ns)
{
	struct span_times times = tsi_span_times(&rows->trace->spans);
	uint32_t row = block * TIME_BLOCK, end = row + TIME_BLOCK;
	int64_t last_ns = INT64_MIN;

	if (!rows->ends_ns || rows->ends_ns[block])
		return !rows->ends_ns || rows->ends_ns[block] > t_ns;
	if (end > rows->trace->spans.count)
		end = rows->trace->spans.count;
	for (; row < end; row++) {
		int64_t end_ns = tsi_start_of(times, row) + tsi_dur_of(times, row);
		last_ns = end_ns > last_ns ? end_ns : last_ns;
	}
	rows->ends_ns[block] = last_ns;
	return last_ns > t_ns;
}

uint32_t tsi_open_before(const struct open_rows *rows, uint32_t first, uint32_t end, int64_t t_ns)
{
	struct span_times times = tsi_span_times(&rows->trace->spans);

	while (end > first) {
		uint32_t block = (end - 1) / TIME_BLOCK, stop = block * TIME_BLOCK;
		if (stop < first)
			stop = first;
		if (!may_be_open(rows, block, t_ns))
			end = stop;
		for (; end > stop; end--)
			if (tsi_start_of(times, end - 1) + tsi_dur_of(times, end - 1) > t_ns)
				return end - 1;
	}
	return NO_ROW;
}

uint32_t tsi_source_frame(const struct open_rows *rows, uint32_t track, int64_t t_ns,
			  uint32_t row_count)
{
	const struct tscope_trace *trace = rows->trace;
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > row_count ? end - row_count : first, innermost = NO_ROW;

	for (;;) {
		end = tsi_open_before(rows, last, end, t_ns);
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

enum { SITE_MODULES = 2 };

struct frame_sites tsi_frame_sites(const struct tscope_trace *trace, uint32_t row_count,
				   struct fact_sheet *out)
{
	struct frame_sites sites = { .rows = tsi_open_rows(trace, tsi_sheet_scratch(out)),
				     .row_count = row_count };

	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		if (kind->span_class != TSCOPE_SPAN_PYTHON)
			continue;
		sites.has_frames = true;
		sites.has_modules |=
			tsi_module_name(tsi_intern_text(&trace->names, kind->name)).length > 0;
	}
	return sites;
}

/* NULL: in none. */
static const char *find_modules(const struct frame_sites *sites, uint32_t track, int64_t t_ns,
				struct fact_sheet *out)
{
	const struct tscope_trace *trace = sites->rows.trace;
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > sites->row_count ? end - sites->row_count : first;
	const char *path = NULL;

	for (uint32_t found = 0; found < SITE_MODULES;) {
		end = tsi_open_before(&sites->rows, last, end, t_ns);
		if (end == NO_ROW)
			break;
		if (tsi_span_class(&trace->spans, end) != TSCOPE_SPAN_PYTHON)
			continue;
		struct str module = tsi_module_name(tsi_span_name(trace, end));
		if (!module.length)
			continue;
		path = path ? tsi_sheet_print(out, "%s.%s", module.data, path) : module.data;
		found++;
	}
	return path;
}

void tsi_put_site(const struct frame_sites *sites, uint32_t track, int64_t t_ns,
		  struct tscope_value *module, struct tscope_value *source, struct fact_sheet *out)
{
	const struct tscope_trace *trace = sites->rows.trace;
	uint32_t frame = NO_ROW;

	if (sites->has_modules)
		*module = tsi_text_if(find_modules(sites, track, t_ns, out));
	if (sites->has_frames)
		frame = tsi_source_frame(&sites->rows, track, t_ns, sites->row_count);
	if (frame != NO_ROW)
		*source = tsi_text(tsi_span_name(trace, frame).data);
}

void tsi_put_launch_site(const struct frame_sites *sites, uint32_t device_row,
			 struct tscope_value *module, struct tscope_value *source,
			 struct fact_sheet *out)
{
	const struct tscope_trace *trace = sites->rows.trace;
	uint32_t launch = tsi_launch_row(trace, device_row);

	if (launch != NO_ROW)
		tsi_put_site(sites, tsi_trace_track_of(trace, launch),
			     tsi_start_ns(&trace->spans, launch), module, source, out);
}
