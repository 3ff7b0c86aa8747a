/* SPDX-License-Identifier: MIT */
/*
 * Serving engines write traces of the capture of graphs beside those of their replay (vLLM's
 * graph_capture_rank_*, SGLang's bs_<n>_rank<r>, both in capture_traces/).
 */
#include "timeline/capture_trace.h"

#include <string.h>

#include "timeline/iteration.h"

/* Signs of a capture by kind of span. */
struct capture_signs {
	bool has_begin, has_mark, has_replay;
};

static struct capture_signs find_signs(const struct tscope_trace *trace)
{
	struct capture_signs signs = { 0 };

	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		int64_t batch;

		if (kind->span_class == TSCOPE_SPAN_ANNOTATION) {
			struct str name = tsi_intern_text(&trace->names, kind->name);
			signs.has_mark |= tsi_is_capture_mark(name, &batch);
		} else if (kind->span_class == TSCOPE_SPAN_RUNTIME) {
			signs.has_begin |= kind->call.kind == CALL_CAPTURE_BEGIN;
			signs.has_replay |= kind->call.kind == CALL_GRAPH_LAUNCH;
		}
	}
	return signs;
}

struct launches {
	int64_t count, captured_count;
};

/* A capture lies between two calls of one thread. */
static struct launches count_launches(const struct tscope_trace *trace)
{
	const struct track *track = trace->tracks;
	struct bit_walk calls = tsi_bit_set_walk(&trace->spans.calls);
	struct launches launches = { 0 };
	bool is_capturing = false;

	for (size_t i = 0; i < trace->call_count; i++) {
		uint32_t row = tsi_bit_walk_next(&calls);
		uint8_t kind = tsi_launching_kind(trace, i, row);
		bool is_launch = tsi_is_launch_call(kind);

		if (row - track->first >= track->count)
			is_capturing = false;
		while (row - track->first >= track->count)
			track++;
		launches.count += is_launch;
		launches.captured_count += is_launch && is_capturing;
		if (kind == CALL_CAPTURE_BEGIN || kind == CALL_CAPTURE_END)
			is_capturing = kind == CALL_CAPTURE_BEGIN;
	}
	return launches;
}

struct captured_launches tsi_find_captured(const struct tscope_trace *trace)
{
	struct capture_signs signs = find_signs(trace);
	struct launches launches = { 0 };

	if (signs.has_begin)
		launches = count_launches(trace);
	bool is_most = launches.captured_count >= launches.count - launches.captured_count;
	/* Beside a capture may lie the warm-up before it and the first replay after it. */
	bool is_named = trace->path && strstr(trace->path, "capture_traces/");
	return (struct captured_launches){
		.count = launches.captured_count,
		.is_all = (signs.has_mark && !signs.has_replay) ||
			  (launches.captured_count > 0 &&
			   ((is_most && !signs.has_replay) || is_named)),
	};
}
