/* SPDX-License-Identifier: MIT */
/*
 * Serving engines write traces of the capture of graphs beside those of their replay (vLLM's
 * graph_capture_rank_*, SGLang's bs_<n>_rank<r>, both in capture_traces/).
 */
#include "analyze/trace/capture_trace.h"

#include <string.h>

#include "timeline/iteration.h"

static bool has_capture_mark(const struct tscope_trace *trace)
{
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];
		int64_t batch;

		if (kind->span_class == TSCOPE_SPAN_ANNOTATION &&
		    tsi_is_capture_mark(tsi_intern_text(&trace->names, kind->name), &batch))
			return true;
	}
	return false;
}

static bool has_replay(const struct tscope_trace *trace)
{
	for (uint32_t i = 0; i < trace->spans.kind_count; i++)
		if (trace->spans.kinds[i].span_class == TSCOPE_SPAN_RUNTIME &&
		    trace->spans.kinds[i].call.kind == CALL_GRAPH_LAUNCH)
			return true;
	return false;
}

bool tsi_is_capture_trace(const struct tscope_trace *trace, int64_t captured, int64_t launched)
{
	/* Beside a capture may lie the warm-up before it and the first replay after it. */
	if (captured > 0 && trace->path && strstr(trace->path, "capture_traces/"))
		return true;
	return (captured > 0 && captured >= launched - captured) ||
	       (has_capture_mark(trace) && !has_replay(trace));
}
