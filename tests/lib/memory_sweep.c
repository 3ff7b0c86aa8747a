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

/* False once there are fewer allocations than n. */
static bool fail_one(const struct test_world *w, size_t analyzer,
		     const struct tscope_analysis_options *options, size_t n)
{
	struct fact_values facts = fact_values("");
	struct fact_sheet *sheet;
	struct analysis_scope scope = { .world = w->world,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.options = options };

	assert_int_equal(tsi_analysis_sheet(facts.analysis, analyzer, &sheet, NULL), TSCOPE_OK);
	fail_alloc_at(n);
	tsi_analyzer(analyzer)->fill(&scope, sheet);
	bool has_failed = fail_alloc_stop();
	enum tscope_status status = tsi_fact_sheet_status(sheet, NULL);
	assert_int_equal(status, has_failed ? TSCOPE_E_NOMEM : TSCOPE_OK);
	fact_values_free(&facts);
	return has_failed;
}

size_t sweep_memory(const struct test_world *w, const char *analyzer,
		    const struct tscope_analysis_options *options)
{
	static const struct tscope_analysis_options none = { 0 };
	size_t n = 1;

	while (fail_one(w, tsi_lookup_analyzer(analyzer), options ? options : &none, n))
		n++;
	return n - 1;
}
