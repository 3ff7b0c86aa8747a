/* SPDX-License-Identifier: MIT */
/* Shared by the analyzers of a comparison. */
#include "diff/comparison.h"

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
