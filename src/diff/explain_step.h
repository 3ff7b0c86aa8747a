/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_DIFF_EXPLAIN_STEP_H
#define TSCOPE_DIFF_EXPLAIN_STEP_H

#include "base/arena.h"
#include "base/sum.h"
#include "diff/comparison.h"

/*
 * The mean step of one rank as lines that sum to it in integer ns: those of the budget of its
 * devices, of the budget of its host, or phases. Made of facts, so that a saved report has them,
 * too.
 */
enum step_source {
	STEP_SOURCE_NONE, /* no step is timed */
	STEP_SOURCE_PHASES,
	STEP_SOURCE_HOST_BUDGET,
	STEP_SOURCE_BUDGET,
};

/* "phases", "host_budget", "budget"; "" of none. */
const char *tsi_step_source_name(enum step_source source);

/* The most detailed lines that a rank has. */
enum step_source tsi_step_source(const struct tscope_analysis *rank);

/* The most detailed lines that both have: phases are there wherever there are times. */
enum step_source tsi_common_step_source(enum step_source a, enum step_source b);

/*
 * Parts of a sum as means that sum to the mean of it: each is what the rounded mean of the
 * sum up to it has more than the one before. Starts as { .count = … }.
 */
struct mean_parts {
	tsi_wide sum;
	int64_t count; /* > 0 */
	int64_t mean_ns;
};

int64_t tsi_next_mean(struct mean_parts *parts, int64_t total_ns);

struct step_line {
	const char *name;       /* "compute", "host.data", "forward", "outside" … */
	const char *column;     /* its steps in series.steps, or NULL */
	struct mean_parts from; /* where the means of what is in it begin; count 0: nowhere */
	int64_t ns;             /* of the mean step */
};

struct step_lines {
	struct step_line *items;
	size_t count, capacity;
	int64_t mean_ns; /* of the step: what the lines sum to */
};

/*
 * The lines of a rank that has `source`, zeros included. Where the trace has other steps than the
 * rank's own records, "outside" is what its lines do not explain.
 */
struct step_lines tsi_step_lines(const struct tscope_analysis *rank, enum step_source source,
				 struct arena *arena);

/* The mean step; 0 where no step is timed. */
int64_t tsi_mean_step_ns(const struct tscope_analysis *rank);
/*
 * Time of a mean step without waiting for other ranks, so without communication. Absent: unknown.
 */
struct tscope_value tsi_own_step_ns(const struct tscope_analysis *rank);

#endif
