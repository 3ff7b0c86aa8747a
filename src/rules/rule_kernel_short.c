/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.SHORT: the device idles between kernels that end sooner than the next one can be
 * launched. Only gaps between two short kernels count: many short kernels behind a full queue cost
 * nothing, and a gap of milliseconds has another cause.
 */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/opportunity.h"

/* The host is behind, or the device is slow to start what has been launched. */
static void blame_gaps(struct rule_context *ctx, double share)
{
	double host = tsi_opportunity_share(ctx, "opportunities.short_gap_host_total_ns");
	double graph = tsi_opportunity_share(ctx, "opportunities.short_gap_graph_total_ns");

	tsi_gain_share(ctx, GAIN_LAUNCH, host);
	tsi_gain_share(ctx, GAIN_DEVICE_GAP, share - host);
	if (2 * host >= share) {
		tsi_rule_detail(ctx, "%.0f %% of this is before the launch call returns",
				100 * host / share);
		tsi_rule_cause(ctx, CAUSE_launch_overhead);
	}
	if (2 * graph >= share)
		tsi_rule_advice_for(ctx, ADVICE_TRAINING,
				    "fuse kernels (torch.compile, fused attention and optimizer) "
				    "or enlarge the batch; graphs are replayed already, so "
				    "launching no longer costs");
}

static void evaluate_kernel_short(struct rule_context *ctx)
{
	double share = tsi_opportunity_share(ctx, "opportunities.short_gap_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "%.1f %% of the step is idle between kernels shorter than 10 \xc2\xb5s",
		      100 * share);
	tsi_rule_detail(ctx, "%.0f gaps per step, %.1f \xc2\xb5s on average",
			tsi_opportunity_count(ctx, "opportunities.short_gap_count"),
			tsi_rule_real(ctx, "opportunities.short_gap_total_ns") /
				tsi_rule_real(ctx, "opportunities.short_gap_count") / 1e3);
	blame_gaps(ctx, share);
	tsi_blame_launchers(ctx, "launch_less");
}

const struct rule tsi_rule_kernel_short = {
	.def = {
		.id = "KERNEL.SHORT",
		.summary = "the device idles between kernels that are too short",
		.trigger = "Fires where gaps of at most 100 \xc2\xb5s between two kernels, both "
			   "shorter than 10 \xc2\xb5s, take at least threshold of the steps' time; "
			   "high from high on, else med. Blames launch_overhead where the host's "
			   "launch calls had not returned for at least half of it.",
		.meaning = "A launch costs the host 5 to 10 \xc2\xb5s. Kernels that end sooner "
			   "leave the device waiting for the next one, whatever its speed.",
		.advice = "fuse them: torch.compile (mode=\"reduce-overhead\" replays them as a "
			  "CUDA graph), fused=True or foreach=True in the optimizer, "
			  "scaled_dot_product_attention; enlarge the batch; replace Python loops "
			  "over small tensors by one operation",
		.serving_advice = FUSION_PASSES "; " FUSION_SMALL "; " FEWER_ITERATIONS,
		.inference_advice = COMPILE_FORWARD "; scaled_dot_product_attention; "
			  MORE_REQUESTS,
		.example = "In a step of 50 ms 500 gaps of 20 \xc2\xb5s lie between kernels of 4 "
			   "\xc2\xb5s: 10 ms, 0.20, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
			{ "high", 0.30, "share of the step from which it is severe" },
		},
		.facts = { "opportunities.short_gap_total_ns", "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.short_gap_total_ns", "opportunities.short_gap_count",
		      "opportunities.short_gap_host_total_ns", "opportunities.wall_total_ns",
		      "kernels.short_ratio", "launches.launches_per_step" },
	.cause = CAUSE_small_kernels,
	.evaluate = evaluate_kernel_short,
};
