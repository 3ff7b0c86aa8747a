/* SPDX-License-Identifier: MIT */
/* Shared by the analyzers of a comparison. */
#include "diff/comparison.h"

#include "analyze/facts.h"
#include "analyze/lookup.h"

const char *tsi_diff_verdict_name(enum diff_verdict verdict)
{
	static const char *const names[] = { DIFF_VERDICTS(TSI_NAMED_TEXT) };

	return names[verdict];
}

const struct diff_rank *tsi_diff_find_rank(const struct diff_side *side, int64_t number)
{
	for (size_t i = 0; i < side->rank_count; i++)
		if (side->ranks[i].number == number)
			return &side->ranks[i];
	return NULL;
}

bool tsi_diff_number(struct tscope_value value, double *number)
{
	if (value.kind == TSCOPE_VALUE_INT)
		*number = (double)value.integer;
	else if (value.kind == TSCOPE_VALUE_REAL)
		*number = value.real;
	return value.kind == TSCOPE_VALUE_INT || value.kind == TSCOPE_VALUE_REAL;
}

int64_t tsi_total_steps(const struct tscope_analysis *analysis, enum tscope_total total)
{
	static const char *const counts[] = {
		[TSCOPE_TOTAL_STEPS] = "budget.step_count",
		[TSCOPE_TOTAL_TIMED] = "step_time.count",
		[TSCOPE_TOTAL_CAPTURE] = "steps.count",
	};

	return tsi_lookup_int(analysis, counts[total]);
}

/* Figures in ns or bytes stay integers. */
struct tscope_value tsi_divide_total(struct tscope_value sum, int64_t steps, enum tscope_unit unit)
{
	double number;

	if (sum.kind == TSCOPE_VALUE_INT && (unit == TSCOPE_UNIT_NS || unit == TSCOPE_UNIT_BYTES) &&
	    sum.integer >= 0)
		return tsi_mean(sum.integer, steps);
	return tsi_diff_number(sum, &number) ? tsi_real(number / (double)steps) : sum;
}

struct tscope_value tsi_per_step(const struct tscope_analysis *analysis, size_t analyzer,
				 size_t fact)
{
	const struct tscope_analyzer_def *def = tscope_analyzer(analyzer);
	enum tscope_total total = tscope_fact_total(def, fact);
	struct tscope_value value =
		tscope_analysis_fact(analysis, analyzer, fact, TSCOPE_WHOLE_TRACE);
	int64_t steps = total != TSCOPE_TOTAL_NONE ? tsi_total_steps(analysis, total) : 0;

	return steps > 0 ? tsi_divide_total(value, steps, def->facts[fact].unit) : value;
}
