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
#include "analyze/lookup.h"
#include "fact_values.h"
#include "fail_alloc.h"

/* False once there are fewer allocations than n. */
static bool fail_one(const struct test_world *w, size_t analyzer,
		     const struct tscope_analysis_options *options, size_t n)
{
	struct fact_values facts = fact_values("");
	struct fact_sheet *sheet;
	struct intern texts = { 0 };
	struct analysis_scope scope = { .world = w->world,
					.ranks = w->series,
					.rank_count = w->rank_count,
					.options = options,
					.texts = &texts };

	assert_int_equal(tsi_intern_init(&texts, UINT32_MAX - 1, NULL), TSCOPE_OK);
	assert_int_equal(tsi_analysis_sheet(facts.analysis, analyzer, &sheet, NULL), TSCOPE_OK);
	fail_alloc_at(n);
	enum tscope_status status = tsi_analyzer(analyzer)->run(&scope, sheet, NULL);
	bool has_failed = fail_alloc_stop();
	assert_int_equal(status, has_failed ? TSCOPE_E_NOMEM : TSCOPE_OK);
	fact_values_free(&facts);
	tsi_intern_deinit(&texts);
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
