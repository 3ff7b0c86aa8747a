/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_BUDGET_SHARE_H
#define TSCOPE_RULES_BUDGET_SHARE_H

#include "rules/rule.h"

/* The devices' budget in shares of the steps' time, for the rules on what devices and hosts do. */

/* The share of a line such as "budget.sync_stall_ns"; NaN where it is not known. */
double tsi_budget_share(const struct rule_context *ctx, const char *line);

/* The share of all lines in which nothing runs on the device. */
double tsi_idle_share(const struct rule_context *ctx);

/* The longest of these lines, and what findings about it have as their cause. */
const char *tsi_longest_idle_line(const struct rule_context *ctx);
enum rule_cause tsi_idle_cause(const struct rule_context *ctx);

/* This share of the mean step can be won back. Nothing where the step or the share is not known. */
void tsi_recover_share(struct rule_context *ctx, double share);

/* The same for a share in which the host does something else: no more than the device idles for. */
void tsi_recover_host_share(struct rule_context *ctx, double share);

#endif
