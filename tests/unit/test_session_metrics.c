/* SPDX-License-Identifier: MIT */
/*
 * Runs that hold metrics, from end to end: beside step records, alone, of several files, and of
 * ranks; and statistics of memory beside the steps. Each test writes the files that it reads.
 */
#include "fail_alloc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tscope/tscope.h>
#include <unistd.h>

#include "config.h"

#include "check.h"

enum { PATH_CHARS = 256, MAX_FILES = 6 };

struct file {
	const char *path; /* below the folder of the run */
	const char *text;
};

/* ---- files ---- */

static char folder[] = "metrics-XXXXXX";

static void make_folders(char *path)
{
	for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		assert_true(mkdir(path, 0777) == 0 || errno == EEXIST);
		*at = '/';
	}
}

static void write_files(const struct file *files)
{
	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < MAX_FILES && files[i].path; i++) {
		char path[PATH_CHARS];
		FILE *out;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i].path);
		make_folders(path);
		out = fopen(path, "w");
		assert_non_null(out);
		fputs(files[i].text, out);
		assert_int_equal(fclose(out), 0);
	}
}

/* A folder goes with the last of its files. */
static void remove_files(const struct file *files)
{
	for (size_t i = 0; i < MAX_FILES && files[i].path; i++) {
		char path[PATH_CHARS];

		snprintf(path, sizeof(path), "%s/%s", folder, files[i].path);
		for (char *slash; remove(path) == 0 && (slash = strrchr(path, '/'));)
			*slash = '\0';
	}
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* ---- what is expected ---- */

static enum tscope_status open_files(struct tscope_run **run,
				     const struct tscope_run_options *options,
				     struct tscope_error *err)
{
	const char *paths[] = { folder };

	return tscope_run_open(run, paths, 1, options, err);
}

/* "convergence.loss_count=3 scalars.loss_name=train_loss": of one rank, or of the run (-1). */
static void check_facts(const struct tscope_run *run, int rank, const char *expected)
{
	const struct tscope_analysis *analysis =
		rank < 0 ? tscope_run_analysis(run) : tscope_run_rank_analysis(run, (size_t)rank);
	char copy[400], actual[400] = "", *rest = NULL;
	size_t length = 0;

	snprintf(copy, sizeof(copy), "%s", expected);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char id[80], text[80] = "-";
		struct tscope_value value;
		enum tscope_unit unit;

		snprintf(id, sizeof(id), "%.*s", (int)strcspn(word, "="), word);
		assert_true(tscope_analysis_find(analysis, id, &value, &unit));
		if (value.kind == TSCOPE_VALUE_INT)
			snprintf(text, sizeof(text), "%lld", (long long)value.integer);
		else if (value.kind == TSCOPE_VALUE_REAL)
			snprintf(text, sizeof(text), "%g", value.real);
		else if (value.kind == TSCOPE_VALUE_TEXT)
			snprintf(text, sizeof(text), "%s", value.text);
		length += (size_t)snprintf(actual + length, sizeof(actual) - length, "%s%s=%s",
					   length ? " " : "", id, text);
	}
	assert_string_equal(actual, expected);
}

/* notes: all of them, a line each; the folder of the run is "." there. */
static void check_notes(const struct tscope_run *run, const char *notes)
{
	char actual[800] = "";
	size_t length = 0;

	for (size_t i = 0; i < tscope_run_note_count(run); i++) {
		const char *note = tscope_run_note(run, i), *at = strstr(note, folder);

		if (at)
			length += (size_t)snprintf(actual + length, sizeof(actual) - length,
						   "%.*s.%s\n", (int)(at - note), note,
						   at + strlen(folder));
		else
			length += (size_t)snprintf(actual + length, sizeof(actual) - length, "%s\n",
						   note);
	}
	assert_string_equal(actual, notes);
}

struct expected {
	size_t rank_count;
	const char *run, *first_rank, *second_rank; /* facts, or NULL */
	const char *notes;
};

static void check_run(const struct file *files, const struct tscope_run_options *options,
		      const struct expected *expected)
{
	struct tscope_error err = { 0 };
	struct tscope_run *run = NULL;

	write_files(files);
	enum tscope_status status = open_files(&run, options, &err);
	remove_files(files);
	if (status != TSCOPE_OK)
		fail_msg("%s", err.message);
	assert_int_equal(tscope_run_rank_count(run), expected->rank_count);
	if (expected->run)
		check_facts(run, -1, expected->run);
	if (expected->first_rank)
		check_facts(run, 0, expected->first_rank);
	if (expected->second_rank)
		check_facts(run, 1, expected->second_rank);
	check_notes(run, expected->notes);
	tscope_run_free(run);
}

/* ---- the cases ---- */

#define RECORDS                                                                                    \
	"{\"step\":0,\"phases\":{\"forward\":0.01}}\n{\"step\":1,\"phases\":{\"forward\":0.01}}\n" \
	"{\"step\":2,\"phases\":{\"forward\":0.01}}\n{\"step\":3,\"phases\":{\"forward\":0.01}}\n"

/* Logged every second step, and at one that the records do not have. */
TEST(test_beside_records)
{
	static const struct file files[MAX_FILES] = {
		{ "steps.jsonl", RECORDS },
		{ "logs/version_0/metrics.csv",
		  "step,train_loss,val_loss,lr-SGD\n1,4,,\n1,,,0.5\n3,2,9,\n5,1,,0.25\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "step_time.count=4 step_time.mean_ns=10000000 "
				 "convergence.loss_count=3 convergence.final_loss=1 "
				 "scalars.loss_name=train_loss scalars.name_count=3 "
				 "scalars.learning_rate=0.25",
			  .notes = "",
		  });
}

TEST(test_alone)
{
	static const struct file files[MAX_FILES] = {
		{ "metrics.csv", "step,train_loss,val_loss\n9,4,\n19,3,7\n29,2,6\n" },
	};
	const struct tscope_run_options warmup = { .timeline = { .warmup = 1 } };
	const struct tscope_run_options range = {
		.timeline = { .has_range = true, .first_step = 10, .last_step = 20 },
	};
	const struct tscope_run_options said = {
		.analysis = { .scalars = { .names = { "val_loss" } } },
	};
	const struct tscope_run_options wrong = {
		.analysis = { .scalars = { .names = { "nothing" } } },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "step_time.count=0 convergence.loss_count=3 "
				 "convergence.best_loss=2",
			  .notes = "",
		  });
	check_run(files, &warmup,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "convergence.loss_count=2 scalars.value_count=4",
			  .notes = "",
		  });
	check_run(files, &range,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "convergence.loss_count=1 convergence.final_loss=3",
			  .notes = "",
		  });
	check_run(files, &said,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "convergence.loss_count=2 convergence.final_loss=6",
			  .notes = "",
		  });
	check_run(files, &wrong,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "convergence.loss_count=-",
			  .notes = "no metric is called \"nothing\", so that there is no loss\n",
		  });
}

/* --scalar speaks of names in step records, too. */
TEST(test_names_of_records)
{
	static const struct file files[MAX_FILES] = {
		{ "steps.jsonl", "{\"step\":0,\"phases\":{},\"scalars\":{\"loss\":4,\"ce\":3}}\n"
				 "{\"step\":1,\"phases\":{},\"scalars\":{\"loss\":2,\"ce\":1}}\n" },
	};
	const struct tscope_run_options said = {
		.analysis = { .scalars = { .names = { "ce" } } },
	};

	check_run(files, &said,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "scalars.loss_name=ce convergence.final_loss=1",
			  .notes = "",
		  });
}

/* A run that went on from a checkpoint: the later file holds; version_10 comes after version_9. */
TEST(test_resumed)
{
	static const struct file files[MAX_FILES] = {
		{ "version_10/metrics.csv", "step,loss\n20,5\n30,7\n" },
		{ "version_9/metrics.csv", "step,loss\n0,12\n10,11\n20,10\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "scalars.value_count=4 convergence.final_loss=7 "
				 "convergence.best_loss=5",
			  .notes = "",
		  });
}

#define RUN_A "mlruns/0/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
#define RUN_B "mlruns/0/bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/"

/* Where it is known when files were written their names do not matter. */
TEST(test_resumed_by_time)
{
	static const struct file files[MAX_FILES] = {
		{ RUN_A "meta.yaml", "run_id: a\n" },
		{ RUN_A "metrics/loss", "1700000009000 5 20\n1700000009500 7 30\n" },
		{ RUN_B "meta.yaml", "run_id: b\n" },
		{ RUN_B "metrics/loss", "1700000001000 11 10\n1700000002000 10 20\n" },
		/* What has no time goes last. */
		{ "metrics.csv", "step,loss\n30,6\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "scalars.value_count=3 convergence.final_loss=6 "
				 "convergence.best_loss=5",
			  .notes = "",
		  });
}

/* Keras tells training and validation apart by folders alone. */
TEST(test_folders)
{
	static const struct file files[MAX_FILES] = {
		{ "train/metrics.csv", "step,epoch_loss,x\n0,4,1\n1,3,1\n" },
		{ "validation/metrics.csv", "step,epoch_loss,x\n0,9,1\n1,8,1\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "scalars.loss_name=epoch_loss convergence.final_loss=3 "
				 "scalars.name_count=4",
			  .notes = "",
		  });
}

/* Loggers write on the lowest rank; metrics make no rank where there are steps. */
TEST(test_ranks)
{
	static const struct file files[MAX_FILES] = {
		{ "rank0/steps.jsonl", RECORDS },
		{ "rank1/steps.jsonl", RECORDS },
		{ "metrics.csv", "step,loss\n0,5\n" },
		{ "rank1/metrics.csv", "step,loss\n0,6\n" },
		{ "rank7/metrics.csv", "step,loss\n0,7\n" },
	};
	static const struct file alone[MAX_FILES] = {
		{ "rank0/metrics.csv", "step,loss\n0,5\n" },
		{ "rank3/metrics.csv", "step,loss\n0,6\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 2,
			  .run = "step_time.count=4 convergence.final_loss=5",
			  .first_rank = "convergence.final_loss=5",
			  .second_rank = "convergence.final_loss=6",
			  .notes = "./rank7/metrics.csv is of rank 7, of which there is neither a "
				   "trace nor step records: its metrics are in no figure\n",
		  });
	check_run(alone, NULL,
		  &(struct expected){
			  .rank_count = 2,
			  .run = "convergence.final_loss=5 step_time.count=0",
			  .second_rank = "convergence.final_loss=6",
			  .notes = "",
		  });
}

/* Values whose steps are counts of samples stand nowhere. */
TEST(test_samples)
{
	static const struct file files[MAX_FILES] = {
		{ "metrics.csv", "step,Train/Samples/lr,loss\n64,0.5,\n128,0.25,\n2,,3\n" },
	};

	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "scalars.name_count=1 scalars.value_count=1",
			  .notes = "2 values of metrics that count samples instead of steps are in "
				   "no figure\n",
		  });
}

/* The second call of training_step is step 1. */
TEST(test_memory_statistics)
{
	static const struct file files[MAX_FILES] = {
		{ "rank0/steps.jsonl", RECORDS },
		{ "memprofiler/rank_0_memory_stats.yaml",
		  "!!python/object/apply:collections.defaultdict\nargs:\n"
		  "- !!python/name:builtins.dict ''\ndictitems:\n  0.training_step.2.end:\n"
		  "    allocated_bytes.all.current: 4096\n    allocated_bytes.all.peak: 8192\n"
		  "    rss: 65536\n" },
	};

	if (!HAVE_YAML)
		skip();
	check_run(files, NULL,
		  &(struct expected){
			  .rank_count = 1,
			  .run = "memory.step_count=1 memory.peak_alloc_bytes=8192 "
				 "memory.peak_step=1 scalars.name_count=1",
			  .notes = "memory of 1 step is that of "
				   "./memprofiler/rank_0_memory_stats.yaml, where iteration 1 of "
				   "training_step is step 0\n",
		  });
}

/* What is written can be read again, with steps that have no time. */
TEST(test_write_again)
{
	static const struct file files[MAX_FILES] = {
		{ "steps.jsonl", "{\"step\":1,\"phases\":{\"forward\":0.01}}\n" },
		{ "metrics.csv", "step,train_loss,x\n0,4,\n1,3,8\n" },
	};
	struct tscope_run *run = NULL;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	write_files(files);
	assert_int_equal(open_files(&run, NULL, NULL), TSCOPE_OK);
	remove_files(files);
	assert_int_equal(tscope_run_write_steps(out, run, 0, NULL), TSCOPE_OK);
	fclose(out);
	assert_string_equal(text, "{\"step\":0,\"timed\":false,\"scalars\":{\"loss\":4}}\n"
				  "{\"step\":1,\"phases\":{\"forward\":0.01},"
				  "\"scalars\":{\"loss\":3,\"x\":8}}\n");
	free(text);
	tscope_run_free(run);
}

/* Each allocation fails in turn. */
TEST(test_allocation_failures)
{
	static const struct file files[MAX_FILES] = {
		{ "rank0/steps.jsonl", "{\"step\":1,\"phases\":{\"forward\":0.01}}\n" },
		{ "metrics.csv", "step,train_loss,lr,mfu\n0,4,1,0.5\n1,3,1,0.5\n" },
		{ "rank_0_memory_stats.yaml",
		  "0.training_step.2.end:\n  rss: 65536\n  allocated_bytes.all.current: 1\n" },
	};
	const struct tscope_run_options options = { .trace = { .thread_count = 1 } };

	write_files(files);
	/* Some are survived: where only a remark or a worker was lost. */
	struct alloc_sweep sweep = { .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = NULL;

		alloc_sweep_try(&sweep, open_files(&run, &options, &sweep.err));
		tscope_run_free(run);
	}
	remove_files(files);
}
