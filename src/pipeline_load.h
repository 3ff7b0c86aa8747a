/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_PIPELINE_LOAD_H
#define TSCOPE_PIPELINE_LOAD_H

#include "comm/rank_log.h"
#include "model/trace/composer.h"
#include "run/find.h"
#include "run/memory_steps.h"
#include "run/metrics.h"
#include "run/steps.h"

#include <tscope/memory.h>
#include <tscope/run.h>

enum { LOAD_NOTE_CHARS = 256 };

/*
 * A file of a run that was read, and what is kept of it. It must stay where it
 * is: input points into it.
 */
struct loaded {
	struct tscope_run_input input;
	struct tscope_error damage;
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	char compression[32];
	char note[LOAD_NOTE_CHARS];
	struct step_series steps;
	struct metric_log metrics;           /* of a source of metrics; else zero */
	struct tscope_analysis *analysis;    /* of a trace or of memory, closed by now; else NULL */
	enum tscope_memory_kind memory_kind; /* of a file about memory */
	struct memory_steps memory_steps;    /* of statistics of memory; else zero */
	int64_t start_ns, end_ns;            /* of a trace; Unix time where it says so */
	struct rank_log log;                 /* of a trace, where it was asked for; else zero */
	struct merged_ranks merged; /* of a trace of several ranks, of which no more is kept */
};

/* A file to be read (NULL: none, the job is left out), where to, and what came of it. */
struct load_job {
	const struct run_file *file;    /* one to be read; its path must outlive loaded */
	struct loaded *loaded;          /* to be deinited, on failure, too */
	bool keeps_log;                 /* of a trace: there are others to compare it with */
	const struct rank_filter *only; /* of a merged trace, the rank that is read; or NULL */
	enum tscope_status status;
	struct tscope_error error;
};

/*
 * Does all jobs, several at a time, as far as threads may work; files about memory one by one,
 * since each needs more than its own size. Fails only where
 * there is no memory to begin; what is wrong with a file stands in its job.
 */
TSI_MUST_CHECK
enum tscope_status tsi_load_files(struct load_job *jobs, size_t count,
				  const struct tscope_run_options *options,
				  struct tscope_error *err);
void tsi_loaded_deinit(struct loaded *loaded);

/* Moves from to its new place, which holds nothing; from is zeroed. */
void tsi_loaded_move(struct loaded *to, struct loaded *from);

#endif
