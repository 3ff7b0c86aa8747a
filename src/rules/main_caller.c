/* SPDX-License-Identifier: MIT */
/* Rows of one line and module are one caller: a line allocates in several operators. */
#include "rules/main_caller.h"

#include <string.h>

#define CALLERS "sources.callers"

/* Rows of the table that a finding is about. */
struct choice {
	bool (*has)(const struct rule_context *ctx, size_t row, const char *part);
	const char *part;
	const char *by; /* column */
};

static bool is_same(const struct rule_context *ctx, size_t a, size_t b, const char *column)
{
	return strcmp(tsi_rule_cell_text(ctx, CALLERS, a, column),
		      tsi_rule_cell_text(ctx, CALLERS, b, column)) == 0;
}

static bool is_copy(const struct rule_context *ctx, size_t row, const char *part)
{
	return strcmp(tsi_rule_cell_text(ctx, CALLERS, row, "kind"), "copy") == 0 &&
	       strstr(tsi_rule_cell_text(ctx, CALLERS, row, "name"), part);
}

/* Calls for pinned host memory are named alike: cudaHostAlloc, cudaFreeHost. */
static bool is_allocation(const struct rule_context *ctx, size_t row, const char *part)
{
	const char *kind = tsi_rule_cell_text(ctx, CALLERS, row, "kind");

	return (strcmp(kind, "malloc") == 0 || strcmp(kind, "free") == 0) &&
	       !strstr(tsi_rule_cell_text(ctx, CALLERS, row, "name"), part);
}

/* By the column, of a line and module; the row is the first of theirs. */
struct caller {
	size_t row;
	double ns;
};

static double sum_of(const struct rule_context *ctx, const struct choice *choice, size_t first)
{
	double sum_ns = 0;

	for (size_t row = first; row < tsi_rule_rows(ctx, CALLERS); row++)
		if (choice->has(ctx, row, choice->part) && is_same(ctx, first, row, "source") &&
		    is_same(ctx, first, row, "module"))
			sum_ns += tsi_rule_cell_real(ctx, CALLERS, row, choice->by);
	return sum_ns;
}

static struct caller find_main(const struct rule_context *ctx, const struct choice *choice)
{
	struct caller most = { SIZE_MAX, 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLERS); row++) {
		if (!choice->has(ctx, row, choice->part))
			continue;
		double ns = sum_of(ctx, choice, row);
		if (ns > most.ns)
			most = (struct caller){ row, ns };
	}
	return most;
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
		if (!is_copy(ctx, i, "") || !is_same(ctx, i, row, "name"))
			continue;
		if (i < row)
			return 0;
		listed_ns += tsi_rule_cell_real(ctx, CALLERS, i, "ns");
	}
	return all_ns > listed_ns ? all_ns - listed_ns : 0;
}

void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by)
{
	struct caller most = find_main(ctx, &(struct choice){ is_copy, part, by });
	double all_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLERS); row++)
		if (is_copy(ctx, row, part))
			all_ns += tsi_rule_cell_real(ctx, CALLERS, row, by) + unlisted_ns(ctx, row);
	if (most.row != SIZE_MAX && most.ns >= all_ns / 2)
		tsi_rule_site(ctx, CALLERS, most.row, "most of them");
}

void tsi_describe_allocator(struct rule_context *ctx, double least_ns)
{
	struct caller most = find_main(ctx, &(struct choice){ is_allocation, "Host", "ns" });

	if (most.row != SIZE_MAX && most.ns >= least_ns)
		tsi_rule_site(ctx, CALLERS, most.row, "most of this time");
}
