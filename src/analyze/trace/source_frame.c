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

enum { SITE_MODULES = 2 };

struct frame_sites tsi_frame_sites(const struct tscope_trace *trace, uint32_t row_count)
{
	struct frame_sites sites = { .trace = trace, .row_count = row_count };

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
static const char *find_modules(const struct tscope_trace *trace, uint32_t track, int64_t t_ns,
				uint32_t row_count, struct fact_sheet *out)
{
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > row_count ? end - row_count : first;
	const char *path = NULL;

	for (uint32_t row = end, found = 0; row > last && found < SITE_MODULES; row--) {
		if (tsi_span_class(&trace->spans, row - 1) != TSCOPE_SPAN_PYTHON ||
		    tsi_span_end(trace, row - 1) <= t_ns)
			continue;
		struct str module = tsi_module_name(tsi_span_name(trace, row - 1));
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
	const struct tscope_trace *trace = sites->trace;
	uint32_t frame = NO_ROW;

	if (sites->has_modules)
		*module = tsi_text_if(find_modules(trace, track, t_ns, sites->row_count, out));
	if (sites->has_frames)
		frame = tsi_source_frame(trace, track, t_ns, sites->row_count);
	if (frame != NO_ROW)
		*source = tsi_text(tsi_span_name(trace, frame).data);
}

void tsi_put_launch_site(const struct frame_sites *sites, uint32_t device_row,
			 struct tscope_value *module, struct tscope_value *source,
			 struct fact_sheet *out)
{
	uint32_t launch = tsi_launch_row(sites->trace, device_row);

	if (launch != NO_ROW)
		tsi_put_site(sites, tsi_trace_track_of(sites->trace, launch),
			     tsi_start_ns(&sites->trace->spans, launch), module, source, out);
}
