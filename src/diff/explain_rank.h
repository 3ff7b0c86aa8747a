/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_EXPLAIN_RANK_H
#define TSCOPE_DIFF_EXPLAIN_RANK_H

#include "base/arena.h"
#include "diff/comparison.h"

/*
 * Which rank of two runs explains the change of their step. Ranks wait for each other, so that all
 * steps are as long as that of the rank with most work of its own: the critical one. Its time makes
 * up the step; of the others communication shows no more than that they wait.
 */
struct explained_rank {
	const struct diff_rank *ranks[TSCOPE_SIDE_COUNT];    /* to be explained; never NULL */
	const struct diff_rank *critical[TSCOPE_SIDE_COUNT]; /* the same, of each side by itself */
	bool has_excess; /* there are other ranks to compare with: */
	int64_t excess_ns;
	bool is_one_rank;
};

/* Sides have a rank at least. */
struct explained_rank tsi_explain_rank(const struct comparison *comparison, struct arena *scratch);

/*
 * The explained rank where it has a fact on both sides; else of each side the only rank that has
 * it, or the whole (number -1), which has what any rank has. One rank is the whole.
 */
void tsi_explained_ranks(struct diff_rank ret[TSCOPE_SIDE_COUNT],
			 const struct comparison *comparison, const char *fact,
			 struct arena *scratch);

#endif
