/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_OPPORTUNITY_H
#define TSCOPE_RULES_OPPORTUNITY_H

#include "rules/rule.h"

/* Shared by the rules on the analyzer `opportunities`. */

/* The share of the counted steps' time that "opportunities.…_ns" is; NaN where it is not known. */
double tsi_opportunity_share(const struct rule_context *ctx, const char *fact);

/* "opportunities.…_count" per step and device. */
double tsi_opportunity_count(const struct rule_context *ctx, const char *fact);

/*
 * Names what launched most of the events that this remedy helps ("fuse"): in the details, as the
 * subject and as places.
 */
void tsi_blame_launchers(struct rule_context *ctx, const char *remedy);

#endif
