/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_MERGED_RANKS_H
#define TSCOPE_MODEL_TRACE_MERGED_RANKS_H

#include "model/trace/trace.h"

/* Whose events a merged file holds, and reading those of one rank. */

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
