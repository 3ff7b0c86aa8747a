/* SPDX-License-Identifier: MIT */
/*
 * A table of jobs as a closed queue that all threads empty. The result of a job is kept beside it
 * until all have ended, so that the outcome does not depend on who was faster.
 */
#include "base/parallel.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/queue.h"

struct outcome {
	const struct job *job;
	enum tscope_status status;
	struct tscope_error error;
};

struct worker {
	struct queue *outcomes; /* of jobs that nobody has begun */
	struct thread *thread;
	unsigned lane;
};

static void work(void *argument)
{
	struct worker *worker = argument;
	struct outcome *outcome;

	while ((outcome = tsi_queue_pop(worker->outcomes)))
		outcome->status =
			outcome->job->run(outcome->job->argument, worker->lane, &outcome->error);
}

static enum tscope_status run_alone(const struct job *jobs, size_t count, struct tscope_error *err)
{
	enum tscope_status status = TSCOPE_OK;

	for (size_t i = 0; status == TSCOPE_OK && i < count; i++)
		status = jobs[i].run(jobs[i].argument, 0, err);
	return status;
}

static void run_together(struct queue *queue, struct worker *workers, unsigned worker_count)
{
	unsigned started = 1; /* the caller */

	workers[0] = (struct worker){ .outcomes = queue };
	for (; started < worker_count; started++) {
		struct worker *worker = &workers[started];

		*worker = (struct worker){ .outcomes = queue, .lane = started };
		if (tsi_thread_start(&worker->thread, work, worker, NULL) != TSCOPE_OK)
			break;
	}
	work(&workers[0]);
	while (started-- > 1)
		tsi_thread_join(workers[started].thread);
}

static enum tscope_status first_failure(const struct outcome *outcomes, size_t count,
					struct tscope_error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (outcomes[i].status == TSCOPE_OK)
			continue;
		if (err)
			*err = outcomes[i].error;
		return outcomes[i].status;
	}
	return TSCOPE_OK;
}

enum tscope_status tsi_run_jobs(const struct job *jobs, size_t count, unsigned thread_count,
				struct tscope_error *err)
{
	unsigned worker_count = thread_count < count ? thread_count : (unsigned)count;
	struct outcome *outcomes = NULL;
	struct worker *workers = NULL;
	struct queue *queue = NULL;

	if (worker_count < 2)
		return run_alone(jobs, count, err);
	enum tscope_status status = tsi_array_new(&outcomes, count, sizeof(*outcomes), err);
	if (status == TSCOPE_OK)
		status = tsi_array_new(&workers, worker_count, sizeof(*workers), err);
	if (status == TSCOPE_OK)
		status = tsi_queue_new(&queue, count, err);
	if (status == TSCOPE_OK) {
		bool is_open = true;
		for (size_t i = 0; is_open && i < count; i++) {
			outcomes[i].job = &jobs[i];
			is_open = tsi_queue_push(queue, &outcomes[i]);
		}
		tsi_queue_close(queue);
		run_together(queue, workers, worker_count);
		status = first_failure(outcomes, count, err);
	}
	tsi_queue_free(queue);
	free(workers);
	free(outcomes);
	return status;
}
