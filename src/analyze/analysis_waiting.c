/* SPDX-License-Identifier: MIT */
/*
 * Analyzers that run when a figure of theirs is asked for: what few reports show costs the others
 * nothing. Asking cannot fail; that it did is said by the status afterwards.
 */
#include "analyze/analysis_parts.h"
#include "analyze/modules/module_stacks.h"
#include "analyze/modules/place_sums.h"
#include "analyze/ops/trace_flops.h"
#include "base/array.h"
#include "base/error.h"

#include <stdlib.h>
#include <tscope/report.h>

/* NULL: the trace has none, or memory ran out. */
static const struct places *find_places(struct waiting *waiting)
{
	struct analysis_scope *scope = &waiting->scope;

	if (waiting->has_places)
		return scope->places;
	waiting->has_places = true;
	scope->places = tsi_places_new(scope->timeline, scope->flops ? scope->flops->graphs : NULL,
				       &waiting->arena);
	if (scope->places)
		scope->place_totals = tsi_place_totals(scope, &waiting->arena);
	waiting->status = tsi_arena_status(&waiting->arena, NULL);
	return scope->places;
}

/* A failed request is not retried. */
void tsi_run_waiting(const struct tscope_analysis *analysis, size_t analyzer)
{
	struct waiting *waiting = analysis->waiting;

	(void)find_places(waiting);
	if (waiting->status == TSCOPE_OK)
		waiting->status = tsi_run_analyzer(analysis, analyzer, &waiting->scope, NULL);
}

enum tscope_status tsi_let_wait(struct tscope_analysis *analysis,
				const struct analysis_scope *scope, struct tscope_error *err)
{
	struct waiting *waiting;

	if (tsi_array_new(&waiting, 1, sizeof(*waiting), err) != TSCOPE_OK)
		return TSCOPE_E_NOMEM;
	waiting->options = *scope->options;
	waiting->scope = *scope;
	waiting->scope.options = &waiting->options;
	analysis->waiting = waiting;
	return TSCOPE_OK;
}

void tsi_free_waiting(struct tscope_analysis *analysis)
{
	if (analysis->waiting)
		tsi_arena_deinit(&analysis->waiting->arena);
	free(analysis->waiting);
	analysis->waiting = NULL;
}

enum tscope_status tsi_analysis_status(const struct tscope_analysis *analysis,
				       struct tscope_error *err)
{
	return analysis->waiting && analysis->waiting->status != TSCOPE_OK ? tsi_fail_nomem(err)
									   : TSCOPE_OK;
}

enum tscope_status tscope_analysis_write_stacks(FILE *out, const struct tscope_analysis *analysis,
						enum tscope_stack_weight weight,
						struct tscope_error *err)
{
	(void)find_places(analysis->waiting);
	enum tscope_status status = tsi_analysis_status(analysis, err);

	return status == TSCOPE_OK
		       ? tsi_module_write_stacks(out, &analysis->waiting->scope, weight, err)
		       : status;
}
