/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_OPERATOR_WORDS_H
#define TSCOPE_RULES_OPERATOR_WORDS_H

#include "rules/rule.h"

/* Rows of flops.by_operator, those that lose most first, for the rules that name operators. */
size_t tsi_operator_rows(const struct rule_context *ctx);
double tsi_operator_number(const struct rule_context *ctx, size_t row, const char *column);
const char *tsi_operator_text(const struct rule_context *ctx, size_t row, const char *column);

/* "aten::mm 8192x4096, 4096x4096 bf16"; what is long is cut. */
struct operator_words {
	char text[160];
};

/* The name of a kernel as people say it; any other name as it is. */
struct operator_words tsi_kernel_words(const char *name);

struct operator_words tsi_operator_words(const struct rule_context *ctx, size_t row);

/* Time of all calls of a row per mean step, in ms; NaN if unknown. */
double tsi_operator_step_ns(const struct rule_context *ctx, size_t row, double ns);

#endif
