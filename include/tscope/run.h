/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RUN_H
#define TSCOPE_RUN_H

#include <stdio.h>
#include <tscope/analysis.h>

/*
 * A run: everything that one job left behind, rank by rank, put on one step
 * timeline and analysed. Traces are opened, analysed and closed again one after
 * the other, so memory grows with the steps and not with the files.
 */
struct tscope_run;

struct tscope_run_options {
	struct tscope_trace_options trace;
	struct tscope_timeline_options
		timeline; /* its marks and range also apply to step records */
	struct tscope_analysis_options analysis;
	bool one_run; /* take files for one run although what they say speaks against it */
};

/*
 * Opens files and folders. options may be NULL.
 *
 * Unreadable inputs become problems of the run (tscope_run_other); the rest is still analysed.
 * TSCOPE_E_EMPTY: nothing is left to analyse; the message says what was looked for. A single path
 * fails with its own error. TSCOPE_E_DAMAGED: the files contradict each other (two claim one rank
 * at one time). TSCOPE_E_IO: a path does not exist.
 */
enum tscope_status tscope_run_open(struct tscope_run **ret, const char *const *paths, size_t count,
				   const struct tscope_run_options *options,
				   struct tscope_error *err);

void tscope_run_free(struct tscope_run *run);

/*
 * Several runs, for paths with files of more than one job. Files that contradict each other (step
 * records of one rank in two folders, different world sizes, different values of a metric at the
 * same steps) belong to different runs: each of their folders below the common one is opened as a
 * run of its own. Traces of one rank that overlap in time are not a contradiction: a file name may
 * state the wrong rank.
 */
struct tscope_runs;

/* As tscope_run_open(), but resolves contradictions this way if possible. */
enum tscope_status tscope_runs_open(struct tscope_runs **ret, const char *const *paths,
				    size_t count, const struct tscope_run_options *options,
				    struct tscope_error *err);
void tscope_runs_free(struct tscope_runs *runs);

/* One at least; in the order of their folders. */
size_t tscope_runs_count(const struct tscope_runs *runs);
const struct tscope_run *tscope_runs_get(const struct tscope_runs *runs, size_t index);

/*
 * Why the run is not one with an earlier one whose files may lie in the same folders ("separate
 * from …: backend nccl here, gloo there"), which is also a note; "": it is the first of these;
 * NULL: it has folders of its own.
 */
const char *tscope_run_apart(const struct tscope_run *run);

/*
 * Which ranks of a run of several are missing ("2 of 3 ranks were read; missing: 2"), and why
 * figures over ranks are not whole: these, a file that was not read or a damaged one. NULL: they
 * are.
 */
const char *tscope_run_missing_ranks(const struct tscope_run *run);
const char *tscope_run_incomplete(const struct tscope_run *run);

/*
 * "1 of 64 ranks was read": what there is may be all that was asked about, or not. NULL: all were
 * read, or several.
 */
const char *tscope_run_alone(const struct tscope_run *run);

/*
 * Whether each of its files was given by its own path, so that it was asked about by itself; of a
 * saved report, whether those that it was made of were.
 */
bool tscope_run_is_named(const struct tscope_run *run);

/*
 * Why nothing is known of some ranks by themselves, though figures over all of them are whole: the
 * run is a report saved without them. NULL: all are there.
 */
const char *tscope_run_unsaved_ranks(const struct tscope_run *run);

/* Facts of the whole run. Facts that are not reduced over ranks are those of the lowest rank. */
const struct tscope_analysis *tscope_run_analysis(const struct tscope_run *run);

/* Ranks, in ascending order. A run has at least one. */
size_t tscope_run_rank_count(const struct tscope_run *run);
int64_t tscope_run_rank_number(const struct tscope_run *run, size_t rank); /* -1: not said */

/*
 * Facts of a rank, computed when they are first asked for, by one thread at a time. NULL: there is
 * no such rank. Where memory runs out, or what was mapped of the rank cannot be read, they are
 * those of the lowest rank, and tscope_run_status() says so.
 */
const struct tscope_analysis *tscope_run_rank_analysis(const struct tscope_run *run, size_t rank);

/* Frees the facts of a rank until they are asked for again, for who reads thousands one by one. */
void tscope_run_forget_rank(const struct tscope_run *run, size_t rank);

/* Error that kept facts of a rank from being made: TSCOPE_E_NOMEM; _DAMAGED: a mapped record. */
enum tscope_status tscope_run_status(const struct tscope_run *run, struct tscope_error *err);

/* A step as the analyzers see it, for a sketch of the run. */
struct tscope_run_step {
	int64_t number;
	int64_t time_ns; /* where is_timed */
	double loss;     /* where has_loss; any double */
	bool is_timed;   /* its time is known, and it is not marked (warm-up ...) */
	bool has_loss;
};

/* The steps of a rank, in the order of time; or of all: there the slowest rank's, step by step. */
#define TSCOPE_ALL_RANKS SIZE_MAX
size_t tscope_run_step_count(const struct tscope_run *run, size_t rank);
struct tscope_run_step tscope_run_step(const struct tscope_run *run, size_t rank, size_t index);

/* Activity of one rank of several, from its traces, for drawing. Times of all are on one clock. */
enum tscope_run_span_kind {
	TSCOPE_RUN_STEP,
	TSCOPE_RUN_OWN_TIME,   /* between standstills for collectives: its time by line */
	TSCOPE_RUN_COLLECTIVE, /* or a send, or a receive */
};

struct tscope_run_span {
	int64_t start_ns, dur_ns;
	int64_t number;   /* of the step; of a collective the same on all its ranks, or -1 */
	int64_t wait_ns;  /* of a collective, for the last rank to come */
	const char *name; /* of a collective: "all_reduce"; else NULL */
	int64_t line_ns[TSCOPE_BUDGET_LINE_COUNT]; /* of own time: sums to dur_ns */
};

/* In the order of time; none of a run of one rank, or without traces. */
size_t tscope_run_span_count(const struct tscope_run *run, size_t rank,
			     enum tscope_run_span_kind kind);
struct tscope_run_span tscope_run_span(const struct tscope_run *run, size_t rank,
				       enum tscope_run_span_kind kind, size_t index);

enum tscope_input_kind {
	TSCOPE_INPUT_TRACE,
	TSCOPE_INPUT_STEPS,   /* step records */
	TSCOPE_INPUT_MEMORY,  /* tscope/memory.h */
	TSCOPE_INPUT_METRICS, /* metrics by step: metrics.csv, TensorBoard, MLflow */
	TSCOPE_INPUT_DUMP,    /* tscope/hang.h */
	TSCOPE_INPUT_REPORT,  /* a report that was saved as JSON: it stands for the files */
	TSCOPE_INPUT_KIND_COUNT,
};

/* The unit of an input's counts: "events", "lines", "records", "values", "entries". Never NULL. */
const char *tscope_input_kind_unit(enum tscope_input_kind kind);

/* A file that was read. Strings live as long as the run. */
struct tscope_run_input {
	enum tscope_input_kind kind;
	const char *path;
	const char *format;      /* "kineto" …, "steps_jsonl", "snapshot" … */
	const char *compression; /* "none", "gzip" … */
	uint64_t source_bytes, bytes;
	uint64_t event_count;   /* events of a trace, lines of step records, records of memory */
	uint64_t dropped_count; /* of these, lost to every figure */
	uint64_t step_count;
	int64_t rank;    /* -1: not said */
	unsigned window; /* 0, 1 …: several traces of one rank, in the order of time */
	const struct tscope_error *damage; /* what ended the reading early, or NULL */
	const uint64_t *diagnostics;       /* of a trace, by enum tscope_diagnostic; else NULL */
	/* A note for the user ("the last line is incomplete"), or "". */
	const char *note;
};

size_t tscope_run_input_count(const struct tscope_run *run);
struct tscope_run_input tscope_run_input(const struct tscope_run *run, size_t index);

/* Files that are not in the figures: found in a folder, and not ours or not readable. */
struct tscope_run_other {
	const char *path;
	const char *reason;
	bool is_problem;  /* it should have been read: damaged, refused, unreadable */
	bool is_named;    /* it was given as a file, not found in a folder */
	bool is_capture;  /* a trace of the capture of graphs, which is no part of a run */
	bool is_left_out; /* it was read, and its rank compares with no other: a problem */
};

size_t tscope_run_other_count(const struct tscope_run *run);
struct tscope_run_other tscope_run_other(const struct tscope_run *run, size_t index);

/*
 * Every file that was read, or would have been if it could: with what lies beside it and counts
 * with it, what was left out, as copies are, and files of tscope map. Folders that are stores of
 * metrics as a whole. None of them is to be written over.
 */
size_t tscope_run_source_count(const struct tscope_run *run);
const char *tscope_run_source(const struct tscope_run *run, size_t index);
size_t tscope_runs_source_count(const struct tscope_runs *runs);
const char *tscope_runs_source(const struct tscope_runs *runs, size_t index);

/* Files that belong to none of several runs, and folders without a run. */
size_t tscope_runs_other_count(const struct tscope_runs *runs);
struct tscope_run_other tscope_runs_other(const struct tscope_runs *runs, size_t index);

/* Remarks on the run as a whole ("rank 5 of 8 is missing"), each a line. */
size_t tscope_run_note_count(const struct tscope_run *run);
const char *tscope_run_note(const struct tscope_run *run, size_t index);

/*
 * Writes the steps of a rank as pytscope's steps.jsonl, and what it keeps in
 * run.json beside it; our budget lines are further keys. Reading them again
 * gives the same step-level facts. TSCOPE_E_WRITE.
 */
enum tscope_status tscope_run_write_steps(FILE *out, const struct tscope_run *run, size_t rank,
					  struct tscope_error *err);
enum tscope_status tscope_run_write_meta(FILE *out, const struct tscope_run *run, size_t rank,
					 struct tscope_error *err);

#endif
