/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_MAIN_CALLER_H
#define TSCOPE_RULES_MAIN_CALLER_H

#include "rules/rule.h"

/*
 * Shared by the findings on copies and on driver calls: which line of the user's code, in which
 * module, is behind most of them (sources.callers).
 */

/* Copies whose names hold `part`, or all ("") : the line with half or more, by a column. */
void tsi_describe_copier(struct rule_context *ctx, const char *part, const char *by);

/* Calls that allocate and free device memory: the line that has least_ns or more. */
void tsi_describe_allocator(struct rule_context *ctx, double least_ns);

#endif
