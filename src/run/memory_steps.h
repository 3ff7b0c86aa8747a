/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_MEMORY_STEPS_H
#define TSCOPE_RUN_MEMORY_STEPS_H

#include "model/memory/memory_stats.h"
#include "run/steps.h"

/*
 * Memory at the end of each training step, from the statistics of finetuning-scheduler. That
 * numbers the calls of training_step from 1, and Lightning, whose profiler it is, steps from 0:
 * iteration 1 is step 0. (Where gradients are accumulated a step has several calls; nothing in the
 * file says so.)
 */
struct memory_step {
	int64_t rank, number;
	int64_t bytes[STEP_MEMORY_COUNT]; /* or NO_BYTES */
	int64_t rss_bytes;                /* of the process, or NO_BYTES */
};

struct memory_steps {
	struct memory_step *items; /* by rank and number */
	size_t count;
};

/* On failure it may be deinited. */
TSI_MUST_CHECK
enum tscope_status tsi_memory_steps_init(struct memory_steps *memory,
					 const struct memory_stats *stats,
					 struct tscope_error *err);
void tsi_memory_steps_deinit(struct memory_steps *memory); /* fine on a zeroed struct */

/*
 * Puts them beside the steps of their rank: memory that records lack into these, and the
 * process's among the scalars, as "rss". Returns how many records lacked some.
 */
size_t tsi_memory_steps_join(struct step_series *steps, const struct memory_steps *memory);

#endif
