/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_COMPOSER_H
#define TSCOPE_MODEL_TRACE_COMPOSER_H

#include "model/trace/trace.h"

/*
 * Composer's JSONTraceHandler: spans "event/…" of the training loop, "callback/…" and
 * "algorithm/…" of what is hooked into it, and a file for each rank. Its merger writes the
 * events of several ranks into one file, with the rank as the pid.
 */

/* "callback/CheckpointSaver/event/batch_end": callback, CheckpointSaver, batch_end. */
struct callback_name {
	struct str kind; /* "callback", "algorithm" */
	struct str name; /* of the class */
	struct str event;
};

/* False: it is no such name. */
bool tsi_callback_name(struct str text, struct callback_name *ret);

/* True for Composer's own profiler: without it these callbacks are not there. */
bool tsi_is_profiler_callback(const struct callback_name *name);

/* True for names that Composer's profiler gives: "event/batch", "dataloader/train" … */
bool tsi_is_composer_name(struct str name);

/* True for "event/train_batch". */
static inline bool tsi_is_train_batch(struct str name)
{
	return tsi_str_starts(name, "event/train_batch");
}

/* A name of an evaluation: "event/eval", "event/eval_batch" … */
bool tsi_is_evaluation(struct str name);

/* The thread that a rank's training loop ran in, by pid and tid as texts. */
enum { RANK_THREAD_CHARS = 24 };
struct rank_thread {
	char pid[RANK_THREAD_CHARS], tid[RANK_THREAD_CHARS];
	int64_t rank;
};

/* The ranks whose events a file holds, where these are two or more. */
struct merged_ranks {
	int64_t *ranks; /* ascending */
	size_t rank_count;
	struct rank_thread *threads;
	size_t thread_count;
	bool is_mixed;   /* a process has threads of several ranks */
	bool is_shifted; /* the merger moved all ranks to the clock of the lowest one */
	int64_t sync_ns; /* of that one, or NO_NUMBER */
};

void tsi_merged_ranks_deinit(struct merged_ranks *merged); /* fine on a zeroed struct */

/* Fills merged; rank_count is 0 where the trace is of one rank, or nobody says. */
TSI_MUST_CHECK
enum tscope_status tsi_merged_ranks_of(struct merged_ranks *merged,
				       const struct tscope_trace *trace, struct tscope_error *err);

/* To read the events of one rank only; of threads that merged does not know the pid is the rank. */
struct rank_filter {
	const struct merged_ranks *merged;
	int64_t rank;
};

#endif
