/* SPDX-License-Identifier: MIT */
/*
 * How rules describe an operator: name, precision, informative dimensions of its inputs, and time
 * in a mean step.
 */
#include "rules/operator_words.h"

#include <stdio.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/print_text.h"
#include "base/str.h"

#define OPERATORS "flops.by_operator"

enum { NAME_BYTES = 48 };

size_t tsi_operator_rows(const struct rule_context *ctx)
{
	return tsi_rule_rows(ctx, OPERATORS);
}

double tsi_operator_number(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_real(ctx, OPERATORS, row, column);
}

const char *tsi_operator_text(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_text(ctx, OPERATORS, row, column);
}

struct operator_words tsi_operator_words(const struct rule_context *ctx, size_t row)
{
	const char *shape = tsi_operator_text(ctx, row, "shape");
	const char *precision = tsi_operator_text(ctx, row, "precision");
	struct operator_words words;
	char name[NAME_BYTES];

	tsi_print_text(name, sizeof(name), "%s", tsi_operator_text(ctx, row, "name"));
	snprintf(words.text, sizeof(words.text), "%s%s%s%s%s", name, *shape ? " " : "", shape,
		 *precision ? " " : "", precision);
	return words;
}

struct operator_words tsi_kernel_words(const char *name)
{
	struct arena arena = { 0 };
	bool is_cxx =
		strchr(name, '<') || strncmp(name, "void ", 5) == 0 || strncmp(name, "_Z", 2) == 0;
	struct operator_words words;

	tsi_print_text(words.text, sizeof(words.text), "%s",
		       is_cxx ? tsi_cxx_name(&arena, name, CXX_TYPES) : name);
	tsi_arena_deinit(&arena);
	return words;
}

double tsi_operator_step_ns(const struct rule_context *ctx, size_t row, double ns)
{
	return ns / tsi_operator_number(ctx, row, "count") *
	       tsi_operator_number(ctx, row, "count_per_step");
}
