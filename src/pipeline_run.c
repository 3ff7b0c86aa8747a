/* SPDX-License-Identifier: MIT */
/*
 * The path of a run's data, end to end:
 *
 *	find     which files there are                        (src/run/find.c)
 *	load     to steps, facts, or both                     (src/pipeline_load.c)
 *	group    which rank and which window each file is     (src/run/group.c)
 *	join     one series of steps for each rank            (src/pipeline_run_join.c),
 *	         its metrics                                  (src/pipeline_run_metrics.c),
 *	         and what is known of its memory              (src/pipeline_run_memory.c)
 *	         and what its traces say together with those of others (src/pipeline_run_world.c)
 *	analyze  facts of each rank, then of all together     (src/analyze/)
 *
 * What cannot be read is kept as a problem of the run, and does not keep the
 * rest from being analysed.
 */
#include "pipeline_run.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analysis.h"
#include "analyze/shared/anchor.h"
#include "base/array.h"
#include "base/error.h"

enum tscope_status tsi_run_add_note(struct tscope_run *run, struct tscope_error *err,
				    const char *format, ...)
{
	va_list arguments;

	if (tsi_array_reserve(&run->notes, &run->note_capacity, run->note_count + 1,
			      sizeof(*run->notes), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	va_start(arguments, format);
	vsnprintf(run->notes[run->note_count].text, sizeof(run->notes->text), format, arguments);
	va_end(arguments);
	tsi_str_drop_partial(run->notes[run->note_count].text);
	run->note_count++;
	return TSCOPE_OK;
}

/* ---- load ---- */

static void add_other(struct tscope_run *run, const struct run_file *file, bool is_problem,
		      const struct tscope_error *error)
{
	struct other *other = &run->others[run->other_count++];

	other->error = *error;
	other->shown = (struct tscope_run_other){
		.path = file->path,
		.reason = other->error.message,
		.is_problem = is_problem || file->is_named,
		.is_named = file->is_named,
	};
}

/* A file of a folder that turns out to be something else, or to tell nothing, is no loss. */
static bool is_foreign(const struct run_file *file, enum tscope_status status)
{
	return status == TSCOPE_E_FORMAT || status == TSCOPE_E_UNSUPPORTED ||
	       (status == TSCOPE_E_EMPTY &&
		(file->kind == RUN_FILE_MEMORY || file->kind == RUN_FILE_METRICS));
}

static bool is_candidate(const struct run_file *file)
{
	return file->kind == RUN_FILE_TRACE || file->kind == RUN_FILE_STEPS ||
	       file->kind == RUN_FILE_MEMORY || file->kind == RUN_FILE_METRICS;
}

/* What became of a file. Fails where that was no fault of the file. */
static enum tscope_status settle(struct tscope_run *run, const struct run_file *file,
				 struct load_job *job, struct tscope_error *err)
{
	if (!job->file) {
		tsi_fail(&job->error, TSCOPE_E_UNSUPPORTED, "%s", file->reason);
		add_other(run, file, file->kind == RUN_FILE_REFUSED, &job->error);
		return TSCOPE_OK;
	}
	if (job->status == TSCOPE_OK) {
		run->read_count++;
		return TSCOPE_OK;
	}
	tsi_loaded_deinit(job->loaded);
	if (job->status == TSCOPE_E_NOMEM || job->status == TSCOPE_E_INTERNAL) {
		if (err)
			*err = job->error;
		return job->status;
	}
	add_other(run, file, !is_foreign(file, job->status), &job->error);
	return TSCOPE_OK;
}

/* Nothing could be read: why. */
static enum tscope_status fail_empty(const struct tscope_run *run, const char *const *paths,
				     size_t path_count, struct tscope_error *err)
{
	for (size_t i = 0; i < run->other_count; i++) {
		if (!run->others[i].shown.is_problem)
			continue;
		if (path_count == 1 && run->others[i].shown.is_named) {
			if (err)
				*err = run->others[i].error;
			tsi_fail_within(err, "%s", paths[0]);
			return run->others[i].error.status;
		}
		return tsi_fail(err, TSCOPE_E_EMPTY, "nothing could be read; %.200s: %.200s",
				run->others[i].shown.path, run->others[i].shown.reason);
	}
	char found[288] = "no file";

	if (run->other_count == 1)
		snprintf(found, sizeof(found), "1 other file, %.120s: %.120s",
			 run->others[0].shown.path, run->others[0].shown.reason);
	else if (run->other_count > 1)
		snprintf(found, sizeof(found), "%zu other files", run->other_count);
	tsi_str_drop_partial(found);
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"%s%s holds nothing to analyse: looked for traces (.json, .gz, .zst), "
			"step records (steps.jsonl), metrics (metrics.csv, events.out.tfevents) "
			"and files about memory (.pickle, .bin) and found %s",
			paths[0], path_count == 1 ? "" : " and the rest", found);
}

static bool has_several_traces(const struct run_files *files)
{
	size_t count = 0;

	for (size_t i = 0; i < files->count && count < 2; i++)
		count += files->items[i].kind == RUN_FILE_TRACE;
	return count >= 2;
}

static enum tscope_status load_all(struct tscope_run *run, const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	size_t count = run->files.count;
	struct load_job *jobs = NULL;
	enum tscope_status status = tsi_array_new(&run->loaded, count, sizeof(*run->loaded), err);

	if (count == 0)
		return status;
	if (status == TSCOPE_OK)
		status = tsi_array_new(&jobs, count, sizeof(*jobs), err);
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		jobs[i] = (struct load_job){
			.file = is_candidate(&run->files.items[i]) ? &run->files.items[i] : NULL,
			.loaded = &run->loaded[i],
			.keeps_log = has_several_traces(&run->files),
		};
	if (status == TSCOPE_OK)
		status = tsi_load_files(jobs, count, options, err);
	if (status == TSCOPE_OK)
		status = tsi_run_split_merged(run, &jobs, options, err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&run->others, run->files.count, sizeof(*run->others), err);
	for (size_t i = 0; status == TSCOPE_OK && i < run->files.count; i++)
		status = settle(run, &run->files.items[i], &jobs[i], err);
	free(jobs);
	return status;
}

/* ---- group ---- */

static void add_stray(struct tscope_run *run, const struct loaded *loaded)
{
	struct run_file file = { .path = (char *)loaded->input.path };
	struct tscope_error error = { 0 };

	tsi_fail(&error, TSCOPE_E_DAMAGED,
		 "does not say its rank as the others do; put the rank into its name (rank3.json)");
	add_other(run, &file, true, &error);
}

static const enum run_item_kind item_kinds[] = {
	[TSCOPE_INPUT_TRACE] = RUN_ITEM_TRACE,
	[TSCOPE_INPUT_STEPS] = RUN_ITEM_STEPS,
	[TSCOPE_INPUT_MEMORY] = RUN_ITEM_MEMORY,
	[TSCOPE_INPUT_METRICS] = RUN_ITEM_METRICS,
};

static enum tscope_status group(struct tscope_run *run, struct tscope_error *err)
{
	enum group_note note;
	size_t count = 0;

	if (tsi_array_new(&run->items, run->read_count, sizeof(*run->items), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	for (size_t i = 0; i < run->files.count; i++) {
		const struct loaded *loaded = &run->loaded[i];

		if (!loaded->input.path)
			continue;
		run->items[count++] = (struct run_item){
			.file = i,
			.path = loaded->input.path,
			.kind = item_kinds[loaded->input.kind],
			.rank = loaded->input.rank,
			.start_ns = loaded->start_ns,
			.end_ns = loaded->end_ns,
			.depth = tsi_depth_of(loaded),
		};
	}
	enum tscope_status status = tsi_group_items(run->items, run->read_count, &note, err);
	for (size_t i = 0; status == TSCOPE_OK && i < run->read_count; i++) {
		struct loaded *loaded = &run->loaded[run->items[i].file];

		loaded->input.rank = run->items[i].rank;
		loaded->input.window = run->items[i].window;
		if (run->items[i].is_stray)
			add_stray(run, loaded);
		else
			run->item_count++;
		run->step_item_count += !run->items[i].is_stray && !run->items[i].is_apart &&
					run->items[i].kind != RUN_ITEM_MEMORY;
	}
	if (status == TSCOPE_OK && note == GROUP_NUMBERED)
		status = tsi_run_add_note(
			run, err,
			"no file says its rank: processes were numbered in the order of "
			"their names");
	return status;
}

/* Files of one job agree on how many ranks it has. */
static enum tscope_status check_worlds(const struct tscope_run *run, struct tscope_error *err)
{
	const struct loaded *first = NULL;

	for (size_t i = 0; i < run->item_count; i++) {
		const struct loaded *loaded = &run->loaded[run->items[i].file];

		if (loaded->steps.world_size < 0)
			continue;
		if (!first)
			first = loaded;
		if (loaded->steps.world_size != first->steps.world_size)
			return tsi_fail(err, TSCOPE_E_DAMAGED,
					"%.150s says that there are %" PRId64
					" ranks, %.150s %" PRId64
					"; name the files of one run only",
					first->input.path, first->steps.world_size,
					loaded->input.path, loaded->steps.world_size);
	}
	return TSCOPE_OK;
}

/* ---- analyze ---- */

static enum tscope_status analyze_ranks(struct tscope_run *run,
					const struct tscope_analysis_options *options,
					struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < run->rank_count; i++) {
		struct run_rank *rank = &run->ranks[i];
		struct analysis_scope scope = {
			.steps = &run->series[i],
			.rank_memory = rank->memory.by_kind,
			.options = options,
		};

		status = tsi_analyze_level(&rank->analysis, LEVEL_RANK, &scope,
					   rank->trace_analysis, err);
		if (status == TSCOPE_OK) {
			tsi_run_memory_put(&rank->memory, rank->analysis);
			tsi_run_put_beside(rank);
		}
	}
	return status;
}

/* Of one rank the steps are its own; of several the slowest rank's, step by step. */
static enum tscope_status analyze_run(struct tscope_run *run,
				      const struct tscope_analysis_options *options,
				      struct tscope_error *err)
{
	struct analysis_scope scope = {
		.steps = run->rank_count == 1 ? &run->series[0] : &run->slowest,
		.ranks = run->series,
		.rank_count = run->rank_count,
		.world = run->world,
		.replay_graph = run->replay_graph,
		.rank_memory = run->ranks[0].memory.by_kind,
		.options = options,
	};
	enum tscope_status status = tsi_steps_init(&run->slowest, err);

	if (status == TSCOPE_OK && run->rank_count > 1)
		status = tsi_steps_slowest(&run->slowest, run->series, run->rank_count, err);
	if (status == TSCOPE_OK && run->rank_count > 1 && run->slowest.count == 0 &&
	    tsi_count_timed(&run->series[0]) > 0)
		status = tsi_run_add_note(
			run, err, "the ranks have no step in common: nothing compares them");
	if (status == TSCOPE_OK)
		status = tsi_analyze_level(&run->analysis, LEVEL_RUN, &scope,
					   run->ranks[0].analysis, err);
	if (status == TSCOPE_OK)
		tsi_run_memory_put(&run->memory, run->analysis);
	return status;
}

/* ---- the whole ---- */

/*
 * What is analysed and exported: a model's FLOPs are shared by all ranks, of which the
 * files may not say how many there are.
 */
static struct tscope_analysis_options settle_anchors(struct tscope_run *run,
						     const struct tscope_run_options *options)
{
	struct tscope_analysis_options analysis = options->analysis;
	const struct step_series *first = &run->series[0];

	if (analysis.model.device_count == 0 && first->world_size < 0)
		analysis.model.device_count =
			(unsigned)run->rank_count * tsi_counted_devices(first);
	for (size_t i = 0; i < run->rank_count; i++)
		tsi_keep_anchor(&run->series[i], &analysis);
	return analysis;
}

static enum tscope_status open_run(struct tscope_run *run, const char *const *paths, size_t count,
				   const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	struct tscope_analysis_options analysis = options->analysis;
	enum tscope_status status = tsi_find_files(&run->files, paths, count, err);

	if (status == TSCOPE_OK)
		status = load_all(run, options, err);
	if (status == TSCOPE_OK && run->read_count == 0)
		return fail_empty(run, paths, count, err);
	if (status == TSCOPE_OK)
		status = group(run, err);
	if (status == TSCOPE_OK)
		status = check_worlds(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_prepare_metrics(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_check_metrics(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_count_steps(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_join(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_settle_metrics(run, options, err);
	if (status == TSCOPE_OK)
		analysis = settle_anchors(run, options);
	if (status == TSCOPE_OK)
		status = tsi_run_note_no_step(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_note_files(run, err);
	if (status == TSCOPE_OK)
		status = tsi_run_join_world(run, err);
	if (status == TSCOPE_OK)
		status = analyze_ranks(run, &analysis, err);
	if (status == TSCOPE_OK)
		status = analyze_run(run, &analysis, err);
	return status;
}

enum tscope_status tsi_run_open(struct tscope_run **ret, const char *const *paths, size_t count,
				const struct tscope_run_options *options, struct tscope_error *err)
{
	static const struct tscope_run_options defaults = { 0 };

	*ret = NULL;
	if (tsi_array_new(ret, 1, sizeof(**ret), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	return open_run(*ret, paths, count, options ? options : &defaults, err);
}

enum tscope_status tscope_run_open(struct tscope_run **ret, const char *const *paths, size_t count,
				   const struct tscope_run_options *options,
				   struct tscope_error *err)
{
	struct tscope_run *run;
	enum tscope_status status = tsi_run_open(&run, paths, count, options, err);

	if (status != TSCOPE_OK) {
		tscope_run_free(run);
		return status;
	}
	*ret = run;
	return TSCOPE_OK;
}

void tscope_run_free(struct tscope_run *run)
{
	if (!run)
		return;
	tscope_analysis_free(run->analysis);
	tsi_replay_graph_free(run->replay_graph);
	tsi_world_free(run->world);
	for (size_t i = 0; run->logs && i < run->rank_count; i++)
		tsi_rank_log_deinit(&run->logs[i]);
	for (size_t i = 0; i < run->rank_count; i++) {
		tscope_analysis_free(run->ranks[i].analysis);
		tsi_steps_deinit(&run->series[i]);
	}
	for (size_t i = 0; run->loaded && i < run->files.count; i++)
		tsi_loaded_deinit(&run->loaded[i]);
	tsi_steps_deinit(&run->slowest);
	tsi_run_files_deinit(&run->files);
	free(run->loaded);
	free(run->items);
	free(run->others);
	free(run->series);
	free(run->ranks);
	free(run->logs);
	free(run->notes);
	free(run);
}
