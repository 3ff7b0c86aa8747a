/* SPDX-License-Identifier: MIT */
/* base/parallel.c: every job once, whose error is told. Run under ThreadSanitizer as well. */
#include "base/parallel.h"

#include <stdbool.h>

#include "base/error.h"
#include "check.h"
#include "fail_alloc.h"

enum { JOBS = 100, LANES = 4 };

struct counted_job {
	int *of_lane; /* written without a lock: jobs of a lane never run at once */
	int runs;
	int failure; /* 0: none, else what its message says */
};

static enum tscope_status run(void *argument, unsigned lane, struct tscope_error *err)
{
	struct counted_job *job = argument;

	job->runs++;
	job->of_lane[lane]++;
	return job->failure ? tsi_fail(err, TSCOPE_E_LIMIT, "job %d", job->failure) : TSCOPE_OK;
}

static void fill(struct counted_job *counted, struct job *jobs, int *of_lane)
{
	for (size_t i = 0; i < JOBS; i++) {
		counted[i] = (struct counted_job){ .of_lane = of_lane };
		jobs[i] = (struct job){ run, &counted[i] };
	}
}

TEST(runs_each_once)
{
	struct counted_job counted[JOBS];
	struct job jobs[JOBS];

	for (unsigned threads = 1; threads <= LANES; threads++) {
		int of_lane[LANES] = { 0 }, sum = 0;

		fill(counted, jobs, of_lane);
		assert_int_equal(tsi_run_jobs(jobs, JOBS, threads, NULL), TSCOPE_OK);
		for (size_t i = 0; i < JOBS; i++)
			assert_int_equal(counted[i].runs, 1);
		for (unsigned lane = 0; lane < LANES; lane++)
			sum += of_lane[lane];
		assert_int_equal(sum, JOBS);
		for (unsigned lane = threads; lane < LANES; lane++)
			assert_int_equal(of_lane[lane], 0);
	}
}

TEST(may_be_few)
{
	int of_lane[LANES] = { 0 };
	struct counted_job counted = { .of_lane = of_lane };
	struct job job = { run, &counted };

	assert_int_equal(tsi_run_jobs(NULL, 0, LANES, NULL), TSCOPE_OK);
	assert_int_equal(tsi_run_jobs(&job, 1, LANES, NULL), TSCOPE_OK);
	assert_int_equal(of_lane[0], 1); /* the caller's */
}

TEST(tells_the_first_failure)
{
	struct counted_job counted[JOBS];
	struct job jobs[JOBS];

	for (unsigned threads = 1; threads <= LANES; threads++) {
		int of_lane[LANES] = { 0 };
		struct tscope_error err = { 0 };

		fill(counted, jobs, of_lane);
		for (int i = 90; i >= 30; i -= 20)
			counted[i].failure = i;
		assert_int_equal(tsi_run_jobs(jobs, JOBS, threads, &err), TSCOPE_E_LIMIT);
		assert_string_equal(err.message, "job 30");
		assert_int_equal(tsi_run_jobs(jobs, JOBS, threads, NULL), TSCOPE_E_LIMIT);
	}
}

/* Without memory for a thread the others do its work; without any for the table nothing is run. */
TEST(survives_failing_allocations)
{
	struct counted_job counted[JOBS];
	struct job jobs[JOBS];

	struct alloc_sweep sweep = { .may_survive = true };
	while (alloc_sweep_next(&sweep)) {
		int of_lane[LANES] = { 0 };

		fill(counted, jobs, of_lane);
		alloc_sweep_start(&sweep);
		enum tscope_status status = tsi_run_jobs(jobs, JOBS, 2, &sweep.err);
		alloc_sweep_check(&sweep, status);
		for (size_t i = 0; i < JOBS; i++)
			assert_int_equal(counted[i].runs, status == TSCOPE_OK);
	}
}
