/* SPDX-License-Identifier: MIT */
/* Makes one file of files of records (run/rank_file.h), such as those of a node or pod. */
#include <tscope/map.h>

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "session/run.h"
#include "session/session.h"

struct tscope_merge {
	struct tscope_run_options options;
	struct session session; /* its files are the records, in their order, each once */
};

/* A merge keeps all that it is given, or is none. */
static enum tscope_status check_record(const struct run_file *file, struct tscope_error *err)
{
	if (file->saved)
		return TSCOPE_OK;
	if (file->kind == RUN_FILE_REFUSED)
		return tsi_fail(err, TSCOPE_E_DAMAGED, "%.200s: %s", file->path,
				file->unread ? file->unread->message : file->reason);
	return tsi_fail(err, TSCOPE_E_FORMAT, "%.200s is no file of tscope map: map it first",
			file->path);
}

/* Files of a folder that are nobody's stay out. */
static enum tscope_status keep_records(struct run_files *files, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;
	size_t kept = 0;

	for (size_t i = 0; i < files->count && status == TSCOPE_OK; i++) {
		if (!files->items[i].saved && files->items[i].kind == RUN_FILE_IGNORED)
			continue;
		status = check_record(&files->items[i], err);
		files->items[kept++] = files->items[i];
	}
	files->count = kept;
	if (status == TSCOPE_OK && kept == 0)
		status = tsi_fail(err, TSCOPE_E_EMPTY, "no file of tscope map was found");
	return status;
}

enum tscope_status tscope_merge_open(struct tscope_merge **ret, const char *const *paths,
				     size_t count, const struct tscope_trace_options *options,
				     struct tscope_error *err)
{
	struct tscope_merge *merge;
	enum tscope_status status = tsi_array_new(&merge, 1, sizeof(*merge), err);

	if (status != TSCOPE_OK)
		return status;
	if (options)
		merge->options.trace = *options;
	status = tsi_session_open(&merge->session, paths, count, &merge->options, err);
	if (status == TSCOPE_OK)
		status = keep_records(&merge->session.found, err);
	if (status == TSCOPE_OK)
		*ret = merge;
	else
		tscope_merge_free(merge);
	return status;
}

void tscope_merge_free(struct tscope_merge *merge)
{
	if (!merge)
		return;
	tsi_session_deinit(&merge->session);
	tsi_arena_deinit(&merge->session.found.arena);
	free(merge);
}

size_t tscope_merge_source_count(const struct tscope_merge *merge)
{
	return merge->session.sources.count;
}

const char *tscope_merge_source(const struct tscope_merge *merge, size_t index)
{
	return merge->session.sources.items[index];
}

size_t tscope_merge_record_count(const struct tscope_merge *merge)
{
	return merge->session.found.count;
}

enum tscope_status tscope_merge_write(FILE *out, const struct tscope_merge *merge,
				      struct tscope_error *err)
{
	const struct run_files *files = &merge->session.found;

	for (size_t i = 0; i < files->count; i++) {
		const struct str *record = files->items[i].saved;

		if (fwrite(record->data, 1, record->length, out) != record->length)
			return tsi_fail(err, TSCOPE_E_WRITE, "cannot be written");
	}
	return TSCOPE_OK;
}
