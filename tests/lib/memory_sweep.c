/* SPDX-License-Identifier: MIT */
/* Runs an analyzer again and again with ever less of what it needs. */
#include "memory_sweep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/analysis.h"
#include "analyze/analyzer_table.h"
#include "analyze/fact_sheet.h"
#include "analyze/lookup.h"
#include "fact_values.h"
#include "fail_alloc.h"

size_t sweep_memory(const struct test_world *w, const char *analyzer,
		    const struct tscope_analysis_options *options)
{
	static const struct tscope_analysis_options none = { 0 };
	size_t index = tsi_lookup_analyzer(analyzer);
	struct analysis_scope scope = { .world = w->world,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.options = options ? options : &none };
	struct alloc_sweep sweep = { 0 };

	while (alloc_sweep_next(&sweep)) {
		struct fact_sheet sheet;

		alloc_sweep_try(&sweep,
				tsi_fill_sheet(tsi_analyzer(index), &scope, &sheet, &sweep.err));
		tsi_fact_sheet_deinit(&sheet);
	}
	return sweep.failed_count;
}
