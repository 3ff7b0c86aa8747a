/* SPDX-License-Identifier: MIT */
/*
 * What steps of random jobs are made of: ranks of gloo that each work, call a collective and wait
 * for it, whose threads write the ends of collectives late, on clocks of their own, of which some
 * were not read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/attributes.h"
#include "check.h"
#include "random_numbers.h"
#include "world_text.h"

enum { MAX_RANKS = 6, MAX_STEPS = 4, MAX_COLLECTIVES = 4, MAX_BYTES = 1 << 16, US = 1000 };

struct job {
	int rank_count, step_count, collective_count; /* of each step */
	int sleeper;                                  /* works for longer than all others */
	int64_t late_ns;                              /* an end is written up to so much later */
	int64_t own_ns[MAX_RANKS];                    /* what they work */
	int64_t now_ns[MAX_RANKS];
	char *text[MAX_RANKS];
	size_t used[MAX_RANKS];
	uint64_t chance;
};

static int64_t below(struct job *job, int64_t limit_ns)
{
	return (int64_t)(random_bits(&job->chance) % (uint64_t)limit_ns);
}

TSI_PRINTF(3, 4)
static void put(struct job *job, int rank, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	int length = vsnprintf(job->text[rank] + job->used[rank], MAX_BYTES - job->used[rank],
			       format, args);
	va_end(args);
	assert_true(length > 0 && job->used[rank] + (size_t)length < MAX_BYTES);
	job->used[rank] += (size_t)length;
}

static void work(struct job *job, int rank)
{
	int64_t work_ns = (20 + below(job, 20)) * 1000 * US;

	if (rank == job->sleeper)
		work_ns += 60 * 1000 * US;
	put(job, rank, "compute %lld %lld\n", (long long)job->now_ns[rank],
	    (long long)(job->now_ns[rank] + work_ns));
	job->now_ns[rank] += work_ns;
	job->own_ns[rank] += work_ns;
}

/* All are through when the last has come and the transfer is over, and go on at once. */
static void communicate(struct job *job)
{
	int64_t end_ns = 0;

	for (int rank = 0; rank < job->rank_count; rank++)
		if (job->now_ns[rank] > end_ns)
			end_ns = job->now_ns[rank];
	end_ns += (1 + below(job, 9)) * 1000 * US;
	for (int rank = 0; rank < job->rank_count; rank++) {
		int64_t written_ns = end_ns + below(job, job->late_ns + 1);

		put(job, rank, "exposed_comm %lld %lld\n", (long long)job->now_ns[rank],
		    (long long)end_ns);
		put(job, rank, "all_reduce %lld %lld group=dp size=%d stream=%lld\n",
		    (long long)job->now_ns[rank], (long long)written_ns, job->rank_count,
		    (long long)below(job, 2));
		job->now_ns[rank] = end_ns;
	}
}

static void make_steps(struct job *job)
{
	for (int step = 0; step < job->step_count; step++) {
		int64_t start_ns[MAX_RANKS];

		for (int rank = 0; rank < job->rank_count; rank++)
			start_ns[rank] = job->now_ns[rank];
		for (int i = 0; i < job->collective_count; i++) {
			for (int rank = 0; rank < job->rank_count; rank++)
				work(job, rank);
			communicate(job);
		}
		for (int rank = 0; rank < job->rank_count; rank++) {
			if (below(job, 2))
				work(job, rank);
			put(job, rank, "step %d %lld %lld\n", step, (long long)start_ns[rank],
			    (long long)job->now_ns[rank]);
		}
	}
}

static void make_job(struct job *job, uint64_t seed)
{
	*job = (struct job){ .chance = seed };
	job->rank_count = 2 + (int)below(job, MAX_RANKS - 1);
	job->step_count = 1 + (int)below(job, MAX_STEPS);
	job->collective_count = 1 + (int)below(job, MAX_COLLECTIVES);
	job->sleeper = (int)below(job, job->rank_count);
	job->late_ns = below(job, 2) ? 0 : below(job, 800 * US);
	for (int rank = 0; rank < job->rank_count; rank++) {
		job->text[rank] = malloc(MAX_BYTES);
		assert_non_null(job->text[rank]);
		put(job, rank, "rank %d host clock=%lld\n", rank,
		    (long long)below(job, 1000000 * US));
	}
	make_steps(job);
}

/* One of three jobs of many lacks a rank, but not the one that sleeps. */
static struct test_world *read_job(struct job *job)
{
	int missing =
		job->rank_count > 2 && below(job, 3) == 0 ? (int)below(job, job->rank_count) : -1;
	char *text = calloc(MAX_RANKS, MAX_BYTES);
	size_t used = 0;

	assert_non_null(text);
	for (int rank = 0; rank < job->rank_count; rank++)
		if (rank != missing || rank == job->sleeper)
			used += (size_t)snprintf(text + used, MAX_RANKS * MAX_BYTES - used, "%s",
						 job->text[rank]);
	struct test_world *w = test_world(text);
	free(text);
	return w;
}

static int64_t own_ns(const struct rank_log *log)
{
	int64_t lines[MAX_STEPS][TSCOPE_BUDGET_LINE_COUNT], sum_ns = 0;

	tsi_rank_log_sum_steps(log, lines);
	for (size_t step = 0; step < log->step_count; step++)
		for (int line = 0; line < TSCOPE_BUDGET_LINE_COUNT; line++)
			sum_ns += line == TSCOPE_BUDGET_EXPOSED_COMM ? 0 : lines[step][line];
	return sum_ns;
}

/* Only waits that are shorter than what ends are late by may be taken for work. */
TEST(own_time_is_what_they_work)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct job job;

		make_job(&job, seed);
		struct test_world *w = read_job(&job);
		int64_t most_ns = 0,
			tolerance_ns = (int64_t)job.step_count * job.collective_count * job.late_ns;
		int64_t most_own = -1;

		for (size_t i = 0; i < w->rank_count; i++) {
			int64_t true_ns = job.own_ns[w->logs[i].rank],
				found_ns = own_ns(&w->logs[i]);

			assert_in_range(found_ns, true_ns, true_ns + tolerance_ns);
			if (found_ns > most_ns) {
				most_ns = found_ns;
				most_own = w->logs[i].rank;
			}
		}
		assert_int_equal(most_own, job.sleeper);
		for (int rank = 0; rank < job.rank_count; rank++)
			free(job.text[rank]);
	}
}
