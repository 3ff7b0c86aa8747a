/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_MODEL_TRACE_MERGED_RANKS_H
#define TSCOPE_MODEL_TRACE_MERGED_RANKS_H

#include "model/trace/trace.h"

/*
 * Whose events a merged file holds, and reading those of one rank. Composer says it of threads;
 * other mergers of processes: SGLang's profile merger, TraceLens's TraceFuse, and the scripts that
 * write the rank into the pid, before each name or into that of the process, "Rank 3".
 */

/* The rank that an M event gives a process. */
struct process_rank {
	uint32_t pid; /* id of its text */
	int64_t rank;
};

/* A thread of a rank, or all of a process (tid ""), by pid and tid as texts. */
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
	bool is_in_names; /* of all events */
	bool is_said;     /* of each process; else the pid is the rank where no thread says it */
	/* The rank in the text of a pid; NULL: the threads say it. */
	int64_t (*rank_of)(struct str pid);
	bool is_counted; /* ranks are numbers in order, those of several jobs among them */
	int64_t *places; /* of the ranks, where it is these that rank_of reads; or NULL */
	bool is_mixed;   /* a process has threads of several ranks */
	bool is_shifted; /* the merger moved all ranks to the clock of the lowest one */
	int64_t sync_ns; /* of that one, or NO_NUMBER */
};

void tsi_merged_ranks_deinit(struct merged_ranks *merged); /* fine on a zeroed struct */

/* Fills merged; rank_count is 0 where the trace is of one rank, or nobody says. */
TSI_MUST_CHECK
enum tscope_status tsi_merged_ranks_of(struct merged_ranks *merged,
				       const struct tscope_trace *trace, struct tscope_error *err);

/* To read the events of one rank only. */
struct rank_filter {
	const struct merged_ranks *merged;
	int64_t rank;
};

/* It holds the events of several processes or ranks: its figures mix them. */
static inline bool tsi_is_mixed(const struct tscope_trace *trace)
{
	return trace->diagnostics[TSCOPE_DIAGNOSTIC_other_process] > 0;
}

struct builder;
struct raw_event;

/* To know by options.only whose events come. */
void tsi_know_rank_threads(struct builder *b);
bool tsi_is_of_rank(const struct builder *b, const struct raw_event *event);
/* An event of the rank, without the rank before its name. */
struct raw_event tsi_event_of_rank(const struct builder *b, const struct raw_event *event);
/* Keeps the rank that a merger put into the process_name of a process, if it did. */
void tsi_note_process_rank(struct builder *b, const struct raw_event *event);

#endif
