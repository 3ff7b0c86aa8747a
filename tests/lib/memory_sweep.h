/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_TESTS_MEMORY_SWEEP_H
#define TSCOPE_TESTS_MEMORY_SWEEP_H

#include "analyze/analyzer.h"
#include "world_text.h"

/*
 * Sweeps over failing allocations (fail_alloc.h) of what many tests call. What failed leaves its
 * result untouched.
 */

/* All analyzers of a level. */
void sweep_level(enum analyzer_level level, const struct analysis_scope *scope, size_t at_least);

/* One analyzer ("transfers"), alone, and of a run's world. */
void sweep_analyzer(const char *analyzer, const struct analysis_scope *scope, size_t at_least);
void sweep_world(const char *analyzer, const struct test_world *w, size_t at_least);

/* A timeline, and all analyzers of a trace. options may be NULL. */
void sweep_timeline(const struct tscope_trace *trace, size_t at_least);
void sweep_trace(const struct tscope_trace *trace, const struct tscope_timeline *timeline,
		 const struct tscope_analysis_options *options, size_t at_least);

#endif
