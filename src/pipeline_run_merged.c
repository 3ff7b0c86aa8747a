/* SPDX-License-Identifier: MIT */
/*
 * Traces that Composer merged: the events of several ranks are in one file, and no figure of all
 * of them together means anything. Such a file is read once for each rank, but for ranks whose own
 * traces of that time were read, too: Composer leaves both in one folder.
 */
#include "pipeline_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/rank_text.h"

enum { MERGED_MAX_RANKS = 256 };

/* A rank of a merged file that is to be read by itself. */
struct part {
	size_t file; /* of the run: the merged one, then its own place */
	struct rank_filter only;
};

struct splitting {
	struct tscope_run *run;
	const struct tscope_run_options *options;
	struct merged_ranks *merged; /* by file; empty where it is of one rank */
	struct part *parts;
	size_t part_count, part_capacity;
};

static void splitting_deinit(struct splitting *splitting, size_t file_count)
{
	for (size_t i = 0; splitting->merged && i < file_count; i++)
		tsi_merged_ranks_deinit(&splitting->merged[i]);
	free(splitting->merged);
	free(splitting->parts);
}

static bool is_merged(const struct load_job *job)
{
	return job->file && job->status == TSCOPE_OK && job->loaded->merged.rank_count >= 2;
}

/* ---- which ranks to read ---- */

/* Was a trace of this rank read that is of the time of this file? */
static bool has_own_trace(const struct splitting *splitting, const struct load_job *jobs,
			  const struct loaded *whole, int64_t rank)
{
	for (size_t i = 0; i < splitting->run->files.count; i++) {
		const struct loaded *other = jobs[i].loaded;

		if (jobs[i].file && jobs[i].status == TSCOPE_OK && !is_merged(&jobs[i]) &&
		    splitting->merged[i].rank_count == 0 &&
		    other->input.kind == TSCOPE_INPUT_TRACE && other->input.rank == rank &&
		    other->start_ns < whole->end_ns && whole->start_ns < other->end_ns)
			return true;
	}
	return false;
}

static enum tscope_status add_part(struct splitting *splitting, size_t file, int64_t rank,
				   struct tscope_error *err)
{
	if (tsi_array_reserve(&splitting->parts, &splitting->part_capacity,
			      splitting->part_count + 1, sizeof(*splitting->parts),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	splitting->parts[splitting->part_count++] =
		(struct part){ file, { &splitting->merged[file], rank } };
	return TSCOPE_OK;
}

/* Nothing of it is left to read: it goes to the files that are in no figure. */
static void set_aside(struct load_job *job, const struct merged_ranks *merged)
{
	struct rank_text ranks = { .text = "" };

	for (size_t i = 0; i < merged->rank_count; i++)
		tsi_rank_text_add(&ranks, merged->ranks[i]);
	tsi_rank_text_end(&ranks);
	tsi_loaded_deinit(job->loaded);
	job->status =
		tsi_fail(&job->error, TSCOPE_E_UNSUPPORTED,
			 "merged from the traces of ranks %.100s, which were read", ranks.text);
}

/* Each part is a reading of the whole file. False: so it cannot be read, and the job says why. */
static bool can_be_read(struct load_job *job, const struct merged_ranks *merged)
{
	if (merged->rank_count > MERGED_MAX_RANKS)
		job->status = tsi_fail(&job->error, TSCOPE_E_LIMIT,
				       "merged from the traces of %zu ranks, more than %d; read "
				       "the ranks' own files",
				       merged->rank_count, MERGED_MAX_RANKS);
	else if (strcmp(job->file->path, "-") == 0)
		job->status = tsi_fail(&job->error, TSCOPE_E_UNSUPPORTED,
				       "merged from the traces of %zu ranks, for each of which it "
				       "has to be read; give a file",
				       merged->rank_count);
	return job->status == TSCOPE_OK;
}

static enum tscope_status plan_file(struct splitting *splitting, struct load_job *jobs, size_t file,
				    struct tscope_error *err)
{
	const struct merged_ranks *merged = &splitting->merged[file];
	size_t before = splitting->part_count;

	if (!can_be_read(&jobs[file], merged)) {
		tsi_loaded_deinit(jobs[file].loaded);
		return TSCOPE_OK;
	}
	for (size_t i = 0; i < merged->rank_count; i++)
		if (!has_own_trace(splitting, jobs, jobs[file].loaded, merged->ranks[i]) &&
		    add_part(splitting, file, merged->ranks[i], err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	if (splitting->part_count == before)
		set_aside(&jobs[file], merged);
	return TSCOPE_OK;
}

static enum tscope_status plan(struct splitting *splitting, struct load_job *jobs, size_t count,
			       struct tscope_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_merged(&jobs[i]))
			continue;
		splitting->merged[i] = jobs[i].loaded->merged;
		jobs[i].loaded->merged = (struct merged_ranks){ 0 };
		if (plan_file(splitting, jobs, i, err) != TSCOPE_OK)
			return TSCOPE_E_NOMEM;
	}
	return TSCOPE_OK;
}

/* ---- a place for each ---- */

/* Moves what was loaded, and the jobs, to arrays that have room for more. */
static enum tscope_status make_room(struct tscope_run *run, struct load_job **jobs, size_t more,
				    struct tscope_error *err)
{
	size_t count = run->files.count;
	struct load_job *new_jobs = NULL;
	struct loaded *loaded = NULL;

	if (tsi_array_new(&new_jobs, count + more, sizeof(*new_jobs), err) != TSCOPE_OK ||
	    tsi_array_new(&loaded, count + more, sizeof(*loaded), err) != TSCOPE_OK) {
		free(new_jobs);
		return TSCOPE_E_NOMEM;
	}
	memcpy(new_jobs, *jobs, count * sizeof(*new_jobs));
	for (size_t i = 0; i < count; i++) {
		tsi_loaded_move(&loaded[i], &run->loaded[i]);
		new_jobs[i].loaded = &loaded[i];
	}
	for (size_t i = count; i < count + more; i++)
		new_jobs[i].loaded = &loaded[i];
	free(*jobs);
	free(run->loaded);
	*jobs = new_jobs;
	run->loaded = loaded;
	return TSCOPE_OK;
}

/* One more file, of the part. */
static enum tscope_status add_file(struct run_files *files, struct part *part,
				   struct tscope_error *err)
{
	struct run_file copy = files->items[part->file];

	copy.path = strdup(copy.path);
	if (!copy.path)
		return tsi_fail_nomem(err);
	copy.run_json = NULL;
	copy.reason = NULL;
	if (tsi_array_reserve(&files->items, &files->capacity, files->count + 1,
			      sizeof(*files->items), err) != TSCOPE_OK) {
		free(copy.path);
		return TSCOPE_E_NOMEM;
	}
	part->file = files->count;
	files->items[files->count++] = copy;
	return TSCOPE_OK;
}

/* The first part of a file takes its place, the others stand behind all files. */
static enum tscope_status place_parts(struct splitting *splitting, struct load_job **jobs,
				      struct tscope_error *err)
{
	struct run_files *files = &splitting->run->files;
	enum tscope_status status = make_room(splitting->run, jobs, splitting->part_count, err);
	size_t last = SIZE_MAX;

	for (size_t i = 0; status == TSCOPE_OK && i < splitting->part_count; i++) {
		struct part *part = &splitting->parts[i];
		size_t file = part->file;

		if (file == last)
			status = add_file(files, part, err);
		last = file;
	}
	for (size_t i = 0; status == TSCOPE_OK && i < files->count; i++)
		if ((*jobs)[i].file)
			(*jobs)[i].file = &files->items[i];
	return status;
}

/* ---- reading ---- */

static enum tscope_status load_parts(const struct splitting *splitting, struct load_job *jobs,
				     struct tscope_error *err)
{
	struct load_job *part_jobs;
	enum tscope_status status =
		tsi_array_new(&part_jobs, splitting->part_count, sizeof(*part_jobs), err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; i < splitting->part_count; i++) {
		const struct part *part = &splitting->parts[i];

		tsi_loaded_deinit(jobs[part->file].loaded);
		part_jobs[i] = (struct load_job){
			.file = &splitting->run->files.items[part->file],
			.loaded = jobs[part->file].loaded,
			.keeps_log = true,
			.only = &part->only,
		};
	}
	status = tsi_load_files(part_jobs, splitting->part_count, splitting->options, err);
	for (size_t i = 0; i < splitting->part_count; i++) {
		struct load_job *job = &jobs[splitting->parts[i].file];

		*job = part_jobs[i];
		job->only = NULL; /* goes with the splitting */
	}
	free(part_jobs);
	return status;
}

/* Of a second recording Composer's merger gives all ranks of the first to the lowest one. */
static enum tscope_status note_mixed(const struct splitting *splitting, size_t count,
				     struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		if (splitting->merged[i].is_mixed)
			status = tsi_run_add_note(
				splitting->run, err,
				"%s: the merger mixed ranks of several recordings; spans of "
				"Composer were told apart, events of torch were not: read the "
				"ranks' own files",
				splitting->run->files.items[i].path);
	return status;
}

enum tscope_status tsi_run_split_merged(struct tscope_run *run, struct load_job **jobs,
					const struct tscope_run_options *options,
					struct tscope_error *err)
{
	struct splitting splitting = { .run = run, .options = options };
	size_t count = run->files.count, merged_count = 0;

	for (size_t i = 0; i < count; i++)
		merged_count += is_merged(&(*jobs)[i]);
	if (merged_count == 0)
		return TSCOPE_OK;
	enum tscope_status status =
		tsi_array_new(&splitting.merged, count, sizeof(*splitting.merged), err);
	if (status == TSCOPE_OK)
		status = plan(&splitting, *jobs, count, err);
	if (status == TSCOPE_OK && splitting.part_count > 0)
		status = place_parts(&splitting, jobs, err);
	if (status == TSCOPE_OK && splitting.part_count > 0)
		status = load_parts(&splitting, *jobs, err);
	if (status == TSCOPE_OK)
		status = note_mixed(&splitting, count, err);
	splitting_deinit(&splitting, count);
	return status;
}
