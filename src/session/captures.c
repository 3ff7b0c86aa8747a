/* SPDX-License-Identifier: MIT */
/*
 * Traces of the capture of graphs, which serving engines write beside those of their replay
 * (vLLM's graph_capture_rank_*, SGLang's bs_<n>_rank<r>, both in capture_traces/). What is
 * captured does not run: they are no step and no rank of a run, so that a run that has anything
 * else leaves them out.
 */
#include "session/session.h"

#include <string.h>

#include "analyze/lookup.h"
#include "base/error.h"
#include "timeline/iteration.h"

static bool has_capture_mark(const struct tscope_trace *trace)
{
	for (uint32_t i = 0; i < trace->spans.kind_count; i++) {
		const struct span_kind *kind = &trace->spans.kinds[i];

		if (kind->span_class == TSCOPE_SPAN_ANNOTATION &&
		    tsi_is_capture_mark(tsi_intern_text(&trace->names, kind->name)))
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

bool tsi_is_capture(const struct tscope_trace *trace, const struct tscope_analysis *analysis)
{
	int64_t captured = tsi_lookup_int(analysis, "launches.captured_count");
	int64_t launched = tsi_lookup_int(analysis, "launches.launch_count");

	/* Beside a capture may lie the warm-up before it and the first replay after it. */
	if (strstr(trace->path, "capture_traces/") && captured > 0)
		return true;
	return (captured > 0 && captured >= launched - captured) ||
	       (has_capture_mark(trace) && !has_replay(trace));
}

static bool is_capture(const struct run_source *source)
{
	return source->load && source->load->loaded && source->load->loaded->is_capture;
}

static bool has_steps(const struct run_source *source)
{
	const struct loaded *loaded = source->load ? source->load->loaded : NULL;

	return loaded && !loaded->is_capture && !source->refusal &&
	       (loaded->input.kind == TSCOPE_INPUT_TRACE ||
		loaded->input.kind == TSCOPE_INPUT_STEPS);
}

enum tscope_status tsi_leave_captures_out(struct run_sources *sources, struct session *session,
					  struct run_notes *notes, struct tscope_error *err)
{
	struct tscope_error *why = tsi_arena_new(&session->arena, 1, sizeof(*why));
	const char *first = NULL;
	size_t count = 0, run_count = 0;

	for (size_t i = 0; i < sources->count; i++)
		run_count += has_steps(&sources->items[i]);
	if (!why || run_count == 0)
		return tsi_arena_status(&session->arena, err);
	tsi_fail(why, TSCOPE_E_UNSUPPORTED, "the capture of a graph, not a run");
	for (size_t i = 0; i < sources->count; i++) {
		if (!is_capture(&sources->items[i]))
			continue;
		sources->items[i].refusal = why;
		first = count++ > 0 ? first : sources->items[i].file->path;
	}
	if (count == 1)
		tsi_run_note(notes, "%s records the capture of a graph: it is no part of the run",
			     first);
	else if (count > 1)
		tsi_run_note(notes,
			     "%zu traces record the capture of graphs (%s …): they are no part of "
			     "the run",
			     count, first);
	return tsi_arena_status(&session->arena, err);
}
