/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_SESSION_OPEN_DIFF_H
#define TSCOPE_SESSION_OPEN_DIFF_H

#include "analyze/saved_report.h"
#include "diff/comparison.h"

enum { NOTE_CHARS = 640, MAX_NOTES = 7 }; /* of ranks, and three of each side */

struct side {
	const char *path;
	struct tscope_run *run; /* NULL: */
	struct saved_report saved;
	const char *saved_missing_ranks, *unsaved_ranks; /* NULL: none */
	/* Facts of a run that is lines of a history, or is compared with such; else NULL. */
	struct tscope_analysis *facts;
	struct tscope_diagnosis *diagnosis;
	struct diff_rank *ranks;
	size_t rank_count;
	bool is_of_rank; /* it is ranks[0] of another comparison's side, and borrows it */
};

struct tscope_diff {
	struct arena arena; /* owns paths and lists of ranks */
	struct side sides[TSCOPE_SIDE_COUNT];
	struct history_run *runs; /* of all, where there are more than two sides */
	size_t run_count;
	struct history *history; /* of a trend (open_trend.c), else NULL */
	struct trend trend;
	struct tscope_analysis *analysis;
	char notes[MAX_NOTES][NOTE_CHARS];
	size_t note_count;
};

/* Opens the side with this path, of which no more is set. Close it also where that fails. */
TSI_MUST_CHECK
enum tscope_status tsi_open_side(struct side *side, const struct tscope_diff_options *options,
				 struct arena *arena, struct tscope_error *err);
void tsi_close_side(struct side *side);

const struct tscope_analysis *tsi_side_analysis(const struct side *side);

/* Compares what stands in `diff`. */
TSI_MUST_CHECK
enum tscope_status tsi_compare_sides(struct tscope_diff *diff,
				     const struct tscope_diff_options *options,
				     struct tscope_error *err);

void tsi_history_free(struct history *history); /* NULL is fine */

#endif
