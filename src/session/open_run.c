/* SPDX-License-Identifier: MIT */
/*
 * The path of a run's data, end to end:
 *
 *	find       which files there are                          (src/run/find.c)
 *	read       to steps, facts, or both; each file once       (session.c, load_file.c,
 *	                                                           split_merged.c)
 *	captures   of graphs, which are no part of it, and say    (captures.c,
 *	           what the replays do                            join_captures.c)
 *	group      which rank and which window each file is       (group_members.c)
 *	partition  files that contradict each other into runs     (conflict.c, open_runs.c)
 *	join       one series of steps for each rank              (count_steps.c, join_ranks.c),
 *	           without ranks that are broken or lack most     (quorum.c),
 *	           steps
 *	           its metrics                                    (join_metrics.c),
 *	           its secondary traces                           (secondary.c),
 *	           what is known of its memory                    (run_memory.c)
 *	hang       what flight-recorder dumps beside say          (join_hang.c)
 *	world      what the traces of all ranks say together      (join_world.c)
 *	analyze    facts of each rank, then of all together       (src/analyze/)
 *	view       what the public API shows of it                (view_run.c)
 *
 * Unreadable inputs are kept as problems of the run; the rest is still analysed.
 */
#include "session/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/shared/anchor.h"
#include "base/array.h"
#include "base/error.h"
#include "base/print_text.h"
#include "run/settle.h"
#include "session/open_trace.h"

/* ---- group ---- */

/* Nothing could be read: why. */
static enum tscope_status fail_empty(const struct run_members *members,
				     const struct run_request *request, struct tscope_error *err)
{
	const struct tscope_run_other *first = members->others ? &members->others[0].shown : NULL;
	char found[288] = "no file";

	for (size_t i = 0; i < members->other_count; i++) {
		const struct tscope_run_other *other = &members->others[i].shown;
		const struct tscope_error *error = members->others[i].error;

		if (!other->is_problem)
			continue;
		if (request->path_count == 1 && other->is_named && error) {
			if (err)
				*err = *error;
			tsi_fail_within(err, "%s", request->path);
			return error->status;
		}
		return tsi_fail(err, TSCOPE_E_EMPTY, "nothing could be read; %.200s: %.200s",
				other->path, other->reason);
	}
	if (members->other_count == 1)
		tsi_print_text(found, sizeof(found), "1 other file, %.120s: %.120s", first->path,
			       first->reason);
	else if (members->other_count > 1)
		tsi_print_text(found, sizeof(found), "%zu other files", members->other_count);
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"%s%s holds nothing to analyse: looked for traces (.json, .gz, .zst), "
			"step records (steps.jsonl), metrics (metrics.csv, events.out.tfevents, "
			"trainer_state.json), files about memory (.pickle, .bin) and "
			"flight-recorder dumps and found %s",
			request->path, request->path_count == 1 ? "" : " and the rest", found);
}

/* Are the traces of one run, as far as they say, or taken for one? */
static enum tscope_status check_traces(struct tscope_run *run, bool is_forced, const char *path,
				       struct tscope_error *err)
{
	struct run_partition partition;

	tsi_separate(&partition, &run->members, &run->arena);
	enum tscope_status status = tsi_arena_status(&run->arena, err);
	if (status != TSCOPE_OK)
		return status;
	if (partition.count > 1 && !is_forced)
		return tsi_fail(err, TSCOPE_E_DAMAGED,
				"%.100s: found %zu separate runs, the second %.240s; name the "
				"files of one run, or force them together (--one-run)",
				path, partition.count, partition.reasons[1]);
	if (partition.count > 1)
		tsi_run_note(&run->notes, "%zu runs are forced together (--one-run), the second %s",
			     partition.count, partition.reasons[1]);
	for (size_t i = 0; i < partition.note_count; i++)
		tsi_run_note(&run->notes, "%s", partition.notes[i]);
	return TSCOPE_OK;
}

/* The files of a run, read and in their places, if they can be of one job. */
static enum tscope_status gather(struct tscope_run *run, struct session *session,
				 const struct run_request *request, struct tscope_error *err)
{
	struct run_files files = request->files;
	struct run_sources sources;

	files.items = tsi_arena_new(&session->arena, files.count, sizeof(*files.items));
	enum tscope_status status = tsi_arena_status(&session->arena, err);
	if (status != TSCOPE_OK)
		return status;
	if (files.count > 0)
		memcpy(files.items, request->files.items, files.count * sizeof(*files.items));
	tsi_settle_files(&files, &session->arena);
	status = tsi_session_read(&sources, session, &files, err);
	if (status == TSCOPE_OK)
		status = tsi_split_merged(&sources, session, &run->notes, err);
	if (status == TSCOPE_OK)
		status = tsi_leave_captures_out(&sources, session, &run->notes, err);
	if (status == TSCOPE_OK)
		status = tsi_join_captures(&sources, session, &run->notes, err);
	if (status == TSCOPE_OK)
		status = tsi_group_members(&run->members, &sources,
					   session->options->analysis.quorum_percent, &run->notes,
					   err);
	if (status == TSCOPE_OK)
		status = tsi_join_hang(&run->hang, &files, &run->members, session->options,
				       &run->notes, err);
	if (status == TSCOPE_OK && run->members.read_count == 0 && !run->hang.analysis)
		return fail_empty(&run->members, request, err);
	if (status == TSCOPE_OK)
		status = check_traces(run, session->options->one_run, request->path, err);
	if (status == TSCOPE_OK)
		status = tsi_check_worlds(&run->members, err);
	if (status != TSCOPE_OK)
		return status;
	tsi_prepare_metrics(&run->members, &run->notes);
	return tsi_check_metrics(&run->members, &run->arena, err);
}

/* Moves what was loaded from the session to the run. */
static void take_loaded(struct tscope_run *run)
{
	run->owns_loaded = true;
	for (size_t i = 0; i < run->members.read_count; i++) {
		run->members.loads[i]->loaded = NULL;
		if (run->members.loaded[i]->trace)
			run->waiting = run->members.loaded[i]->analysis;
	}
}

/* ---- analyze ---- */

/* The first rank's, which all others and the run fall back on; theirs are made when asked for. */
static enum tscope_status analyze_first(struct tscope_run *run, struct tscope_error *err)
{
	(void)tscope_run_rank_analysis(run, 0);
	return tscope_run_status(run, err);
}

/* A single rank's steps are those of the run; of several, the slowest rank's, step by step. */
static enum tscope_status analyze_run(struct tscope_run *run,
				      const struct tscope_analysis_options *options,
				      struct tscope_error *err)
{
	const struct run_ranks *ranks = &run->ranks;
	struct analysis_scope scope = {
		.steps = ranks->count == 1 ? &ranks->series[0] : &run->slowest,
		.ranks = ranks->series,
		.rank_count = ranks->count,
		.world = run->world.world,
		.replay_graph = run->world.replay_graph,
		.rank_memory = ranks->ranks[0].memory.by_kind,
		.options = options,
	};
	tsi_steps_init(&run->slowest);
	if (ranks->count > 1)
		tsi_steps_slowest(&run->slowest, ranks->series, ranks->count,
				  options->quorum_percent);
	enum tscope_status status = tsi_steps_status(&run->slowest, err);
	if (status == TSCOPE_OK && ranks->count > 1 && run->slowest.count == 0 &&
	    tsi_count_timed(&ranks->series[0]) > 0)
		tsi_run_note(&run->notes,
			     "the ranks have no step in common: nothing compares them");
	if (status == TSCOPE_OK)
		status = tsi_analyze_level(&run->analysis, LEVEL_RUN, &scope,
					   ranks->ranks[0].analysis, err);
	if (status != TSCOPE_OK)
		return status;
	tsi_run_memory_put(&ranks->memory, run->analysis);
	if (run->hang.analysis)
		tsi_analysis_attach_secondary(run->analysis, run->hang.analysis);
	return TSCOPE_OK;
}

/*
 * Options for analysis and export: a model's FLOPs are shared by all ranks, whose number the files
 * may not state.
 */
static struct tscope_analysis_options settle_anchors(const struct run_ranks *ranks,
						     const struct tscope_run_options *options)
{
	struct tscope_analysis_options analysis = options->analysis;
	const struct step_series *first = &ranks->series[0];

	if (analysis.model.device_count == 0 && first->world_size < 0)
		analysis.model.device_count = (unsigned)ranks->count * tsi_counted_devices(first);
	for (size_t i = 0; i < ranks->count; i++)
		tsi_keep_anchor(&ranks->series[i], &analysis);
	return analysis;
}

/* ---- the whole ---- */

static enum tscope_status join(struct tscope_run *run, const struct tscope_run_options *options,
			       struct tscope_error *err)
{
	struct run_members *members = &run->members;
	enum tscope_status status;

	tsi_count_steps(members, &run->notes);
	status = tsi_join_ranks(&run->ranks, members, &run->notes, err);
	if (status == TSCOPE_OK)
		status = tsi_leave_ranks_out(&run->ranks, members, options->analysis.quorum_percent,
					     &run->arena, err);
	if (status == TSCOPE_OK)
		status = tsi_settle_metrics(&run->ranks, members, options, &run->notes, err);
	if (status != TSCOPE_OK)
		return status;
	run->missing_ranks = tsi_missing_ranks(&run->ranks, &run->arena);
	run->alone = tsi_lone_rank(&run->ranks, &run->arena);
	run->incomplete = tsi_incomplete(members, &run->arena);
	run->analysis_options = settle_anchors(&run->ranks, options);
	tsi_note_no_step(&run->ranks, &run->notes);
	tsi_note_files(members, &run->ranks, &run->notes);
	status = tsi_join_world(&run->world, members, &run->ranks, &run->arena, err);
	if (status == TSCOPE_OK)
		status = analyze_first(run, err);
	if (status == TSCOPE_OK)
		status = analyze_run(run, &run->analysis_options, err);
	return status == TSCOPE_OK ? tsi_arena_status(&run->arena, err) : status;
}

static bool are_named(const struct run_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!files->items[i].is_named && files->items[i].kind != RUN_FILE_IGNORED)
			return false;
	return true;
}

enum tscope_status tsi_run_open(struct tscope_run **ret, struct session *session,
				const struct run_request *request, struct tscope_error *err)
{
	struct tscope_run *run = NULL;
	enum tscope_status status = tsi_array_new(&run, 1, sizeof(*run), err);

	*ret = run;
	if (status != TSCOPE_OK)
		return status;
	run->notes.arena = &run->arena;
	run->is_named = are_named(&request->files);
	if (request->apart)
		run->apart = tsi_arena_copy(&run->arena, tsi_str_of(request->apart));
	if (request->apart && *request->apart)
		tsi_run_note(&run->notes, "%s", request->apart);
	status = gather(run, session, request, err);
	if (status != TSCOPE_OK)
		return status;
	take_loaded(run);
	return join(run, session->options, err);
}

enum tscope_status tsi_session_open(struct session *session, const char *const *paths, size_t count,
				    const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	static const struct tscope_run_options defaults = { 0 };

	*session =
		(struct session){ .own = options ? *options : defaults, .options = &session->own };
	enum tscope_status status = tsi_open_archives(&session->members, &session->own.trace, err);

	session->found.members = session->members;
	if (status == TSCOPE_OK)
		status = tsi_find_files(&session->found, paths, count, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_session_keep_sources(session);
	status = tsi_session_expand(session, err);
	return status == TSCOPE_OK ? tsi_arena_status(&session->found.arena, err) : status;
}

enum tscope_status tscope_run_open(struct tscope_run **ret, const char *const *paths, size_t count,
				   const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	struct tscope_run *run = NULL;
	struct session session;
	enum tscope_status status = tsi_session_open(&session, paths, count, options, err);

	if (status == TSCOPE_OK) {
		const struct run_request request = { session.found, paths[0], count, NULL };

		status = tsi_run_open(&run, &session, &request, err);
	}
	tsi_session_deinit(&session);
	if (status != TSCOPE_OK) {
		tscope_run_free(run);
		tsi_arena_deinit(&session.found.arena);
		return status;
	}
	run->paths = session.found.arena;
	run->sources = session.sources;
	*ret = run;
	return TSCOPE_OK;
}

void tscope_run_free(struct tscope_run *run)
{
	if (!run)
		return;
	if (run->saved)
		tsi_saved_run_free(run);
	tscope_analysis_free(run->analysis);
	tsi_run_hang_deinit(&run->hang);
	tsi_run_world_deinit(&run->world, run->ranks.count);
	tsi_run_ranks_deinit(&run->ranks);
	tsi_steps_deinit(&run->slowest);
	for (size_t i = 0; run->owns_loaded && i < run->members.read_count; i++)
		tsi_loaded_free(run->members.loaded[i]);
	tsi_arena_deinit(&run->paths);
	tsi_arena_deinit(&run->arena);
	free(run);
}
