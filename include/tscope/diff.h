/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_H
#define TSCOPE_DIFF_H

#include <tscope/rules.h>
#include <tscope/run.h>

/*
 * A comparison of two sides: what changed from A to B, whether it is real, and
 * what explains it. A side is anything that tscope_run_open() takes (a run, a trace,
 * a rank, a file about memory), or a report saved as JSON.
 *
 * The result is facts: those of the analyzers step_change, explanation, kernel_changes …
 * (tscope-json(5)), which reports print and gates read.
 */
struct tscope_diff;

enum tscope_side {
	TSCOPE_SIDE_A, /* before */
	TSCOPE_SIDE_B, /* after */
	TSCOPE_SIDE_COUNT,
};

struct tscope_diff_side;

struct tscope_diff_options {
	struct tscope_run_options run;    /* how to read sides that are not saved reports */
	struct tscope_rule_options rules; /* how both sides are diagnosed */
	/* Losses a and b are equal up to |a − b| <= tolerance × max(|a|, |b|); 0: exactly. */
	double loss_tolerance;
	size_t trend_runs; /* of tscope_trend_open(): good runs that make the baseline; 0: 20 */
	/*
	 * Looks at each run or saved report once it is read, also at those of which only figures
	 * stay; lines of a history are none. NULL: nobody does. The side goes with the call.
	 */
	void (*on_side)(void *on_side_data, const struct tscope_diff_side *side);
	void *on_side_data;
};

/*
 * Opens and compares two sides. options may be NULL. The first side that cannot be opened
 * decides the failure: as tscope_run_open(); of a saved report TSCOPE_E_FORMAT (no report of
 * ours), _UNSUPPORTED (of another version, of several inputs, a comparison), _DAMAGED (cut).
 * The message names the path. TSCOPE_E_FORMAT also of rules that tscope_diagnose() does not take.
 */
enum tscope_status tscope_diff_open(struct tscope_diff **ret,
				    const char *const paths[TSCOPE_SIDE_COUNT],
				    const struct tscope_diff_options *options,
				    struct tscope_error *err);

/*
 * More than two: the first is compared with the last, and facts of the analyzer history say what
 * each of them took and where figures changed. Of those between only a few figures stay, so that
 * hundreds of saved reports take no more memory than three. count >= 2.
 */
enum tscope_status tscope_diff_open_many(struct tscope_diff **ret, const char *const *paths,
					 size_t count, const struct tscope_diff_options *options,
					 struct tscope_error *err);

/*
 * A history, oldest run first: of `--format metrics`, whose files hold many runs, and of anything
 * that is a side. The newest run is side B. Side A is the run with the median step of the last
 * good ones before it; a fact is compared with its own median over these. Facts of the analyzer
 * history say where the level of any fact changed. Failures as above.
 */
enum tscope_status tscope_trend_open(struct tscope_diff **ret, const char *const *paths,
				     size_t count, const struct tscope_diff_options *options,
				     struct tscope_error *err);

void tscope_diff_free(struct tscope_diff *diff); /* NULL is fine */

/* The facts of the comparison. */
const struct tscope_analysis *tscope_diff_analysis(const struct tscope_diff *diff);

/* One side. Its pointers are valid as long as the comparison. */
struct tscope_diff_side {
	const char *path;             /* as it was given */
	const struct tscope_run *run; /* NULL: a saved report */
	const char *saved_by;         /* "tscope 0.1.0" of a saved report, else NULL */
	/*
	 * Damage of a saved report's inputs, or of the lines of a history ("PATH: reason"); NULL:
	 * none.
	 */
	const char *saved_damage;
	uint64_t saved_dropped_count; /* and what of them was lost to every figure */
	/* "2 of 3 ranks were read; missing: 1" when a report was saved; NULL: all were. */
	const char *saved_missing_ranks;
	const char *alone;                      /* as tscope_run_alone(), of either kind */
	const char *unsaved_ranks;              /* as tscope_run_unsaved_ranks(), of either kind */
	const struct tscope_analysis *analysis; /* of the whole */
	const struct tscope_diagnosis
		*diagnosis; /* NULL where rules of a rank were not asked for */
	size_t rank_count;
	int64_t rank; /* of tscope_diff_open_rank(): the rank that this side is, or -1; else -1 */
};

struct tscope_diff_side tscope_diff_side(const struct tscope_diff *diff, enum tscope_side side);

/*
 * The rank of B with this index (from 1: of the lowest the whole speaks) by itself, against that of
 * A with its number; where A has none, or is a trend, A is the whole, and its rank -1. For gates on
 * figures that a run takes from its lowest rank: only facts and findings are compared. rules: NULL:
 * facts only. diff must outlive it.
 */
enum tscope_status tscope_diff_open_rank(struct tscope_diff **ret, const struct tscope_diff *diff,
					 size_t index, const struct tscope_rule_options *rules,
					 struct tscope_error *err);

/* Remarks on the comparison as a whole ("A has 8 ranks and B 4 …"), each a line. */
size_t tscope_diff_note_count(const struct tscope_diff *diff);
const char *tscope_diff_note(const struct tscope_diff *diff, size_t index);

#endif
