/* SPDX-License-Identifier: MIT */
/*
 * Traces of the capture of graphs (capture_trace.h). Captured work does not run: they are no step
 * and no rank of a run, so that a run that has anything else leaves them out.
 */
#include "session/session.h"

#include "base/error.h"

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
	tsi_fail(why, TSCOPE_E_UNSUPPORTED, "a graph capture, not a run");
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
