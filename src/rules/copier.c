/* SPDX-License-Identifier: MIT */
/* Shared by the findings on copies: whose they are. */
#include "rules/copier.h"

#include <string.h>

#define CALLERS "sources.callers"

static bool is_copy(const struct rule_context *ctx, size_t row)
{
	return strcmp(tsi_rule_cell_text(ctx, CALLERS, row, "kind"), "copy") == 0;
}

/*
 * Time of copies of this name whose functions have no row, since each has less than a tenth of it;
 * 0 but for the first row of a name.
 */
static double unlisted_ns(const struct rule_context *ctx, size_t row)
{
	double all_ns = tsi_rule_cell_real(ctx, CALLERS, row, "ns") /
			tsi_rule_cell_real(ctx, CALLERS, row, "share_ratio");
	double listed_ns = 0;

	for (size_t i = 0; i < tsi_rule_rows(ctx, CALLERS); i++) {
		if (!is_copy(ctx, i) || strcmp(tsi_rule_cell_text(ctx, CALLERS, i, "name"),
					       tsi_rule_cell_text(ctx, CALLERS, row, "name")) != 0)
			continue;
		if (i < row)
			return 0;
		listed_ns += tsi_rule_cell_real(ctx, CALLERS, i, "ns");
	}
	return all_ns > listed_ns ? all_ns - listed_ns : 0;
}

void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by)
{
	size_t most = SIZE_MAX;
	double most_ns = 0, all_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLERS); row++) {
		double ns = tsi_rule_cell_real(ctx, CALLERS, row, by);
		if (!is_copy(ctx, row) ||
		    !strstr(tsi_rule_cell_text(ctx, CALLERS, row, "name"), part))
			continue;
		all_ns += ns + unlisted_ns(ctx, row);
		if (ns > most_ns) {
			most_ns = ns;
			most = row;
		}
	}
	if (most != SIZE_MAX && most_ns >= all_ns / 2)
		tsi_rule_site(ctx, CALLERS, most, "most of them");
}
