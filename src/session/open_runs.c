/* SPDX-License-Identifier: MIT */
/*
 * Several runs in one place. Where files contradict each other (conflict.c) each of the folders in
 * which they lie, below the one that they share, is a run, and so on within these. Traces that
 * cannot be of one job (separate.c) are runs wherever they lie.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "session/open_saved.h"
#include "session/run.h"

enum { MAX_RUNS = 1024 }; /* also of the parts of one place, before they are runs */

struct tscope_runs {
	struct arena paths; /* what was found */
	struct run_paths sources;
	struct arena arena;
	struct tscope_run **items;
	size_t count, capacity;
	struct run_other *others;
	size_t other_count, other_capacity;
};

/* The state shared by all depths of the recursion. */
struct opening {
	struct tscope_runs *runs;
	struct session session;
};

/* A folder, or traces that belong together, opened as a run. */
struct part {
	struct str folder; /* a piece of a path in it, or the path of its first trace */
	const char *apart; /* of traces in the folders of others: why */
	struct run_files files;
};

struct parts {
	struct part *items;
	size_t count, capacity;
	size_t last; /* the one that was found last: neighbours are mostly of one part */
	const size_t *part_by_file; /* index for each file id; NULL: folders show it */
};

/* ---- what is of which run ---- */

/* Is path this folder, or in it? */
static bool is_within(const char *path, struct str folder)
{
	char next = tsi_str_has_prefix(tsi_str_of(path), folder) ? path[folder.length] : 'x';

	return next == '/' || next == '\0';
}

/* The folder that both paths are in, with its slash; empty: they share none. */
static struct str shared_folder(const struct run_conflict *conflict)
{
	size_t same = 0, end = 0;

	while (conflict->first[same] && conflict->first[same] == conflict->second[same])
		if (conflict->first[same++] == '/')
			end = same;
	return (struct str){ conflict->first, end };
}

/*
 * The part that a file belongs to: the folder in which its path parts from the shared one. It
 * holds one of two files that contradict each other at most. Empty: the file lies beside the parts.
 */
static struct str part_of(const char *path, struct str shared)
{
	size_t same = 0, begin = 0;

	while (same < shared.length && path[same] == shared.data[same])
		if (path[same++] == '/')
			begin = same;
	const char *slash = strchr(path + begin, '/');
	return (struct str){ path, slash ? (size_t)(slash - path) : 0 };
}

/* The part that a path is in, or NULL. */
static struct part *find_part(struct parts *parts, const char *path)
{
	for (size_t i = 0; i < parts->count; i++) {
		size_t index = (parts->last + i) % parts->count;

		if (is_within(path, parts->items[index].folder)) {
			parts->last = index;
			return &parts->items[index];
		}
	}
	return NULL;
}

static void add_other(struct tscope_runs *runs, const char *path, const struct tscope_error *why)
{
	struct run_other *other = tsi_arena_push(&runs->arena, &runs->others, &runs->other_count,
						 &runs->other_capacity, sizeof(*other));
	struct tscope_error *copy = tsi_arena_new(&runs->arena, 1, sizeof(*copy));

	if (!other || !copy)
		return;
	*copy = *why;
	other->error = copy;
	other->shown = (struct tscope_run_other){
		.path = path,
		.reason = copy->message,
		.is_problem = true,
	};
}

static enum tscope_status fail_limit(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_LIMIT, "more than %d runs (limit: runs)", MAX_RUNS);
}

/* Parts in the order of the files; what was read and is in none of them is reported. */
static enum tscope_status find_parts(struct tscope_runs *runs, struct parts *parts,
				     const struct run_members *members, struct str shared,
				     struct tscope_error *err)
{
	struct tscope_error why;

	tsi_fail(&why, TSCOPE_E_DAMAGED,
		 "may belong to any of several runs: it lies beside their folders");
	for (size_t i = 0; i < members->read_count; i++) {
		const char *path = members->loaded[i]->input.path;
		struct str folder = part_of(path, shared);
		struct part *part;

		if (folder.length == 0) {
			add_other(runs, path, &why);
			continue;
		}
		if (find_part(parts, path))
			continue;
		if (parts->count == MAX_RUNS)
			return fail_limit(err);
		part = tsi_arena_push(&runs->arena, &parts->items, &parts->count, &parts->capacity,
				      sizeof(*part));
		if (part)
			part->folder = folder;
	}
	return tsi_arena_status(&runs->arena, err);
}

static struct part *part_of_file(struct parts *parts, const struct run_file *file)
{
	if (!parts->part_by_file)
		return find_part(parts, file->path);
	size_t index = parts->part_by_file[file->id];
	return index == SIZE_MAX ? NULL : &parts->items[index];
}

/* Gives each part its files. */
static enum tscope_status divide_files(struct parts *parts, const struct run_files *files,
				       struct arena *arena, struct tscope_error *err)
{
	struct part *part;

	for (size_t i = 0; i < files->count; i++)
		if ((part = part_of_file(parts, &files->items[i])))
			part->files.capacity++;
	for (size_t i = 0; i < parts->count; i++)
		parts->items[i].files.items =
			tsi_arena_new(arena, parts->items[i].files.capacity, sizeof(*files->items));
	enum tscope_status status = tsi_arena_status(arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < files->count; i++)
		if ((part = part_of_file(parts, &files->items[i])))
			part->files.items[part->files.count++] = files->items[i];
	return status;
}

/* ---- opening ---- */

static enum tscope_status open_files(struct opening *opening, const struct run_request *request,
				     struct tscope_error *err);

/* A part that cannot be opened keeps nobody from the others. */
static enum tscope_status open_part(struct opening *opening, const struct part *part,
				    struct tscope_error *err)
{
	struct tscope_runs *runs = opening->runs;
	const char *path = tsi_arena_copy(&runs->arena, part->folder);
	const struct run_request request = { part->files, path, 1, part->apart };
	struct tscope_error why = { 0 };
	enum tscope_status status = open_files(opening, &request, &why);

	if (status != TSCOPE_E_NOMEM && status != TSCOPE_E_LIMIT) {
		if (status != TSCOPE_OK)
			add_other(runs, path, &why);
		return tsi_arena_status(&runs->arena, err);
	}
	if (err)
		*err = why;
	return status;
}

/* Which part each file found is of, by its id: what was not read goes with the first. */
static size_t *parts_of_files(struct tscope_runs *runs, const struct run_members *members,
			      const struct run_partition *partition, const struct session *session)
{
	size_t *part_of = tsi_arena_new(&runs->arena, session->found.count, sizeof(*part_of));
	struct tscope_error why;

	tsi_fail(&why, TSCOPE_E_DAMAGED,
		 "may belong to any of several runs: it lies beside their traces");
	for (size_t i = 0; part_of && i < members->read_count; i++) {
		uint32_t run = partition->run_of[i];

		part_of[members->loads[i]->file.id] = run == RUN_OF_NONE ? SIZE_MAX : run;
		if (run == RUN_OF_NONE)
			add_other(runs, members->loaded[i]->input.path, &why);
	}
	return part_of;
}

/* Parts of traces that cannot be of one job; none where they can, or are taken for one run. */
static enum tscope_status separate_files(struct opening *opening, struct parts *parts,
					 const struct tscope_run *run,
					 const struct run_files *files, struct tscope_error *err)
{
	struct arena *arena = &opening->session.arena;
	struct run_partition partition;

	if (opening->session.options->one_run)
		return TSCOPE_OK;
	tsi_separate(&partition, &run->members, arena);
	if (arena->has_failed || partition.count < 2)
		return tsi_arena_status(arena, err);
	if (partition.count > MAX_RUNS)
		return fail_limit(err);
	parts->part_by_file =
		parts_of_files(opening->runs, &run->members, &partition, &opening->session);
	parts->items = tsi_arena_new(arena, partition.count, sizeof(*parts->items));
	if (!parts->part_by_file || !parts->items)
		return tsi_fail_nomem(err);
	parts->count = partition.count;
	enum tscope_status status = divide_files(parts, files, arena, err);
	for (size_t i = 0; status == TSCOPE_OK && i < parts->count; i++) {
		struct part *part = &parts->items[i];

		part->apart = i > 0 ? partition.reasons[i] : "";
		if (part->files.count > 0)
			part->folder = tsi_str_of(part->files.items[0].path);
	}
	return status;
}

/* Opens the parts of what is no run; where there are none, that fails. */
static enum tscope_status open_parts(struct opening *opening, const struct tscope_run *run,
				     const struct run_files *files, struct tscope_error *err)
{
	struct arena *arena = &opening->session.arena;
	struct run_conflict conflict = tsi_find_conflict(&run->members, arena);
	struct parts parts = { 0 };
	enum tscope_status status = tsi_arena_status(arena, err);

	if (status == TSCOPE_OK && conflict.first)
		status = find_parts(opening->runs, &parts, &run->members, shared_folder(&conflict),
				    err);
	if (status == TSCOPE_OK && conflict.first)
		status = divide_files(&parts, files, arena, err);
	else if (status == TSCOPE_OK)
		status = separate_files(opening, &parts, run, files, err);
	if (status == TSCOPE_OK && parts.count == 0)
		return TSCOPE_E_DAMAGED;
	for (size_t i = 0; status == TSCOPE_OK && i < parts.count; i++)
		status = open_part(opening, &parts.items[i], err);
	return status;
}

static enum tscope_status take(struct tscope_runs *runs, struct tscope_run **run,
			       struct tscope_error *err)
{
	struct tscope_run **place;

	if (runs->count == MAX_RUNS)
		return fail_limit(err);
	place = tsi_arena_push(&runs->arena, &runs->items, &runs->count, &runs->capacity,
			       sizeof(struct tscope_run *));
	if (!place)
		return tsi_fail_nomem(err);
	*place = *run;
	*run = NULL;
	return TSCOPE_OK;
}

static enum tscope_status open_files(struct opening *opening, const struct run_request *request,
				     struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	struct tscope_run *run;
	enum tscope_status status = tsi_run_open(&run, &opening->session, request, &why);

	if (status == TSCOPE_OK)
		status = take(opening->runs, &run, &why);
	else if (status == TSCOPE_E_DAMAGED && run)
		status = open_parts(opening, run, &request->files, &why);
	if (status != TSCOPE_OK && err)
		*err = why;
	tscope_run_free(run);
	return status;
}

static bool are_reports(const struct run_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].kind != RUN_FILE_REPORT)
			return false;
	return files->count > 0;
}

/* Saved reports are runs one by one: what they were made of is not there to be compared. */
static enum tscope_status open_reports(struct opening *opening, struct tscope_error *err)
{
	const struct session *session = &opening->session;
	const struct run_files *files = &session->found;
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < files->count; i++) {
		struct tscope_run *run = NULL;

		status = tsi_saved_run(&run, files->items[i].path, &session->options->trace, err);
		if (status == TSCOPE_OK)
			status = take(opening->runs, &run, err);
		tscope_run_free(run);
	}
	return status;
}

/* Finds the files and opens the runs that they are of. */
static enum tscope_status open_paths(struct tscope_runs *runs, const char *const *paths,
				     size_t count, const struct tscope_run_options *options,
				     struct tscope_error *err)
{
	struct opening opening = { .runs = runs };
	struct session *session = &opening.session;
	enum tscope_status status = tsi_session_open(session, paths, count, options, err);

	if (status == TSCOPE_OK) {
		const struct run_request request = { session->found, paths[0], count, NULL };

		status = are_reports(&session->found) ? open_reports(&opening, err)
						      : open_files(&opening, &request, err);
	}
	tsi_session_deinit(session);
	runs->paths = session->found.arena;
	runs->sources = session->sources;
	if (status != TSCOPE_OK || runs->count > 0)
		return status;
	const struct run_other *first = &runs->others[0];
	return tsi_fail(err, first->error->status, "%.200s: %.200s", first->shown.path,
			first->shown.reason);
}

enum tscope_status tscope_runs_open(struct tscope_runs **ret, const char *const *paths,
				    size_t count, const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	struct tscope_runs *runs;
	enum tscope_status status = tsi_array_new(&runs, 1, sizeof(*runs), err);

	if (status != TSCOPE_OK)
		return status;
	status = open_paths(runs, paths, count, options, err);
	if (status != TSCOPE_OK) {
		tscope_runs_free(runs);
		return status;
	}
	*ret = runs;
	return TSCOPE_OK;
}

void tscope_runs_free(struct tscope_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->count; i++)
		tscope_run_free(runs->items[i]);
	tsi_arena_deinit(&runs->paths);
	tsi_arena_deinit(&runs->arena);
	free(runs);
}

/* ---- what there is ---- */

size_t tscope_runs_count(const struct tscope_runs *runs)
{
	return runs->count;
}

const struct tscope_run *tscope_runs_get(const struct tscope_runs *runs, size_t index)
{
	return runs->items[index];
}

size_t tscope_runs_source_count(const struct tscope_runs *runs)
{
	return runs->sources.count;
}

const char *tscope_runs_source(const struct tscope_runs *runs, size_t index)
{
	return runs->sources.items[index];
}

size_t tscope_runs_other_count(const struct tscope_runs *runs)
{
	return runs->other_count;
}

struct tscope_run_other tscope_runs_other(const struct tscope_runs *runs, size_t index)
{
	return runs->others[index].shown;
}
