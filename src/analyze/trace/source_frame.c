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

static inline int64_t end_of(struct span_times times, uint32_t row)
{
	return tsi_start_of(times, row) + tsi_dur_of(times, row);
}

/* The end of a row, from its block's base on; TIME_FAR or more where that may be wrong. */
static inline uint64_t near_end(struct span_times times, uint32_t row)
{
	return (uint64_t)times.starts[row] + times.lengths[row];
}

/* When the last of a block's rows ends. */
static int64_t last_end(const struct spans *spans, uint32_t block)
{
	struct span_times times = tsi_span_times(spans);
	uint32_t first = block * TIME_BLOCK, end = first + TIME_BLOCK;
	int64_t last_ns = INT64_MIN;
	uint64_t most = 0;

	if (end > spans->count)
		end = spans->count;
	for (uint32_t row = first; row < end; row++)
		most = near_end(times, row) > most ? near_end(times, row) : most;
	if (most < TIME_FAR)
		return times.bases[block] + LENGTH_BASE + (int64_t)most;
	for (uint32_t row = first; row < end; row++)
		last_ns = end_of(times, row) > last_ns ? end_of(times, row) : last_ns;
	return last_ns;
}

static bool may_be_open(const struct open_rows *rows, uint32_t block, int64_t t_ns)
{
	if (!rows->ends_ns)
		return true;
	if (!rows->ends_ns[block])
		rows->ends_ns[block] = last_end(&rows->trace->spans, block);
	return rows->ends_ns[block] > t_ns;
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
		uint64_t past = (uint64_t)t_ns - (uint64_t)times.bases[block];
		if (past >= TIME_FAR)
			past = TIME_FAR - 1;
		for (; end > stop; end--)
			if (near_end(times, end - 1) > past && end_of(times, end - 1) > t_ns)
				return end - 1;
	}
	return NO_ROW;
}

enum { SITE_MODULES = 2 };

/* Frames that a thread is in. */
struct open_frames {
	uint32_t modules[SITE_MODULES]; /* the innermost first */
	uint32_t module_count;
	uint32_t source; /* the innermost of the user's, else the innermost */
};

static struct open_frames find_frames(const struct open_rows *rows, uint32_t track, int64_t t_ns,
				      uint32_t row_count, uint32_t most_modules)
{
	const struct tscope_trace *trace = rows->trace;
	uint32_t first = trace->tracks[track].first, end = tsi_first_row_after(trace, track, t_ns);
	uint32_t last = end - first > row_count ? end - row_count : first;
	struct open_frames frames = { .source = NO_ROW };
	bool has_user = false;

	while (!has_user || frames.module_count < most_modules) {
		end = tsi_open_before(rows, last, end, t_ns);
		if (end == NO_ROW)
			break;
		const struct span_kind *kind = tsi_span_kind(&trace->spans, end);
		if (kind->span_class != TSCOPE_SPAN_PYTHON)
			continue;
		if (kind->frame.place == FRAME_MODULE && frames.module_count < most_modules)
			frames.modules[frames.module_count++] = end;
		if (has_user)
			continue;
		has_user = kind->frame.place == FRAME_USER;
		if (has_user || (frames.source == NO_ROW &&
				 tsi_python_name(tsi_span_name(trace, end)).file.length))
			frames.source = end;
	}
	return frames;
}

uint32_t tsi_source_frame(const struct open_rows *rows, uint32_t track, int64_t t_ns,
			  uint32_t row_count)
{
	return find_frames(rows, track, t_ns, row_count, 0).source;
}

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
		sites.has_modules |= kind->frame.place == FRAME_MODULE;
	}
	return sites;
}

void tsi_put_site(const struct frame_sites *sites, uint32_t track, int64_t t_ns,
		  struct tscope_value *module, struct tscope_value *source, struct fact_sheet *out)
{
	const struct tscope_trace *trace = sites->rows.trace;
	const char *path = NULL;

	if (!sites->has_frames)
		return;
	struct open_frames frames = find_frames(&sites->rows, track, t_ns, sites->row_count,
						sites->has_modules ? SITE_MODULES : 0);
	for (uint32_t i = 0; i < frames.module_count; i++) {
		struct str name = tsi_module_name(tsi_span_name(trace, frames.modules[i]));
		path = path ? tsi_sheet_print(out, "%s.%s", name.data, path) : name.data;
	}
	*module = tsi_text_if(path);
	if (frames.source != NO_ROW)
		*source = tsi_text(tsi_span_name(trace, frames.source).data);
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
	uint32_t own = tsi_work_place(trace, device_row).source;
	if (own)
		*source = tsi_text(tsi_intern_text(&trace->names, own).data);
}
