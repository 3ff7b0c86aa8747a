/* SPDX-License-Identifier: MIT */
/*
 * Lines of the budget are sums over steps, devices and ranks. As shares of the
 * wall time that is summed in the same way they mean the same for one device
 * and for a thousand, and times the mean step they are a time in each step.
 */
#include "rules/budget_share.h"

#include <math.h>

#include "rules/idle_finding.h"

double tsi_budget_share(const struct rule_context *ctx, const char *line)
{
	double wall_ns = tsi_rule_real(ctx, "budget.wall_total_ns");

	return wall_ns > 0 ? tsi_rule_real(ctx, line) / wall_ns : NAN;
}

double tsi_device_share(const struct rule_context *ctx, double ns)
{
	double span_ns = tsi_rule_real(ctx, "device_busy.span_ns");
	/* Kernels of several streams may run at once, and then add up to more. */
	double whole_ns = fmax(span_ns, tsi_rule_real(ctx, "kernels.total_ns"));

	return span_ns > 0 ? ns / whole_ns : NAN;
}

void tsi_gain_share(struct rule_context *ctx, enum gain_part part, double share)
{
	double ns = share * tsi_rule_real(ctx, "step_time.mean_ns");

	if (isfinite(ns))
		tsi_rule_gain(ctx, part, llround(ns));
}

void tsi_gain_host_share(struct rule_context *ctx, enum gain_part part, double share)
{
	double idle = tsi_idle_share(ctx);

	tsi_gain_share(ctx, part, idle < share ? idle : share);
}
