/* SPDX-License-Identifier: MIT */
/* Shared by the findings on copies: whose they are. */
#include "rules/copier.h"

#include <string.h>

#define CALLERS "sources.callers"

static const char *text_of(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_value_text(tsi_rule_cell(ctx, CALLERS, row, column));
}

static bool is_copy(const struct rule_context *ctx, size_t row)
{
	return strcmp(text_of(ctx, row, "kind"), "copy") == 0;
}

static double number_of(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_value_real(tsi_rule_cell(ctx, CALLERS, row, column));
}

/*
 * Time of copies of this name whose functions have no row, since each has less than a tenth of it;
 * 0 but for the first row of a name.
 */
static double unlisted_ns(const struct rule_context *ctx, size_t row)
{
	double all_ns = number_of(ctx, row, "ns") / number_of(ctx, row, "share_ratio");
	double listed_ns = 0;

	for (size_t i = 0; i < tsi_rule_rows(ctx, CALLERS); i++) {
		if (!is_copy(ctx, i) ||
		    strcmp(text_of(ctx, i, "name"), text_of(ctx, row, "name")) != 0)
			continue;
		if (i < row)
			return 0;
		listed_ns += number_of(ctx, i, "ns");
	}
	return all_ns > listed_ns ? all_ns - listed_ns : 0;
}

void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by)
{
	size_t most = SIZE_MAX;
	double most_ns = 0, all_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLERS); row++) {
		double ns = number_of(ctx, row, by);
		if (!is_copy(ctx, row) || !strstr(text_of(ctx, row, "name"), part))
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
