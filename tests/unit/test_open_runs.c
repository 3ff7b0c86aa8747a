/* SPDX-License-Identifier: MIT */
/* Several runs in one place: folders made of a few files, and which runs they are. */
#include "fail_alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tscope/tscope.h>

#include "check.h"

enum { PATH_CHARS = 512, MAX_FILES = 8, MAX_RUNS = 4 };

/* A file of a folder: step records of the rank that its path tells, of this many steps. */
struct file {
	const char *path;
	int world_size; /* in run.json beside it; 0: there is none */
};

static char root[32];

/* Makes the folders above the last part of a path. */
static void make_folders(const char *path)
{
	char folder[PATH_CHARS];

	snprintf(folder, sizeof(folder), "%s", path);
	for (char *at = folder + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(folder, 0777); /* it may exist */
		*at = '/';
	}
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void write_file(const struct file *file)
{
	char path[PATH_CHARS], run_json[PATH_CHARS + 16], meta[64];

	snprintf(path, sizeof(path), "%s/%s", root, file->path);
	make_folders(path);
	write_text(path, "{\"step\":0,\"phases\":{\"forward\":0.01},\"scalars\":{}}\n"
			 "{\"step\":1,\"phases\":{\"forward\":0.01},\"scalars\":{}}\n");
	if (file->world_size == 0)
		return;
	snprintf(run_json, sizeof(run_json), "%.*s/run.json", (int)(strrchr(path, '/') - path),
		 path);
	snprintf(meta, sizeof(meta), "{\"world_size\":%d}", file->world_size);
	write_text(run_json, meta);
}

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "runs-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[PATH_CHARS + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command);
}

/* The folder that the files of a run lie in, below the root, by its first file. */
static void expect_run(const struct tscope_runs *runs, size_t index, const char *folder)
{
	const struct tscope_run *run = tscope_runs_get(runs, index);

	for (size_t i = 0; i < tscope_run_input_count(run); i++) {
		const char *path = tscope_run_input(run, i).path + strlen(root) + 1;

		if (strncmp(path, folder, strlen(folder)) != 0)
			fail_msg("%s is in run %zu, which is %s", path, index, folder);
	}
}

TEST(test_which_runs)
{
	static const struct {
		struct file files[MAX_FILES];
		const char *runs[MAX_RUNS]; /* folders; none: one run of all */
		const char *other;
	} cases[] = {
		/* Ranks of one run. */
		{ .files = { { "rank0/steps.jsonl", 2 }, { "rank1/steps.jsonl", 2 } } },
		/* Two runs of one rank, and of two ranks. */
		{ .files = { { "a/steps.jsonl", 0 }, { "b/steps.jsonl", 0 } },
		  .runs = { "a/", "b/" } },
		{ .files = { { "a/rank0/steps.jsonl", 0 },
			     { "a/rank1/steps.jsonl", 0 },
			     { "b/rank0/steps.jsonl", 0 },
			     { "b/rank1/steps.jsonl", 0 } },
		  .runs = { "a/", "b/" } },
		/* Runs at different depths. */
		{ .files = { { "x/a/steps.jsonl", 0 },
			     { "x/b/steps.jsonl", 0 },
			     { "y/steps.jsonl", 0 } },
		  .runs = { "x/a/", "x/b/", "y/" } },
		/* Different sizes of the world, though no rank is claimed twice. */
		{ .files = { { "a/rank0/steps.jsonl", 2 }, { "b/rank1/steps.jsonl", 4 } },
		  .runs = { "a/", "b/" } },
		/* The same where one that does not say it stands between them. */
		{ .files = { { "a/rank0/steps.jsonl", 2 },
			     { "a/rank1/steps.jsonl", 0 },
			     { "b/rank2/steps.jsonl", 4 } },
		  .runs = { "a/", "b/" } },
		/* A folder that is called after another one is a run of its own. */
		{ .files = { { "job/steps.jsonl", 2 },
			     { "job_rank1/steps.jsonl", 4 },
			     { "other/steps.jsonl", 2 } },
		  .runs = { "job/", "job_rank1/", "other/" } },
		/* What lies beside the runs is of none. */
		{ .files = { { "rank7.jsonl", 0 }, { "a/steps.jsonl", 0 }, { "b/steps.jsonl", 0 } },
		  .runs = { "a/", "b/" },
		  .other = "rank7.jsonl" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *paths[] = { root };
		struct tscope_error err = { 0 };
		struct tscope_runs *runs = NULL;
		size_t count = 0;

		assert_int_equal(make_root(NULL), 0);
		for (size_t j = 0; j < MAX_FILES && cases[i].files[j].path; j++)
			write_file(&cases[i].files[j]);
		if (tscope_runs_open(&runs, paths, 1, NULL, &err) != TSCOPE_OK)
			fail_msg("case %zu: %s", i, err.message);
		while (count < MAX_RUNS && cases[i].runs[count])
			count++;
		assert_int_equal(tscope_runs_count(runs), count ? count : 1);
		for (size_t j = 0; j < count; j++)
			expect_run(runs, j, cases[i].runs[j]);
		assert_int_equal(tscope_runs_other_count(runs), cases[i].other != NULL);
		if (cases[i].other)
			assert_non_null(strstr(tscope_runs_other(runs, 0).path, cases[i].other));
		tscope_runs_free(runs);
		assert_int_equal(remove_root(NULL), 0);
	}
}

/* Of what was named nothing else is read, whatever lies beside it. */
TEST_WITH(test_named, make_root, remove_root)
{
	static const struct file files[] = { { "a/rank0/steps.jsonl", 0 },
					     { "a/rank1/steps.jsonl", 0 },
					     { "b/rank0/steps.jsonl", 0 } };
	char first[PATH_CHARS + 32], second[PATH_CHARS + 32];
	const char *paths[] = { first, second };
	struct tscope_error err = { 0 };
	struct tscope_runs *runs = NULL;

	for (size_t i = 0; i < 3; i++)
		write_file(&files[i]);
	snprintf(first, sizeof(first), "%s/a/rank0/", root);
	snprintf(second, sizeof(second), "%s/b", root);
	assert_int_equal(tscope_runs_open(&runs, paths, 2, NULL, &err), TSCOPE_OK);
	assert_int_equal(tscope_runs_count(runs), 2);
	assert_int_equal(tscope_run_rank_count(tscope_runs_get(runs, 0)), 1);
	tscope_runs_free(runs);
}

/* Where one of two files is beside the other's folder, nobody can tell them apart. */
TEST_WITH(test_cannot_be_parted, make_root, remove_root)
{
	static const struct file files[] = { { "steps.jsonl", 0 }, { "old/steps.jsonl", 0 } };
	const char *paths[] = { root };
	struct tscope_error err = { 0 };
	struct tscope_runs *runs = NULL;

	write_file(&files[0]);
	write_file(&files[1]);
	assert_int_equal(tscope_runs_open(&runs, paths, 1, NULL, &err), TSCOPE_E_DAMAGED);
	assert_null(runs);
	assert_non_null(strstr(err.message, "is claimed by "));
}

TEST_WITH(test_allocation_failures, make_root, remove_root)
{
	static const struct file files[] = { { "a/steps.jsonl", 0 }, { "b/steps.jsonl", 0 } };
	static const struct tscope_run_options options = { .trace = { .thread_count = 1 } };
	const char *paths[] = { root };

	write_file(&files[0]);
	write_file(&files[1]);
	struct alloc_sweep sweep = { .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_runs *runs = NULL;

		alloc_sweep_try(&sweep, tscope_runs_open(&runs, paths, 1, &options, &sweep.err));
		if (!sweep.has_failed)
			assert_int_equal(tscope_runs_count(runs), 2);
		tscope_runs_free(runs);
	}
}
