/* SPDX-License-Identifier: MIT */
/*
 * Traces of the capture of graphs say which operators their kernels belong to; those that replay
 * the graphs do not (graph_join.h). Which traces are which is known only once they were read: both
 * are read once more then, so that others cost nothing.
 */
#include "session/session.h"

static bool is_trace(const struct run_source *source)
{
	return source->load && source->load->loaded && !source->load->only &&
	       !source->load->file.saved && source->load->loaded->input.kind == TSCOPE_INPUT_TRACE;
}

static bool is_capture(const struct run_source *source)
{
	return is_trace(source) && source->load->loaded->is_capture;
}

static bool is_replay(const struct run_source *source)
{
	return is_trace(source) && !source->refusal && !source->load->loaded->is_capture &&
	       source->load->loaded->has_replays && source->load->graph_log_count == 0;
}

/* A capture that was mapped: its operators are not kept. */
static bool is_mapped_capture(const struct run_source *source)
{
	return source->load && source->load->loaded && source->load->file.saved &&
	       source->load->loaded->is_capture;
}

static size_t count_if(const struct run_sources *sources,
		       bool (*is_one)(const struct run_source *source))
{
	size_t count = 0;

	for (size_t i = 0; i < sources->count; i++)
		count += is_one(&sources->items[i]);
	return count;
}

/* Is one of the two not known to be of another rank? */
static bool may_be_same_rank(const struct loaded *a, const struct loaded *b)
{
	return a->input.rank == b->input.rank || a->input.rank < 0 || b->input.rank < 0;
}

static void find_logs(struct load *replay, const struct run_sources *sources, struct arena *arena)
{
	const struct graph_log **logs =
		tsi_arena_new(arena, sources->count, sizeof(struct graph_log *));
	size_t count = 0;

	for (size_t i = 0; logs && i < sources->count; i++)
		if (is_capture(&sources->items[i]) && sources->items[i].load->loaded->graphs &&
		    may_be_same_rank(replay->loaded, sources->items[i].load->loaded))
			logs[count++] = sources->items[i].load->loaded->graphs;
	replay->graphs = logs;
	replay->graph_log_count = count;
}

static void forget(struct load *load)
{
	tsi_loaded_free(load->loaded);
	load->loaded = NULL;
}

enum tscope_status tsi_join_captures(struct run_sources *sources, struct session *session,
				     struct run_notes *notes, struct tscope_error *err)
{
	struct arena *arena = &session->arena;
	struct load **wanted = tsi_arena_new(arena, sources->count, sizeof(struct load *));
	size_t count = 0;

	if (count_if(sources, is_mapped_capture) > 0)
		tsi_run_note(notes,
			     "captures of graphs were mapped, which keeps no operators: report "
			     "the traces themselves for what replayed kernels are");
	if (!wanted || count_if(sources, is_capture) == 0 || count_if(sources, is_replay) == 0)
		return tsi_arena_status(arena, err);
	for (size_t i = 0; i < sources->count; i++) {
		struct load *load = sources->items[i].load;
		if (!is_capture(&sources->items[i]) || load->keeps_graphs)
			continue;
		load->keeps_graphs = true;
		wanted[count++] = load;
		forget(load);
	}
	enum tscope_status status = tsi_load_files(wanted, count, session->options, err);
	count = 0;
	for (size_t i = 0; status == TSCOPE_OK && i < sources->count; i++) {
		struct load *load = sources->items[i].load;
		if (!is_replay(&sources->items[i]))
			continue;
		find_logs(load, sources, arena);
		if (load->graph_log_count == 0)
			continue;
		wanted[count++] = load;
		forget(load);
	}
	return status == TSCOPE_OK ? tsi_load_files(wanted, count, session->options, err) : status;
}
