/* SPDX-License-Identifier: MIT */
/*
 * The path of flight-recorder dumps: files found as those of a run, each read by any free thread
 * to plain data and from that to a dump (src/hang/dump.c); the plain data goes at once. Then the
 * dumps of all ranks are joined and judged (src/hang/), and the verdict becomes facts.
 */
#include <tscope/hang.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/analysis.h"
#include "base/array.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/queue.h"
#include "decode/plain/plain_reader.h"
#include "hang/hang_file.h"
#include "input/members.h"
#include "run/file_name.h"
#include "run/find.h"
#include "session/open_trace.h"
#include "session/run.h"

enum {
	STALE_NS_PER_S = 1000000000,
	STALE_S = 24 * 3600, /* of another job */
};

/* A file on its way to a dump. */
struct dump_file {
	const char *path;
	const void *data; /* NULL: in the file */
	size_t length;
	bool is_named;   /* given itself: it has to be a dump */
	bool is_refused; /* of a folder, and not looked at: it may be anything */
	bool is_foreign; /* no dump */
	int64_t written_ns;
	const struct tscope_trace_options *options;
	struct dump dump;
	struct source source;
	const char *form;
	enum tscope_status status;
	struct tscope_error error;
};

struct dump_files {
	struct arena arena;
	struct dump_file *items;
	size_t count, capacity;
};

/* ---- finding ------------------------------------------------------------------------------- */

static void add_file(struct dump_files *files, const char *path, bool is_named,
		     const struct tscope_members *members)
{
	struct dump_file *file = tsi_arena_push(&files->arena, &files->items, &files->count,
						&files->capacity, sizeof(*file));
	struct stat found;

	if (!file)
		return;
	file->path = tsi_arena_copy(&files->arena, tsi_str_of(path));
	file->is_named = is_named;
	if (strcmp(path, "-") != 0 && tsi_members_stat(members, path, &found) == 0 &&
	    found.st_mtim.tv_sec > 0 && found.st_mtim.tv_sec < INT64_MAX / 2000000000)
		file->written_ns =
			(int64_t)found.st_mtim.tv_sec * STALE_NS_PER_S + found.st_mtim.tv_nsec;
}

/* ---- reading ------------------------------------------------------------------------------- */

static enum tscope_status read_plain(struct dump_file *file, struct input *in,
				     struct tscope_error *err)
{
	struct plain *plain = NULL;
	enum tscope_status status = tsi_plain_read(&plain, &file->form, in, NULL, err);
	if (status != TSCOPE_OK)
		return status;
	if (tsi_is_dump(plain))
		status = tsi_dump_read(&file->dump, plain, err);
	else if (file->is_named)
		status = tsi_fail(err, TSCOPE_E_FORMAT,
				  "no flight-recorder dump: neither entries nor pg_config");
	else
		file->is_foreign = true;
	tsi_plain_free(plain);
	return status;
}

static enum tscope_status read_input(struct dump_file *file, struct input *in,
				     struct tscope_error *err)
{
	enum tscope_status status = read_plain(file, in, err);

	if (status == TSCOPE_OK && !file->is_foreign)
		status = tsi_describe_source(&file->source, file->path, in, err);
	tsi_input_close(in);
	return status;
}

/* The number that a name ends in: nccl_trace_rank_12, _dump_3.json. */
static int64_t trailing_rank(const char *path)
{
	const char *name = tsi_base_name(path);
	size_t end = strcspn(name, "."), first = end;
	int64_t rank = 0;

	while (first > 0 && tsi_is_digit(name[first - 1]))
		first--;
	return first < end && tsi_str_to_int64((struct str){ name + first, end - first }, &rank)
		       ? rank
		       : -1;
}

static enum tscope_status open_file(struct dump_file *file, struct input **in)
{
	struct input_options options = tsi_input_options_of(file->options);

	options.single_thread = true;
	if (file->data)
		return tsi_input_open_memory(in, file->data, file->length, &options, &file->error);
	return tsi_input_open_file(in, file->path, &options, &file->error);
}

static void read_file(struct dump_file *file)
{
	struct input *in;

	file->form = "";
	file->dump = (struct dump){ .rank = -1, .version = "", .host = "" };
	file->status = open_file(file, &in);
	if (file->status == TSCOPE_OK)
		file->status = read_input(file, in, &file->error);
	if (file->status != TSCOPE_OK && file->status != TSCOPE_E_IO && file->is_refused)
		file->is_foreign = true;
	if (file->dump.rank < 0)
		file->dump.rank = trailing_rank(file->path);
	if (file->dump.rank < 0)
		file->dump.rank = tsi_rank_of_path(file->path);
	file->dump.written_ns = file->written_ns;
}

/* A job: all errors but the lack of memory are the file's own. */
static enum tscope_status run_file(void *argument, unsigned lane, struct tscope_error *err)
{
	struct dump_file *file = argument;

	(void)lane;
	read_file(file);
	return file->status == TSCOPE_E_NOMEM ? tsi_fail_nomem(err) : TSCOPE_OK;
}

static enum tscope_status read_files(struct dump_files *files,
				     const struct tscope_trace_options *options,
				     struct tscope_error *err)
{
	unsigned threads = options->thread_count ? options->thread_count : tsi_thread_count();
	struct job *jobs = tsi_arena_new(&files->arena, files->count, sizeof(*jobs));

	if (!jobs)
		return tsi_arena_status(&files->arena, err);
	for (size_t i = 0; i < files->count; i++) {
		files->items[i].options = options;
		jobs[i] = (struct job){ run_file, &files->items[i] };
	}
	return tsi_run_jobs(jobs, files->count, threads, err);
}

/* ---- choosing ------------------------------------------------------------------------------ */

static void fill_input(struct tscope_hang *hang, struct dump_file *file)
{
	struct tscope_hang_input *input = &hang->inputs[hang->input_count];
	struct tscope_error *failure = &hang->failures[hang->input_count++];

	*failure = file->error;
	*input = (struct tscope_hang_input){
		.path = tsi_arena_copy(&hang->arena, tsi_str_of(file->path)),
		.form = *file->form ? file->form : "unknown",
		.compression =
			file->source.compression
				? tsi_arena_copy(&hang->arena, tsi_str_of(file->source.compression))
				: "none",
		.version = tsi_arena_copy(&hang->arena, tsi_str_of(file->dump.version)),
		.source_bytes = file->source.source_bytes,
		.bytes = file->source.bytes,
		.entry_count = file->dump.entry_count,
		.dropped_count = file->dump.dropped_count,
		.rank = file->dump.rank,
		.is_named = file->is_named,
		.failure = file->status != TSCOPE_OK ? failure : NULL,
	};
}

static int compare_files(const void *left, const void *right)
{
	const struct dump_file *a = left, *b = right;

	TSI_ASCENDING(a->dump.rank, b->dump.rank);
	TSI_DESCENDING(a->dump.last_ns, b->dump.last_ns);
	return strcmp(a->path, b->path);
}

static bool is_dump_of_job(const struct dump_file *file, int64_t newest_ns)
{
	return file->status == TSCOPE_OK && !file->is_foreign && file->dump.rank >= 0 &&
	       (file->dump.last_ns == 0 ||
		newest_ns - file->dump.last_ns < (int64_t)STALE_S * STALE_NS_PER_S);
}

/* Chooses the newest dump of each rank; one a day older than the newest belongs to another job. */
static enum tscope_status choose_dumps(struct tscope_hang *hang, struct dump_files *files,
				       struct tscope_error *err)
{
	struct dump *dumps = NULL;
	size_t count = 0;
	int64_t newest_ns = 0;
	enum tscope_status status = tsi_array_make(&dumps, files->count, sizeof(*dumps), err);

	if (status != TSCOPE_OK)
		return status;
	if (files->count > 0)
		qsort(files->items, files->count, sizeof(*files->items), compare_files);
	for (size_t i = 0; i < files->count; i++)
		if (files->items[i].dump.last_ns > newest_ns)
			newest_ns = files->items[i].dump.last_ns;
	for (size_t i = 0; i < files->count; i++) {
		struct dump_file *file = &files->items[i];

		if (file->is_foreign)
			continue;
		fill_input(hang, file);
		if (is_dump_of_job(file, newest_ns) &&
		    (count == 0 || dumps[count - 1].rank != file->dump.rank)) {
			dumps[count++] = file->dump;
			file->dump = (struct dump){ 0 };
		} else if (file->status == TSCOPE_OK) {
			hang->inputs[hang->input_count - 1].is_superseded = true;
		}
	}
	return tsi_hang_join(&hang->model, dumps, count, err);
}

/* Fails where there is no dump to judge by. */
static enum tscope_status check_any(const struct tscope_hang *hang, struct tscope_error *err)
{
	if (hang->model.dump_count > 0)
		return TSCOPE_OK;
	for (size_t i = 0; i < hang->input_count; i++)
		if (hang->inputs[i].failure) {
			*err = *hang->inputs[i].failure;
			return tsi_fail_within(err, "%s", hang->inputs[i].path);
		}
	if (hang->input_count > 0)
		return tsi_fail(err, TSCOPE_E_FORMAT,
				"%s: the rank stands neither in the dump nor in its name",
				hang->inputs[0].path);
	return tsi_fail(err, TSCOPE_E_EMPTY,
			"%s: no flight-recorder dumps here (nccl_trace_rank_N, "
			"comm_lib_trace_rank_N)",
			hang->path);
}

/* A rank whose dump cannot be read did write one: nobody knows what it called. */
static void excuse_unreadable(struct tscope_hang *hang)
{
	const struct wait_op *op = hang->verdict.op;

	for (size_t i = 0; i < hang->input_count && hang->verdict.kind == HANG_NO_DUMP; i++)
		if (hang->inputs[i].failure && tsi_hang_is_blamed(op, hang->inputs[i].rank))
			hang->verdict.kind = HANG_UNDECIDED;
}

static enum tscope_status settle(struct tscope_hang *hang, struct dump_files *files,
				 struct tscope_error *err)
{
	enum tscope_status status;

	hang->inputs = tsi_arena_new(&hang->arena, files->count, sizeof(*hang->inputs));
	hang->failures = tsi_arena_new(&hang->arena, files->count, sizeof(*hang->failures));
	if (!hang->inputs || !hang->failures)
		return tsi_arena_status(&hang->arena, err);
	status = choose_dumps(hang, files, err);
	if (status != TSCOPE_OK || hang->model.dump_count == 0)
		return status;
	tsi_hang_judge(&hang->verdict, &hang->model, &hang->arena);
	excuse_unreadable(hang);
	return tsi_arena_status(&hang->arena, err);
}

static void free_files(struct dump_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		tsi_dump_deinit(&files->items[i].dump);
		free(files->items[i].source.path);
	}
	tsi_arena_deinit(&files->arena);
}

/* Reads and judges the files, and frees them. */
static enum tscope_status judge_files(struct tscope_hang **ret, struct dump_files *files,
				      const char *path, const struct tscope_trace_options *options,
				      struct tscope_error *err)
{
	static const struct tscope_trace_options defaults;
	struct tscope_hang *hang = NULL;
	enum tscope_status status = tsi_arena_status(&files->arena, err);

	if (status == TSCOPE_OK)
		status = read_files(files, options ? options : &defaults, err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&hang, 1, sizeof(*hang), err);
	if (status == TSCOPE_OK) {
		hang->path = tsi_arena_copy(&hang->arena, tsi_str_of(path));
		status = settle(hang, files, err);
	}
	free_files(files);
	if (status != TSCOPE_OK)
		tscope_hang_free(hang);
	else
		*ret = hang;
	return status;
}

static enum tscope_status return_judged(struct tscope_hang **ret, struct tscope_hang *hang,
					enum tscope_status status, struct tscope_error *err)
{
	if (status == TSCOPE_OK)
		status = check_any(hang, err);
	if (status != TSCOPE_OK)
		tscope_hang_free(hang);
	else
		*ret = hang;
	return status;
}

enum tscope_status tsi_hang_open(struct tscope_hang **ret, const struct run_files *found,
				 const char *path, const struct tscope_trace_options *options,
				 struct tscope_error *err)
{
	struct dump_files files = { .items = NULL };

	for (size_t i = 0; i < found->count; i++)
		add_file(&files, found->items[i].path, found->items[i].is_named, found->members);
	for (size_t i = 0; i < files.count; i++)
		files.items[i].is_refused = found->items[i].kind == RUN_FILE_REFUSED;
	return judge_files(ret, &files, path, options, err);
}

enum tscope_status tscope_hang_open(struct tscope_hang **ret, const char *const *paths,
				    size_t path_count, const struct tscope_trace_options *options,
				    struct tscope_error *err)
{
	struct tscope_trace_options own = options ? *options : (struct tscope_trace_options){ 0 };
	struct tscope_members *members = NULL;
	struct run_files found = { .items = NULL };
	struct tscope_hang *hang = NULL;
	enum tscope_status status = tsi_open_archives(&members, &own, err);
	size_t kept = 0;

	found.members = members;
	if (status == TSCOPE_OK)
		status = tsi_find_files(&found, paths, path_count, err);

	for (size_t i = 0; i < found.count; i++)
		if (found.items[i].is_named || found.items[i].kind == RUN_FILE_DUMP ||
		    found.items[i].kind == RUN_FILE_REFUSED)
			found.items[kept++] = found.items[i];
	found.count = kept;
	if (status == TSCOPE_OK)
		status = tsi_hang_open(&hang, &found, paths[0], &own, err);
	tsi_members_free(members);
	tsi_arena_deinit(&found.arena);
	return return_judged(ret, hang, status, err);
}

enum tscope_status tscope_hang_open_memory(struct tscope_hang **ret,
					   const struct tscope_hang_dump *dumps, size_t count,
					   const struct tscope_trace_options *options,
					   struct tscope_error *err)
{
	struct dump_files files = { .items = NULL };
	struct tscope_hang *hang = NULL;
	enum tscope_status status;

	for (size_t i = 0; i < count; i++) {
		add_file(&files, dumps[i].name, true, NULL);
		if (files.count > i) {
			files.items[i].data = dumps[i].data;
			files.items[i].length = dumps[i].length;
		}
	}
	status = judge_files(&hang, &files, count ? dumps[0].name : "", options, err);
	return return_judged(ret, hang, status, err);
}

void tscope_hang_free(struct tscope_hang *hang)
{
	if (!hang)
		return;
	tsi_hang_deinit(&hang->model);
	tsi_arena_deinit(&hang->arena);
	free(hang);
}

const char *tscope_hang_path(const struct tscope_hang *hang)
{
	return hang->path;
}

size_t tscope_hang_input_count(const struct tscope_hang *hang)
{
	return hang->input_count;
}

struct tscope_hang_input tscope_hang_input(const struct tscope_hang *hang, size_t index)
{
	return hang->inputs[index];
}

enum tscope_status tscope_hang_analyze(struct tscope_analysis **ret, const struct tscope_hang *hang,
				       const struct tscope_analysis_options *options,
				       struct tscope_error *err)
{
	const struct analysis_scope scope = { .hang = hang, .options = options };
	struct tscope_analysis *analysis = NULL;
	enum tscope_status status = tsi_analyze_level(&analysis, LEVEL_HANG, &scope, NULL, err);

	if (status == TSCOPE_OK)
		status = tsi_analysis_detach(analysis, err);
	if (status != TSCOPE_OK) {
		tscope_analysis_free(analysis);
		return status;
	}
	*ret = analysis;
	return TSCOPE_OK;
}
