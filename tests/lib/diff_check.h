/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_DIFF_CHECK_H
#define TSCOPE_TESTS_DIFF_CHECK_H

#include "analysis_check.h"
#include "fact_values.h"

#include "diff/comparison.h"

/*
 * A comparison of two sides whose facts a test says (fact_values.h), to be checked with
 * check_facts() and check_table() of analysis_check.h:
 *
 *	struct compared *c = compare("steps.counted_count 3\n", "steps.counted_count 2\n");
 *	check_facts(&c->result, "kernel_changes: a_count", "0");
 */
enum { COMPARED_MAX_RANKS = 8 };

/* A side with its ranks; those end with NULL. Without any it has one, rank 0, whose facts are those of `whole`. */
struct side_text {
	const char *whole;
	const char *ranks[COMPARED_MAX_RANKS + 1];
	double loss_tolerance; /* that of A counts */
};

struct compared_side {
	struct diff_rank ranks[COMPARED_MAX_RANKS];
	struct tscope_diagnosis *diagnosis;
};

struct compared {
	struct analyzed result; /* first; its analysis is the comparison */
	struct comparison comparison;
	struct compared_side sides[TSCOPE_SIDE_COUNT];
};

struct compared *compare(const char *a, const char *b);
struct compared *compare_sides(const struct side_text *a, const struct side_text *b);

/*
 * The text of series.steps with these times, steps from 0 on: "series.steps step=0 time_ns=5\n" … In
 * a buffer of the caller's.
 */
const char *series_of(char *text, size_t size, const int64_t *times_ns, size_t count);

#endif
