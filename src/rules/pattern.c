/* SPDX-License-Identifier: MIT */
#include "rules/pattern.h"

#include <string.h>

#define PLACES "patterns.places"

double tsi_pattern_count(const struct rule_context *ctx, const char *fact)
{
	return tsi_rule_real(ctx, fact) / tsi_rule_real(ctx, "patterns.step_count");
}

double tsi_pattern_share(const struct rule_context *ctx, const char *fact)
{
	return tsi_rule_real(ctx, fact) / tsi_rule_real(ctx, "patterns.wall_total_ns");
}

void tsi_describe_pattern(struct rule_context *ctx, const char *pattern, const char *op)
{
	tsi_rule_subject(ctx)->op = op;
	for (size_t row = 0; row < tsi_rule_rows(ctx, PLACES); row++)
		if (strcmp(tsi_rule_cell_text(ctx, PLACES, row, "pattern"), pattern) == 0)
			tsi_rule_longest(ctx, PLACES, row);
}
