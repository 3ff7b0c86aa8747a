/* SPDX-License-Identifier: MIT */
/* Shared by the findings on copies: whose they are. */
#include "rules/copier.h"

#include <string.h>

void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by)
{
	static const char callers[] = "sources.callers";
	size_t most = SIZE_MAX;
	double most_ns = 0, all_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, callers); row++) {
		double ns = tsi_value_real(tsi_rule_cell(ctx, callers, row, by));
		if (strcmp(tsi_value_text(tsi_rule_cell(ctx, callers, row, "kind")), "copy") != 0 ||
		    !strstr(tsi_value_text(tsi_rule_cell(ctx, callers, row, "name")), part))
			continue;
		all_ns += ns;
		if (ns > most_ns) {
			most_ns = ns;
			most = row;
		}
	}
	if (most != SIZE_MAX && most_ns >= all_ns / 2)
		tsi_rule_site(ctx, callers, most, "most of them");
}
