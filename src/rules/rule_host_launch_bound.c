/* SPDX-License-Identifier: MIT */
/* HOST.LAUNCH_BOUND: the device idles because the host has not launched its next work yet. */
#include "rules/budget_share.h"

static void evaluate_host_launch_bound(struct rule_context *ctx)
{
	double share = tsi_budget_share(ctx, "budget.launch_stall_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "for %.1f %% of the step the device waits for the host to launch work",
		      100 * share);
	if (tsi_rule_has(ctx, "launches.launches_per_step"))
		tsi_rule_detail(ctx, "%.0f launch calls a step",
				tsi_rule_real(ctx, "launches.launches_per_step"));
	if (tsi_rule_has(ctx, "launches.host_bound_ratio"))
		tsi_rule_detail(ctx, "%.0f %% of the idle time ends with a late launch",
				100 * tsi_rule_real(ctx, "launches.host_bound_ratio"));
	tsi_gain_share(ctx, GAIN_LAUNCH, share);
}

const struct rule tsi_rule_host_launch_bound = {
	.def = {
		.id = "HOST.LAUNCH_BOUND",
		.summary = "the host is too slow to keep the device busy",
		.trigger = "Fires where the device is idle because its next work is not launched "
			   "yet, while the host neither loads data nor synchronises, for at least "
			   "threshold of the steps' time; high from high on, else med.",
		.meaning = "The host should be ahead of the device by many launches. Where it is "
			   "behind, a faster device does not make the step shorter. Short stalls "
			   "at the ends of a step are normal; a tenth of it is not.",
		.advice = "torch.compile(mode=\"reduce-overhead\") or torch.cuda.CUDAGraph to "
			  "launch a step at once; optimizers with fused=True or foreach=True, "
			  "larger batches; keep logging, metrics and Python loops over tensors out "
			  "of the step",
		.example = "In a step of 100 ms the device waits 12 ms for launches: 0.12, a "
			   "finding of severity med with 12 ms a step to win.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
			{ "high", 0.30, "share of the step from which it is severe" },
		},
		.facts = { "budget.launch_stall_ns", "budget.wall_ns" },
	},
	.evidence = { "budget.launch_stall_ns", "budget.wall_ns", "launches.launches_per_step",
		      "launches.host_bound_ratio", "launches.queued_ratio" },
	.cause = CAUSE_launch_overhead,
	.evaluate = evaluate_host_launch_bound,
};
