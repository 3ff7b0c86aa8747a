/* SPDX-License-Identifier: MIT */
#include "found_files.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fail_alloc.h"
#include "run/metrics.h"
#include "run/settle.h"

enum tscope_status find_files(struct run_files *files, const char *const *paths, size_t count,
			      struct tscope_error *err)
{
	enum tscope_status status = tsi_find_files(files, paths, count, err);

	if (status != TSCOPE_OK)
		return status;
	tsi_settle_files(files, &files->arena);
	return tsi_arena_status(&files->arena, err);
}

static void describe(FILE *out, const struct run_file *file)
{
	static const char *const kinds[] = {
		[RUN_FILE_TRACE] = "trace",     [RUN_FILE_STEPS] = "steps",
		[RUN_FILE_MEMORY] = "memory",   [RUN_FILE_METRICS] = "metrics",
		[RUN_FILE_REFUSED] = "refused", [RUN_FILE_IGNORED] = "ignored",
	};

	fprintf(out, "%s %s", kinds[file->kind], file->path);
	if (file->kind == RUN_FILE_METRICS)
		fprintf(out, " by %s", file->metrics->id);
	if (file->name_rank >= 0)
		fprintf(out, " rank %d", (int)file->name_rank);
	if (file->run_json)
		fprintf(out, " + %s", file->run_json);
	fprintf(out, "%s%s%s\n", file->is_named ? " named" : "", file->reason ? ": " : "",
		file->reason ? file->reason : "");
}

void expect_files(const char *const *paths, size_t count, const char *expected)
{
	struct run_files files = { 0 };
	struct tscope_error err = { 0 };
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	if (find_files(&files, paths, count, &err) != TSCOPE_OK)
		fail_msg("failed: %s", err.message);
	for (size_t i = 0; i < files.count; i++)
		describe(out, &files.items[i]);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, expected);
	free(text);
	tsi_arena_deinit(&files.arena);
}

void sweep_find(const char *const *paths, size_t count, size_t at_least)
{
	struct alloc_sweep sweep = { .at_least = at_least };

	while (alloc_sweep_next(&sweep)) {
		struct run_files files = { 0 };

		alloc_sweep_try(&sweep, find_files(&files, paths, count, &sweep.err));
		tsi_arena_deinit(&files.arena);
	}
}
