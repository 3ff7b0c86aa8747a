/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_EXPLAIN_PARTS_H
#define TSCOPE_DIFF_EXPLAIN_PARTS_H

#include "analyze/facts.h"
#include "diff/explain_step.h"

/*
 * The lines of two mean steps side by side, and what is in them (breakdown.parts), matched: kernels
 * and operators as work_match.h does, anything else by its name.
 */
struct explained_line {
	const char *name;
	const char *column;                        /* as in struct step_line */
	struct mean_parts from[TSCOPE_SIDE_COUNT]; /* the same */
	int64_t ns[TSCOPE_SIDE_COUNT];
};

struct explained_part {
	size_t line; /* index in lines */
	const char *kind;
	const char *name;   /* of B, or of A where that has it alone; NULL: what nothing names */
	const char *a_name; /* where it differs, or NULL */
	const char *change; /* "new", "gone", "replaced", "slower", "less_hidden" … */
	int64_t ns[TSCOPE_SIDE_COUNT];
	bool is_lone, is_joined; /* only one side has it; several kernels are one part */
	unsigned certainty;      /* enum certainty, once judged (explain_certainty.h) */
};

struct explained_step {
	struct explained_line *lines; /* by name; those that neither side has are left out */
	size_t line_count;
	struct explained_part *parts;
	size_t part_count, part_capacity;
};

/* Puts lines of one name together. All that is explained lives in the arena. */
struct explained_step tsi_explain_lines(const struct step_lines sides[TSCOPE_SIDE_COUNT],
					struct arena *arena);

/*
 * Finds the parts of each line, which sum to it on either side; none where a rank has no breakdown.
 * They live in the sheet's scratch, joined names as long as the sheet.
 */
void tsi_explain_parts(struct explained_step *step,
		       const struct tscope_analysis *const ranks[TSCOPE_SIDE_COUNT],
		       struct fact_sheet *out);

#endif
