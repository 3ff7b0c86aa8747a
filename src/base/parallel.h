/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_BASE_PARALLEL_H
#define TSCOPE_BASE_PARALLEL_H

#include "base/attributes.h"

#include <stddef.h>
#include <tscope/error.h>

/*
 * Jobs that need nothing of each other, done by several threads: each takes the next that nobody
 * has begun.
 */
struct job {
	/* lane: 0 … thread_count - 1; jobs of one lane never run at once. 0 is the caller's. */
	enum tscope_status (*run)(void *argument, unsigned lane, struct tscope_error *err);
	void *argument;
};

/*
 * Runs the jobs by up to thread_count threads (at least 1), the caller's included. A thread that
 * the system denies only costs time; with one, or one job, none is made. The first
 * failing job's error is returned; those behind it may not have run.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_jobs(const struct job *jobs, size_t count, unsigned thread_count,
				struct tscope_error *err);

#endif
