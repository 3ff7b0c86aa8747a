/* SPDX-License-Identifier: MIT */
/* Runs what analyzes again and again with ever more of the memory that it needs. */
#include "memory_sweep.h"

#include "analyze/analysis.h"
#include "analyze/analyzer_table.h"
#include "analyze/fact_sheet.h"
#include "analyze/lookup.h"
#include "check.h"
#include "fail_alloc.h"
#include "timeline/timeline.h"

void sweep_level(enum analyzer_level level, const struct analysis_scope *scope, size_t at_least)
{
	struct alloc_sweep sweep = { .at_least = at_least };

	while (alloc_sweep_next(&sweep)) {
		struct tscope_analysis *analysis = NULL;

		alloc_sweep_try(&sweep,
				tsi_analyze_level(&analysis, level, scope, NULL, &sweep.err));
		assert_int_equal(!analysis, sweep.has_failed);
		tscope_analysis_free(analysis);
	}
}

void sweep_analyzer(const char *analyzer, const struct analysis_scope *scope, size_t at_least)
{
	size_t index = tsi_lookup_analyzer(analyzer);
	struct alloc_sweep sweep = { .at_least = at_least };

	while (alloc_sweep_next(&sweep)) {
		struct fact_sheet sheet;

		alloc_sweep_try(&sweep,
				tsi_fill_sheet(tsi_analyzer(index), scope, &sheet, &sweep.err));
		tsi_fact_sheet_deinit(&sheet);
	}
}

void sweep_world(const char *analyzer, const struct test_world *w, size_t at_least)
{
	static const struct tscope_analysis_options options = { 0 };
	struct analysis_scope scope = { .world = w->world,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.options = &options };

	sweep_analyzer(analyzer, &scope, at_least);
}

void sweep_timeline(const struct tscope_trace *trace, size_t at_least)
{
	struct alloc_sweep sweep = { .at_least = at_least };

	while (alloc_sweep_next(&sweep)) {
		struct tscope_timeline *timeline = NULL;

		alloc_sweep_try(&sweep,
				tsi_timeline_build(&timeline, trace, NULL, true, &sweep.err));
		assert_int_equal(!timeline, sweep.has_failed);
		tscope_timeline_free(timeline);
	}
}

void sweep_trace(const struct tscope_trace *trace, const struct tscope_timeline *timeline,
		 const struct tscope_analysis_options *options, size_t at_least)
{
	struct alloc_sweep sweep = { .at_least = at_least };

	while (alloc_sweep_next(&sweep)) {
		struct tscope_analysis *analysis = NULL;

		alloc_sweep_try(&sweep,
				tscope_analyze(&analysis, trace, timeline, options, &sweep.err));
		assert_int_equal(!analysis, sweep.has_failed);
		tscope_analysis_free(analysis);
	}
}
