/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.SHORT: most kernels end before the next one can be launched, and the
 * device idles in between. Many short kernels alone are no loss: a device that
 * has its queue full runs them back to back.
 */
#include "rules/budget_share.h"

static void evaluate_kernel_short(struct rule_context *ctx)
{
	double is_short = tsi_rule_real(ctx, "kernels.short_ratio");
	double lost_ns = tsi_rule_real(ctx, "budget.launch_stall_ns") +
			 tsi_rule_real(ctx, "budget.device_gap_ns");
	double lost = lost_ns / tsi_rule_real(ctx, "budget.wall_ns");

	if (is_short < tsi_rule_parameter(ctx, "threshold") ||
	    !(lost >= tsi_rule_parameter(ctx, "lost")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, lost),
		      "%.0f %% of the kernels are shorter than 10 \xc2\xb5s, and the device idles "
		      "between them",
		      100 * is_short);
	tsi_rule_detail(ctx, "late launches and gaps take %.1f %% of the step", 100 * lost);
	tsi_gain_share(ctx, GAIN_LAUNCH, lost);
}

const struct rule tsi_rule_kernel_short = {
	.def = {
		.id = "KERNEL.SHORT",
		.summary = "kernels are too short to keep the device busy",
		.trigger = "Fires where at least threshold of the kernels are shorter than 10 "
			   "\xc2\xb5s and the device idles for at least lost of the steps' time "
			   "because of late launches and gaps; high from high on, else med.",
		.meaning = "A launch costs the host 5 to 10 \xc2\xb5s. Kernels that end sooner "
			   "leave the device waiting for the next one, whatever its speed.",
		.advice = "fuse them: torch.compile (mode=\"reduce-overhead\" replays them as a "
			  "CUDA graph), fused=True or foreach=True in the optimizer, "
			  "scaled_dot_product_attention; enlarge the batch; replace Python loops "
			  "over small tensors by one operation",
		.example = "80 % of the kernels take 4 \xc2\xb5s, and in a step of 50 ms the "
			   "device idles for 10 ms: 0.20 is lost, a finding of severity med with "
			   "10 ms a step to win.",
		.parameters = {
			{ "threshold", 0.50, "share of short kernels at which it fires" },
			{ "lost", 0.10, "share of the step at which it fires" },
			{ "high", 0.30, "share of the step from which it is severe" },
		},
		.facts = { "kernels.short_ratio", "budget.wall_ns", "budget.launch_stall_ns",
			   "budget.device_gap_ns" },
	},
	.evidence = { "kernels.short_ratio", "kernels.count", "budget.launch_stall_ns",
		      "budget.device_gap_ns", "launches.launches_per_step" },
	.cause = CAUSE_small_kernels,
	.evaluate = evaluate_kernel_short,
};
