/* SPDX-License-Identifier: MIT */
/*
 * Lines of the budget are sums over steps, devices and ranks. As shares of the
 * wall time that is summed in the same way they mean the same for one device
 * and for a thousand, and times the mean step they are a time in each step.
 */
#include "rules/budget_share.h"

#include <math.h>

double tsi_budget_share(const struct rule_context *ctx, const char *line)
{
	double wall_ns = tsi_rule_real(ctx, "budget.wall_ns");

	return wall_ns > 0 ? tsi_rule_real(ctx, line) / wall_ns : NAN;
}

static const struct idle_line {
	const char *fact;
	enum rule_cause cause;
} idle_lines[] = {
	{ "budget.data_stall_ns", CAUSE_DATA },     { "budget.sync_stall_ns", CAUSE_SYNC },
	{ "budget.launch_stall_ns", CAUSE_LAUNCH }, { "budget.device_gap_ns", CAUSE_IDLE },
	{ "budget.unattributed_ns", CAUSE_IDLE },
};

double tsi_idle_share(const struct rule_context *ctx)
{
	double wall_ns = tsi_rule_real(ctx, "budget.wall_ns"), idle_ns = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(idle_lines); i++)
		idle_ns += tsi_rule_real(ctx, idle_lines[i].fact);
	return wall_ns > 0 ? idle_ns / wall_ns : NAN;
}

static const struct idle_line *find_longest(const struct rule_context *ctx)
{
	const struct idle_line *longest = &idle_lines[0];

	for (size_t i = 1; i < TSI_COUNT_OF(idle_lines); i++)
		if (tsi_rule_int(ctx, idle_lines[i].fact) > tsi_rule_int(ctx, longest->fact))
			longest = &idle_lines[i];
	return longest;
}

const char *tsi_longest_idle_line(const struct rule_context *ctx)
{
	return find_longest(ctx)->fact;
}

enum rule_cause tsi_idle_cause(const struct rule_context *ctx)
{
	return find_longest(ctx)->cause;
}

void tsi_recover_share(struct rule_context *ctx, double share)
{
	double ns = share * tsi_rule_real(ctx, "step_time.mean_ns");

	if (isfinite(ns))
		tsi_rule_recoverable(ctx, llround(ns));
}

void tsi_recover_host_share(struct rule_context *ctx, double share)
{
	double idle = tsi_idle_share(ctx);

	tsi_recover_share(ctx, idle < share ? idle : share);
}
