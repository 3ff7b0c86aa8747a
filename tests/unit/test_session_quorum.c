/* SPDX-License-Identifier: MIT */
/* Ranks that are broken or lack most steps of the others are left out, named, and in nobody's way. */
#include "fail_alloc.h"
#include "test_folder.h"

#include <stdio.h>
#include <string.h>
#include <tscope/tscope.h>
#include <unistd.h>

#include "check.h"

enum { RANKS = 5, STEPS = 8 };

/* Step records of a rank, from step `first` on; rank 2 computes twice as long. */
static void put_rank(int rank, int first, int count)
{
	char path[64], text[2048] = "";
	size_t length = 0;

	for (int i = 0; i < count; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length,
					   "{\"step\":%d,\"phases\":{\"forward\":0.%d,"
					   "\"comm\":0.%d}}\n",
					   first + i, rank == 2 ? 2 : 1, rank == 2 ? 1 : 2);
	snprintf(path, sizeof(path), "run/rank%d/steps.jsonl", rank);
	put_file(path, text);
	snprintf(path, sizeof(path), "run/rank%d/run.json", rank);
	snprintf(text, sizeof(text), "{\"rank\":%d,\"world_size\":%d}\n", rank, RANKS);
	put_file(path, text);
}

static void put_run(void)
{
	for (int rank = 0; rank < RANKS; rank++)
		put_rank(rank, 0, STEPS);
}

static enum tscope_status open_run(struct tscope_run **run, unsigned quorum_percent,
				   struct tscope_error *err)
{
	const char *paths[] = { "run" };
	const struct tscope_run_options options = {
		.trace = { .thread_count = 1 },
		.analysis = { .quorum_percent = quorum_percent },
	};

	return tscope_run_open(run, paths, 1, &options, err);
}

static int64_t integer(const struct tscope_run *run, const char *id)
{
	struct tscope_value value;

	assert_true(tscope_analysis_find(tscope_run_analysis(run), id, &value, NULL));
	return value.kind == TSCOPE_VALUE_INT ? value.integer : -1;
}

static void check_left_out(unsigned quorum_percent, const char *reason)
{
	struct tscope_run *run;

	assert_int_equal(open_run(&run, quorum_percent, NULL), TSCOPE_OK);
	assert_int_equal(tscope_run_rank_count(run), RANKS - 1);
	assert_int_equal(tscope_run_rank_number(run, 3), 4);
	assert_int_equal(tscope_run_input_count(run), RANKS - 1);
	assert_int_equal(integer(run, "distributed.n_steps"), STEPS);
	assert_int_equal(integer(run, "distributed.dropped_step_count"), 0);
	assert_int_equal(integer(run, "distributed.missing_rank_count"), 1);
	assert_int_equal(tscope_run_other_count(run), 1);
	assert_true(tscope_run_other(run, 0).is_problem);
	assert_true(tscope_run_other(run, 0).is_left_out);
	assert_string_equal(tscope_run_other(run, 0).path, "run/rank3/steps.jsonl");
	assert_string_equal(tscope_run_other(run, 0).reason, reason);
	assert_string_equal(tscope_run_incomplete(run), "run/rank3/steps.jsonl is left out");
	/* Its file is there. */
	assert_null(tscope_run_missing_ranks(run));
	tscope_run_free(run);
}

TEST_IN_FOLDER(test_short_rank)
{
	struct tscope_run *run;

	put_run();
	put_rank(3, 0, STEPS / 2);
	/* By default each of so few ranks counts. */
	assert_int_equal(open_run(&run, 0, NULL), TSCOPE_OK);
	assert_int_equal(tscope_run_rank_count(run), RANKS);
	assert_int_equal(integer(run, "distributed.n_steps"), STEPS / 2);
	assert_int_equal(tscope_run_other_count(run), 0);
	tscope_run_free(run);
	check_left_out(80, "rank 3 lacks 4 of the 8 steps that nearly all ranks have");
	/* A rank with more than half of the steps stays. */
	put_rank(3, 0, STEPS / 2 + 1);
	assert_int_equal(open_run(&run, 80, NULL), TSCOPE_OK);
	assert_int_equal(tscope_run_rank_count(run), RANKS);
	assert_int_equal(integer(run, "distributed.n_steps"), STEPS);
	tscope_run_free(run);
}

TEST_IN_FOLDER(test_renumbered_rank)
{
	put_run();
	put_rank(3, 100, STEPS);
	check_left_out(80, "rank 3 lacks 8 of the 8 steps that nearly all ranks have");
}

/* What is missing beside is named by itself. */
TEST_IN_FOLDER(test_missing_beside)
{
	struct tscope_run *run;

	put_run();
	put_rank(3, 100, STEPS);
	assert_int_equal(remove("run/rank1/steps.jsonl"), 0);
	assert_int_equal(remove("run/rank1/run.json"), 0);
	assert_int_equal(open_run(&run, 75, NULL), TSCOPE_OK);
	assert_int_equal(tscope_run_rank_count(run), 3);
	assert_string_equal(tscope_run_missing_ranks(run), "4 of 5 ranks were read; missing: 1");
	tscope_run_free(run);
}

/* A trace of two steps; broken off behind the first. */
static void put_trace(int rank, bool is_broken)
{
	char path[64], text[1024];
	int length = snprintf(
		text, sizeof(text),
		"{\"schemaVersion\":1,\"distributedInfo\":{\"rank\":%d,\"world_size\":%d},"
		"\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":9,"
		"\"tid\":9,\"ts\":100,\"dur\":50},"
		"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"pid\":9,"
		"\"tid\":9,\"ts\":150,\"dur\":50}]}\n",
		rank, RANKS);

	if (is_broken)
		text[length - 30] = '\0';
	snprintf(path, sizeof(path), "run/rank%d/rank%d.pt.trace.json", rank, rank);
	put_file(path, text);
}

static void put_traces(int broken_count)
{
	for (int rank = 0; rank < RANKS; rank++)
		put_trace(rank, rank >= RANKS - broken_count);
}

static size_t count_left_out(size_t rank_count)
{
	struct tscope_run *run;
	size_t count;

	assert_int_equal(open_run(&run, 0, NULL), TSCOPE_OK);
	count = tscope_run_other_count(run);
	assert_int_equal(tscope_run_rank_count(run), rank_count);
	for (size_t i = 0; i < count; i++) {
		assert_true(tscope_run_other(run, i).is_left_out);
		assert_string_equal(tscope_run_other(run, i).reason,
				    "input ends inside event 2; of collectives, any may be lost: "
				    "it is compared with no other rank");
	}
	tscope_run_free(run);
	return count;
}

TEST_IN_FOLDER(test_broken_traces)
{
	put_traces(0);
	assert_int_equal(count_left_out(RANKS), 0);
	put_traces(1);
	assert_int_equal(count_left_out(RANKS - 1), 1);
	put_traces(2);
	assert_int_equal(count_left_out(RANKS - 2), 2);
	/* Most are broken: then they are all there is. */
	put_traces(3);
	assert_int_equal(count_left_out(RANKS), 0);
	/* One of two: nobody is left to compare with. */
	for (int rank = 0; rank < RANKS - 2; rank++) {
		char path[64];

		snprintf(path, sizeof(path), "run/rank%d/rank%d.pt.trace.json", rank, rank);
		assert_int_equal(remove(path), 0);
		*strrchr(path, '/') = '\0';
		assert_int_equal(rmdir(path), 0);
	}
	put_trace(RANKS - 1, false);
	assert_int_equal(count_left_out(2), 0);
}

TEST_IN_FOLDER(test_allocation_failures)
{
	put_run();
	put_rank(3, 100, STEPS);
	struct alloc_sweep sweep = { .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		struct tscope_run *run = NULL;

		alloc_sweep_try(&sweep, open_run(&run, 80, &sweep.err));
		tscope_run_free(run);
	}
}
