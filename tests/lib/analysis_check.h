/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_ANALYSIS_CHECK_H
#define TSCOPE_TESTS_ANALYSIS_CHECK_H

#include "comm/world.h"
#include "run/steps.h"
#include "test_kept.h"
#include "trace_builder.h"

#include <tscope/memory.h>

/*
 * Facts and tables of a small trace against what a test expects, as text: the
 * named facts, or the named columns of all rows, one row a line.
 *
 *	struct analyzed *a = analyze(t);
 *	check_facts(a, "overlap: comm_ns overlap_ratio", "190 0.368421");
 *	check_table(a, "kernels.by_name: name count", "gemm 2\nadd 1\n");
 *
 * Integers stand as they are, reals with six digits, flags as yes and no,
 * what is absent as "-". It is freed when the test ends.
 */
struct analyzed {
	struct test_kept kept;
	struct tscope_trace *trace;
	struct tscope_timeline *timeline;
	struct tscope_analysis *analysis;
	struct step_series *ranks; /* instead of a trace */
	size_t rank_count;
	struct step_series slowest;
};

/* Builds, puts on a timeline and analyses (Python included); frees t. The test fails if that fails. */
struct analyzed *analyze(struct test_trace *t);
struct analyzed *analyze_steps_of(struct test_trace *t,
				  const struct tscope_timeline_options *steps);

/* The steps of a rank (step_text.h), or of the ranks of a run, which move in. options may be NULL. */
struct analyzed *analyze_rank(struct step_series *steps,
			      const struct tscope_analysis_options *options);
struct analyzed *analyze_run(struct step_series *ranks, size_t rank_count,
			     const struct tscope_analysis_options *options);

/* The same with what their traces say together (world_text.h), which outlives the result. */
struct analyzed *analyze_run_of(struct step_series *ranks, size_t rank_count,
				const struct world *world,
				const struct tscope_analysis_options *options);

/* Of a file about memory: what plain_text.h makes of a text. options may be NULL. */
struct analyzed *analyze_memory(const char *plain_text,
				const struct tscope_analysis_options *options);

/* The same with an earlier file to compare with, whose path is "earlier". */
struct analyzed *analyze_growth(const char *plain_text, const char *earlier,
				const struct tscope_analysis_options *options);

/* Of a file's bytes, in whichever form. */
struct analyzed *analyze_memory_file(const void *bytes, size_t length,
				     const struct tscope_analysis_options *options);

/* Facts that a test has by itself; the result owns them. */
struct analyzed *keep_analysis(struct tscope_analysis *analysis);

void check_facts(const struct analyzed *a, const char *names, const char *expected);
void check_device_facts(const struct analyzed *a, int device, const char *names,
			const char *expected);
void check_table(const struct analyzed *a, const char *names, const char *expected);

/* expected: why the analyzer's figures of the whole trace are in doubt, or NULL. */
void check_reliability(const struct analyzed *a, const char *analyzer, const char *expected);

/* expected: what is said against one fact ("efficiency.mfu"), or NULL. */
void check_doubt(const struct analyzed *a, const char *fact, const char *expected);

#endif
