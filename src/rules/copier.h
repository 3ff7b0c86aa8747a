/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_COPIER_H
#define TSCOPE_RULES_COPIER_H

#include "rules/rule.h"

/*
 * Says which line caused half or more of the copies whose names hold `part`, or of all: by the sum
 * of a column of sources.callers. Nothing where no line did, or those without a row may have more.
 */
void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by);

#endif
