/* SPDX-License-Identifier: MIT */
/* DIST.DATA_PARALLEL: one process copies the model to all devices in each step. */
#include "rules/budget_share.h"
#include "rules/pattern.h"

static void evaluate_dist_data_parallel(struct rule_context *ctx)
{
	double count = tsi_pattern_count(ctx, "patterns.data_parallel_count");
	double share = tsi_pattern_share(ctx, "patterns.data_parallel_total_ns");

	if (!(count >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "torch.nn.DataParallel: one process drives several devices");
	tsi_rule_detail(ctx,
			"it scatters, broadcasts and gathers %.0f times per step, which takes the "
			"host %.1f %% of it",
			count, 100 * share);
	tsi_describe_pattern(ctx, "data_parallel", "Broadcast");
	tsi_gain_host_share(ctx, GAIN_LAUNCH, share);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_dist_data_parallel = {
	.def = {
		.id = "DIST.DATA_PARALLEL",
		.summary = "torch.nn.DataParallel copies the model in each step",
		.trigger = "Fires where operators of DataParallel (Broadcast, Scatter, Gather and "
			   "their backward passes) run at least threshold times a step in a trace "
			   "of several devices; severity follows their time on the host, as far "
			   "as devices are idle.",
		.meaning = "One process launches the work of all devices, copies the parameters "
			   "to each in each step and gathers outputs and gradients on the first. "
			   "What devices wait for these operators can be won at most; that one "
			   "interpreter launches for all costs more.",
		.advice = "DistributedDataParallel, one process a device "
			  "(torchrun --nproc-per-node)",
		.example = "In a step of 100 ms on 4 devices Broadcast, Scatter and Gather take 30 "
			   "ms: a finding of severity high.",
		.parameters = {
			{ "threshold", 1, "such operators a step at which it fires" },
		},
		.facts = { "patterns.data_parallel_count", "patterns.step_count" },
	},
	.evidence = { "patterns.data_parallel_count", "patterns.data_parallel_total_ns",
		      "patterns.wall_total_ns" },
	.cause = CAUSE_data_parallel,
	.evaluate = evaluate_dist_data_parallel,
};
