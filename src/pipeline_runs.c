/* SPDX-License-Identifier: MIT */
/*
 * Several runs in one place. Whether files are of one job nobody says; that they are not, they
 * say themselves where they contradict each other. Then each of the folders in which they lie,
 * below the one that they share, is a run, and so on within these.
 */
#include "pipeline_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "run/file_name.h"
#include "run/scalars.h"

enum { MAX_RUNS = 1024 }; /* also of the parts of one place, before they are read */

struct tscope_runs {
	struct tscope_run **items;
	size_t count, capacity;
	struct other *others; /* own their paths */
	size_t other_count, other_capacity;
};

/* What is asked for, at any depth. */
struct request {
	struct tscope_runs *runs;
	const struct tscope_run_options *options;
};

/* Folders and files, as they are given to tsi_run_open(). */
struct paths {
	char **items;
	size_t count, capacity;
};

/* ---- contradictions ---- */

static struct str folder_of(const char *path)
{
	return (struct str){ path, (size_t)(tsi_base_name(path) - path) };
}

/* Is neither in the folder of the other, or below it? */
static bool are_apart(const char *a, const char *b)
{
	return !tsi_str_has_prefix(tsi_str_of(a), folder_of(b)) &&
	       !tsi_str_has_prefix(tsi_str_of(b), folder_of(a));
}

/* Are both step records of one rank? */
static bool claim_the_same(const struct run_item *a, const struct run_item *b)
{
	return a->kind == RUN_ITEM_STEPS && b->kind == RUN_ITEM_STEPS && a->rank == b->rank;
}

static int64_t world_of(const struct tscope_run *run, const struct run_item *item)
{
	return run->loaded[item->file].steps.world_size;
}

/* Do metrics tell other values than further metrics or step records do? */
static enum tscope_status differ(bool *ret, const struct tscope_run *run,
				 const struct run_item *metrics, const struct run_item *other,
				 struct tscope_error *err)
{
	const struct metric_log *log = &run->loaded[metrics->file].metrics;

	*ret = false;
	if (metrics->kind != RUN_ITEM_METRICS || metrics->rank != other->rank)
		return TSCOPE_OK;
	if (other->kind == RUN_ITEM_METRICS)
		return tsi_metrics_contradict(ret, log, &run->loaded[other->file].metrics, err);
	if (other->kind == RUN_ITEM_STEPS)
		return tsi_metrics_contradict_steps(ret, log, &run->loaded[other->file].steps, err);
	return TSCOPE_OK;
}

/*
 * Compares each source of metrics with the items before it: those of a rank are neighbours, its
 * step records first. Of very many sources the nearest ones do.
 */
static enum tscope_status find_metrics(const struct tscope_run *run, struct run_conflict *conflict,
				       struct tscope_error *err)
{
	enum { COMPARED = 32 };
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 1; status == TSCOPE_OK && i < run->read_count; i++) {
		const struct run_item *item = &run->items[i];

		for (size_t back = 1; status == TSCOPE_OK && back <= COMPARED && back <= i;
		     back++) {
			const struct run_item *other = &run->items[i - back];
			bool is_conflict;

			if (!are_apart(other->path, item->path))
				continue;
			status = differ(&is_conflict, run, item, other, err);
			if (status != TSCOPE_OK || !is_conflict)
				continue;
			*conflict = (struct run_conflict){ other->path, item->path };
			return TSCOPE_OK;
		}
	}
	return status;
}

enum tscope_status tsi_run_find_conflict(const struct tscope_run *run,
					 struct run_conflict *conflict, struct tscope_error *err)
{
	const struct run_item *sized = NULL; /* the last one that says the size of the world */

	*conflict = (struct run_conflict){ 0 };
	if (!run->items)
		return TSCOPE_OK;
	for (size_t i = 0; i < run->read_count; i++) {
		const struct run_item *item = &run->items[i], *other = NULL;

		if (i > 0 && claim_the_same(item - 1, item))
			other = item - 1;
		else if (sized && world_of(run, item) >= 0 &&
			 world_of(run, item) != world_of(run, sized))
			other = sized;
		if (world_of(run, item) >= 0)
			sized = item;
		if (!other || !are_apart(other->path, item->path))
			continue;
		*conflict = (struct run_conflict){ other->path, item->path };
		return TSCOPE_OK;
	}
	return find_metrics(run, conflict, err);
}

enum tscope_status tsi_run_check_metrics(const struct tscope_run *run, struct tscope_error *err)
{
	struct run_conflict conflict = { 0 };
	enum tscope_status status = find_metrics(run, &conflict, err);

	if (status != TSCOPE_OK || !conflict.first)
		return status;
	return tsi_fail(err, TSCOPE_E_DAMAGED,
			"%.150s and %.150s tell different values of a metric at the same steps; "
			"name the files of one run only",
			conflict.first, conflict.second);
}

/* ---- what is of which run ---- */

static void paths_deinit(struct paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->items[i]);
	free(paths->items);
}

static enum tscope_status add_path(struct paths *paths, struct str path, struct tscope_error *err)
{
	if (tsi_array_reserve(&paths->items, &paths->capacity, paths->count + 1,
			      sizeof(*paths->items), err) != TSCOPE_OK ||
	    tsi_text_copy(&paths->items[paths->count], path, err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	paths->count++;
	return TSCOPE_OK;
}

/* Is path this folder, or in it? */
static bool is_within(struct str path, struct str folder)
{
	return tsi_str_has_prefix(path, folder) &&
	       (path.length == folder.length || folder.length == 0 ||
		path.data[folder.length] == '/' || folder.data[folder.length - 1] == '/');
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

static bool has_part(const struct paths *parts, struct str part)
{
	for (size_t i = parts->count; i-- > 0;) /* most are of the last one */
		if (tsi_str_equal(tsi_str_of(parts->items[i]), part))
			return true;
	return false;
}

static enum tscope_status add_other(struct tscope_runs *runs, const char *path,
				    const struct tscope_error *why, struct tscope_error *err)
{
	struct other *other;
	char *copy;

	if (tsi_array_reserve(&runs->others, &runs->other_capacity, runs->other_count + 1,
			      sizeof(*runs->others), err) != TSCOPE_OK ||
	    tsi_text_copy(&copy, tsi_str_of(path), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	other = &runs->others[runs->other_count++];
	*other = (struct other){ .shown = { .path = copy, .is_problem = true }, .error = *why };
	return TSCOPE_OK;
}

static enum tscope_status fail_limit(struct tscope_error *err)
{
	return tsi_fail(err, TSCOPE_E_LIMIT, "more than %d runs (limit: runs)", MAX_RUNS);
}

/* Parts in the order of the files; what was read and is in none of them is told. */
static enum tscope_status find_parts(struct tscope_runs *runs, struct paths *parts,
				     const struct tscope_run *run, struct str shared,
				     struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	struct tscope_error why;

	tsi_fail(&why, TSCOPE_E_DAMAGED,
		 "lies beside the folders of several runs, of which it may be any");
	for (size_t i = 0; status == TSCOPE_OK && i < run->files.count; i++) {
		const char *path = run->loaded[i].input.path;
		struct str part;

		if (!path)
			continue;
		part = part_of(path, shared);
		if (part.length == 0)
			status = add_other(runs, path, &why, err);
		else if (!has_part(parts, part))
			status = parts->count < MAX_RUNS ? add_path(parts, part, err)
							 : fail_limit(err);
	}
	return status;
}

/* What of the given paths is in the part, or the part where it is in one of these. */
static enum tscope_status paths_of_part(struct paths *paths, const char *part,
					const struct paths *given, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	bool has_whole = false;

	for (size_t i = 0; status == TSCOPE_OK && i < given->count; i++) {
		struct str path = tsi_path_trim(given->items[i]);

		if (is_within(path, tsi_str_of(part))) {
			status = add_path(paths, path, err);
		} else if (is_within(tsi_str_of(part), path) && !has_whole) {
			has_whole = true;
			status = add_path(paths, tsi_str_of(part), err);
		}
	}
	/* A path of "P" may hold what stands in P_rank0. */
	if (status == TSCOPE_OK && paths->count == 0)
		status = add_path(paths, tsi_str_of(part), err);
	return status;
}

/* ---- opening ---- */

static enum tscope_status open_all(const struct request *request, const struct paths *given,
				   struct tscope_error *err);

/* A part that cannot be opened keeps nobody from the others. */
static enum tscope_status open_part(const struct request *request, const char *part,
				    const struct paths *given, struct tscope_error *err)
{
	struct paths paths = { 0 };
	struct tscope_error why = { 0 };
	enum tscope_status status = paths_of_part(&paths, part, given, err);

	if (status == TSCOPE_OK) {
		status = open_all(request, &paths, &why);
		if (status == TSCOPE_E_NOMEM || status == TSCOPE_E_LIMIT) {
			if (err)
				*err = why;
		} else if (status != TSCOPE_OK) {
			status = add_other(request->runs, part, &why, err);
		}
	}
	paths_deinit(&paths);
	return status;
}

static enum tscope_status open_parts(const struct request *request, const struct tscope_run *run,
				     const struct run_conflict *conflict, const struct paths *given,
				     struct tscope_error *err)
{
	struct paths parts = { 0 };
	enum tscope_status status =
		find_parts(request->runs, &parts, run, shared_folder(conflict), err);

	for (size_t i = 0; status == TSCOPE_OK && i < parts.count; i++)
		status = open_part(request, parts.items[i], given, err);
	paths_deinit(&parts);
	return status;
}

static enum tscope_status take(struct tscope_runs *runs, struct tscope_run **run,
			       struct tscope_error *err)
{
	if (runs->count == MAX_RUNS)
		return fail_limit(err);
	if (tsi_array_reserve(&runs->items, &runs->capacity, runs->count + 1, sizeof(*runs->items),
			      err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	runs->items[runs->count++] = *run;
	*run = NULL;
	return TSCOPE_OK;
}

/* Opens the parts of a run that could not be opened as one; where there are none, that fails. */
static enum tscope_status settle_conflict(const struct request *request,
					  const struct tscope_run *run, const struct paths *given,
					  struct tscope_error *err)
{
	struct run_conflict conflict;
	enum tscope_status status = tsi_run_find_conflict(run, &conflict, NULL);

	if (status != TSCOPE_OK)
		return tsi_fail_nomem(err);
	if (!conflict.first)
		return TSCOPE_E_DAMAGED;
	return open_parts(request, run, &conflict, given, err);
}

static enum tscope_status open_all(const struct request *request, const struct paths *given,
				   struct tscope_error *err)
{
	struct tscope_error why = { 0 };
	struct tscope_run *run;
	enum tscope_status status = tsi_run_open(&run, (const char *const *)given->items,
						 given->count, request->options, &why);

	if (status == TSCOPE_OK)
		status = take(request->runs, &run, &why);
	else if (status == TSCOPE_E_DAMAGED && run)
		status = settle_conflict(request, run, given, &why);
	if (status != TSCOPE_OK && err)
		*err = why;
	tscope_run_free(run);
	return status;
}

enum tscope_status tscope_runs_open(struct tscope_runs **ret, const char *const *paths,
				    size_t count, const struct tscope_run_options *options,
				    struct tscope_error *err)
{
	struct request request = { .options = options };
	struct paths given = { 0 };
	enum tscope_status status = tsi_array_new(&request.runs, 1, sizeof(*request.runs), err);

	if (status != TSCOPE_OK)
		return status;
	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = add_path(&given, tsi_str_of(paths[i]), err);
	if (status == TSCOPE_OK)
		status = open_all(&request, &given, err);
	if (status == TSCOPE_OK && request.runs->count == 0) {
		const struct other *first = &request.runs->others[0];

		status = tsi_fail(err, first->error.status, "%.200s: %.200s", first->shown.path,
				  first->error.message);
	}
	paths_deinit(&given);
	if (status != TSCOPE_OK) {
		tscope_runs_free(request.runs);
		return status;
	}
	*ret = request.runs;
	return TSCOPE_OK;
}

void tscope_runs_free(struct tscope_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->count; i++)
		tscope_run_free(runs->items[i]);
	for (size_t i = 0; i < runs->other_count; i++)
		free((char *)runs->others[i].shown.path);
	free(runs->items);
	free(runs->others);
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

size_t tscope_runs_other_count(const struct tscope_runs *runs)
{
	return runs->other_count;
}

struct tscope_run_other tscope_runs_other(const struct tscope_runs *runs, size_t index)
{
	struct tscope_run_other shown = runs->others[index].shown;

	shown.reason = runs->others[index].error.message;
	return shown;
}
