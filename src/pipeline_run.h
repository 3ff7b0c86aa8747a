/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_PIPELINE_RUN_H
#define TSCOPE_PIPELINE_RUN_H

#include "base/attributes.h"
#include "comm/replay.h"
#include "pipeline_run_memory.h"
#include "run/group.h"

/* A run, for those who build it (pipeline_run.c) and show it (pipeline_run_view.c). */

/* A file that is not in the figures. */
struct other {
	struct tscope_run_other shown;
	struct tscope_error error;
};

/* Of traces of one rank and time: the deeper they are, the more they tell of steps. */
enum trace_depth { DEPTH_PYTHON, DEPTH_COMPOSER, DEPTH_TORCH, DEPTH_COUNT };

struct run_rank {
	const struct tscope_analysis *trace_analysis; /* of its longest window, or NULL */
	/* Of the longest of each kind that stands beside; the others are NULL. */
	const struct loaded *beside[DEPTH_COUNT];
	struct run_memory memory;
	struct tscope_analysis *analysis;
};

enum { RUN_NOTE_CHARS = 1024 }; /* has a path in it, and words */

struct run_note {
	char text[RUN_NOTE_CHARS];
};

struct tscope_run {
	struct run_files files; /* own the paths */
	struct loaded *loaded;  /* by file; zero where it was not read */
	size_t read_count;      /* of them, those that were */
	struct run_item *items; /* the loaded ones in the order of rank and window */
	size_t item_count;      /* of them, those that take part; the strays follow */
	size_t step_item_count; /* of these, those of ranks with steps; memory's and apart follow */
	struct other *others;
	size_t other_count;
	struct step_series *series; /* by rank */
	struct run_rank *ranks;
	size_t rank_count;
	struct rank_log *logs; /* by rank; empty where it has no trace. NULL of a single rank */
	struct world *world;   /* of ranks with traces, where two or more communicate; or NULL */
	struct replay_graph *replay_graph; /* of it, where anything matches; or NULL */
	struct step_series slowest;        /* of several ranks */
	struct run_memory memory;
	struct tscope_analysis *analysis;
	struct run_note *notes;
	size_t note_count, note_capacity;
};

/*
 * Opens a run as tscope_run_open() does, but hands out what there is of it on failure, too, so
 * that pipeline_runs.c can see why. The caller frees *ret in either case; NULL: no memory.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_open(struct tscope_run **ret, const char *const *paths, size_t count,
				const struct tscope_run_options *options, struct tscope_error *err);

/* Two files that cannot be of one run, by their paths; NULL, NULL: there are none. */
struct run_conflict {
	const char *first, *second;
};

/*
 * Looks for files of a grouped run (or of one that could not be grouped) that contradict each
 * other by what they say, and lie in different folders. Traces that overlap in time do not count.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_find_conflict(const struct tscope_run *run,
					 struct run_conflict *conflict, struct tscope_error *err);

/* TSCOPE_E_DAMAGED: metrics of a grouped run contradict others, or step records. */
TSI_MUST_CHECK
enum tscope_status tsi_run_check_metrics(const struct tscope_run *run, struct tscope_error *err);

/* Counts the steps of windows on, where no mark numbers them; before ranks are joined. */
TSI_MUST_CHECK
enum tscope_status tsi_run_count_steps(struct tscope_run *run, struct tscope_error *err);

/* How deep a trace is (enum trace_depth); 0 for what is none. */
unsigned char tsi_depth_of(const struct loaded *loaded);

/* Keeps the trace of an item beside those that the rank's steps are made of. */
void tsi_run_keep_beside(struct run_rank *rank, struct loaded *loaded);

/* Lets the traces that stand beside answer where the analysis of the rank has nothing to say. */
void tsi_run_put_beside(const struct run_rank *rank);

/* Makes a series of each rank of a grouped run. */
TSI_MUST_CHECK
enum tscope_status tsi_run_join(struct tscope_run *run, struct tscope_error *err);

/* Says so where steps were read and every one is left out of the figures. */
TSI_MUST_CHECK
enum tscope_status tsi_run_note_no_step(struct tscope_run *run, struct tscope_error *err);

/*
 * Joins the files of metrics at [first, end) of the run's items to the steps of its last rank,
 * which they belong to.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_join_metrics(struct tscope_run *run, size_t first, size_t end,
					struct tscope_error *err);

/*
 * Finishes the names of metrics by their folders, marks values whose steps count something else
 * than the job's, and notes how many there are. Before files are grouped and compared.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_prepare_metrics(struct tscope_run *run, struct tscope_error *err);

/* Gives each role to one metric of a rank, once all of its steps are there. */
TSI_MUST_CHECK
enum tscope_status tsi_run_settle_metrics(struct tscope_run *run,
					  const struct tscope_run_options *options,
					  struct tscope_error *err);

/*
 * Reads traces that Composer merged again, once for each rank whose own trace is not there: run and
 * jobs have a file for each of these then. jobs is the caller's array of those that are done.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_split_merged(struct tscope_run *run, struct load_job **jobs,
					const struct tscope_run_options *options,
					struct tscope_error *err);

/* Notes which files about memory and of metrics a joined run has that its report does not show. */
TSI_MUST_CHECK
enum tscope_status tsi_run_note_files(struct tscope_run *run, struct tscope_error *err);

/*
 * Joins the logs of the ranks' traces to a world, if two or more communicate, writes into the
 * ranks' budgets what part of communication is waiting, and makes the graph of replays.
 */
TSI_MUST_CHECK
enum tscope_status tsi_run_join_world(struct tscope_run *run, struct tscope_error *err);

/* Adds a remark about the run; what does not fit is left out. */
TSI_PRINTF(3, 4)
TSI_MUST_CHECK
enum tscope_status tsi_run_add_note(struct tscope_run *run, struct tscope_error *err,
				    const char *format, ...);

#endif
