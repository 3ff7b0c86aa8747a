/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/rule.h"

/* Shared by the rules on the analyzer `patterns`. */

/* "patterns.…_count" and "patterns.…_ns" of a mean step: how many, and their share. */
double tsi_pattern_count(const struct rule_context *ctx, const char *fact);
double tsi_pattern_share(const struct rule_context *ctx, const char *fact);

/* Once the rule has fired: its subject, and the longest as a place. */
void tsi_describe_pattern(struct rule_context *ctx, const char *pattern, const char *op);
