/* SPDX-License-Identifier: MIT */
#ifndef TSCOPE_RULES_BUDGET_SHARE_H
#define TSCOPE_RULES_BUDGET_SHARE_H

#include "rules/rule.h"

/* The devices' budget in shares of the steps' time, for the rules on what devices and hosts do. */

/* The share of a line such as "budget.sync_stall_total_ns"; NaN where it is not known. */
double tsi_budget_share(const struct rule_context *ctx, const char *line);

/* A device time of the whole trace by all of it, from the devices' first event to their last. */
double tsi_device_share(const struct rule_context *ctx, double ns);

/* Whether a share is worth reporting. Less would be printed as 0 %. */
static inline bool tsi_is_worth_naming(double share)
{
	return share >= 0.005;
}

/* Claims a share of the mean step. Nothing where the step or the share is not known. */
void tsi_gain_share(struct rule_context *ctx, enum gain_part part, double share);

/* As above, for time in which the host is busy otherwise: capped by the device's idle time. */
void tsi_gain_host_share(struct rule_context *ctx, enum gain_part part, double share);

#endif
