/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_LOAD_H
#define TSCOPE_SESSION_LOAD_H

#include "analyze/ops/graph_log.h"
#include "comm/member_lists.h"
#include "model/trace/merged_ranks.h"
#include "run/find.h"
#include "run/memory_steps.h"
#include "run/metrics.h"
#include "run/rank_file.h"
#include "run/steps.h"

#include <tscope/memory.h>
#include <tscope/run.h>

enum { LOAD_NOTE_CHARS = 256 };

/* Who recorded a trace, and where, as far as it says so. */
struct trace_origin {
	int64_t pid;   /* the process that wrote it, or -1 */
	bool has_unix; /* its times are since 1970, else on a clock of their own */
	bool is_whole; /* it marks no steps and counts as one */
	char host[64], backend[32], device[96]; /* "" if not said */
};

/* A file that was read: facts, steps and metrics. It must not move: input points into it. */
struct loaded {
	/* As the file and its name say it; its rank and window in a run are those of run_item. */
	struct tscope_run_input input;
	struct tscope_error damage;
	uint64_t diagnostics[TSCOPE_DIAGNOSTIC_COUNT];
	char compression[32];
	char note[LOAD_NOTE_CHARS];
	struct step_series steps;
	struct metric_log metrics; /* of a source of metrics; else zero */
	/*
	 * Analysis of a trace or a memory file, mostly closed by now; else NULL. With many mapped
	 * traces it is read on demand: tsi_loaded_analyse().
	 */
	struct tscope_analysis *analysis;
	/* A trace that facts may still be asked of (load.stays_open), or NULL. */
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct rank_frame saved_facts; /* of one that may be read when it is asked for; or zero */
	enum tscope_memory_kind memory_kind; /* of a file about memory */
	struct memory_steps memory_steps;    /* of statistics of memory; else zero */
	int64_t start_ns, end_ns;            /* of a trace; Unix time where it says so */
	struct trace_origin origin;          /* of a trace */
	struct rank_log log;                 /* of a trace, where it was asked for; else zero */
	bool is_capture;            /* a trace of the capture of graphs: nothing of it ran */
	struct graph_log *graphs;   /* of a capture, where it was asked for; else NULL */
	bool has_replays;           /* a trace that replays graphs */
	struct merged_ranks merged; /* of a trace of several ranks, of which no more is kept */
	struct arena texts;         /* of what was saved (rank_record.h) */
};

/* Frees what it holds, and empties it. */
void tsi_loaded_deinit(struct loaded *loaded);

/* Frees a result of tsi_load_files(); NULL is fine. */
void tsi_loaded_free(struct loaded *loaded);

/*
 * Reads facts that were saved and are not read yet; TSCOPE_E_DAMAGED with the path in front. They
 * go again with forget.
 */
TSI_MUST_CHECK
enum tscope_status tsi_loaded_analyse(struct loaded *loaded, struct tscope_error *err);
void tsi_loaded_forget_analysis(struct loaded *loaded);

/* Adds a remark on the file; what does not fit is left out. */
TSI_PRINTF(2, 3)
void tsi_loaded_note(struct loaded *loaded, const char *format, ...);

/* A file to be read, and what came of it. */
struct load {
	struct run_file file;           /* its texts must outlive loaded */
	const struct rank_filter *only; /* the rank of a merged trace that is read; or NULL: all */
	bool keeps_log;                 /* of a trace: there are others to compare it with */
	struct member_lists *lists;     /* where those of the log go; NULL: they stay in it */
	bool keeps_graphs;              /* of a capture: for those that replay its graphs */
	bool stays_open; /* of a trace: facts that few reports show are computed when asked for */
	/* Logs of graphs that the trace replays; they must outlive the loading. */
	const struct graph_log *const *graphs;
	size_t graph_log_count;
	struct loaded *loaded; /* set, unless it failed; the caller frees it */
	enum tscope_status status;
	struct tscope_error error;
};

/*
 * Reads all files, several at a time, as far as threads may work; files about memory one by one,
 * since each needs more than its own size. Fails only where there is no memory to begin; what is
 * wrong with a file stands in its load.
 */
TSI_MUST_CHECK
enum tscope_status tsi_load_files(struct load *const *loads, size_t count,
				  const struct tscope_run_options *options,
				  struct tscope_error *err);

/* The readers of load_file.c, one for each kind of file; loaded->steps is empty. */
TSI_MUST_CHECK
enum tscope_status tsi_load_trace(struct loaded *loaded, const struct load *load,
				  const struct tscope_run_options *options,
				  struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_load_steps(struct loaded *loaded, const struct run_file *file,
				  const struct tscope_run_options *options,
				  struct tscope_error *err);
TSI_MUST_CHECK
enum tscope_status tsi_load_metrics(struct loaded *loaded, const struct run_file *file,
				    const struct tscope_run_options *options,
				    struct tscope_error *err);

/* Keeps what ended the reading early, where something was read before. */
void tsi_loaded_keep_damage(struct loaded *loaded, enum tscope_status status,
			    const struct tscope_error *err);

#endif
