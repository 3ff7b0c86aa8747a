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

struct run_rank {
	const struct tscope_analysis *trace_analysis; /* of its longest window, or NULL */
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
	size_t step_item_count; /* of these, traces and step records; those of memory follow */
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

/* Notes which files about memory a joined run has that do not speak in its report. */
TSI_MUST_CHECK
enum tscope_status tsi_run_memory_note(struct tscope_run *run, struct tscope_error *err);

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
