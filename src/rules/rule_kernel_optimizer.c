/* SPDX-License-Identifier: MIT */
/* KERNEL.OPTIMIZER: the optimizer updates one tensor at a time. */
#include "rules/budget_share.h"
#include "rules/opportunity.h"

static void evaluate_kernel_optimizer(struct rule_context *ctx)
{
	double count = tsi_opportunity_count(ctx, "opportunities.optimizer_count");
	double busy = tsi_opportunity_share(ctx, "opportunities.optimizer_ns");
	double gap = tsi_opportunity_share(ctx, "opportunities.optimizer_gap_ns");

	if (tsi_rule_int(ctx, "opportunities.optimizer_grouped_count") > 0 ||
	    !(count >= tsi_rule_parameter(ctx, "count")) ||
	    !(busy + gap >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx,
		      busy + gap >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
								   : TSCOPE_SEVERITY_LOW,
		      "the optimizer launches %.0f kernels a step, one tensor at a time", count);
	tsi_rule_detail(ctx, "they run for %.1f %% of the step, idle gaps before them %.1f %%",
			100 * busy, 100 * gap);
	tsi_blame_launchers(ctx, "optimizer");
	tsi_gain_share(ctx, GAIN_OPTIMIZER, busy);
	tsi_gain_share(ctx, GAIN_LAUNCH, gap);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_optimizer = {
	.def = {
		.id = "KERNEL.OPTIMIZER",
		.summary = "the optimizer updates one tensor at a time",
		.trigger = "Fires where the optimizer launches at least count kernels a step, none "
			   "of them named as one that updates many tensors (foreach, fused), and "
			   "they with the gaps of at most 100 \xc2\xb5s before them take at least "
			   "threshold of the steps' time; med from med on, else low.",
		.meaning = "Each parameter costs several launches of some microseconds; foreach "
			   "and fused optimizers update all in a few.",
		.advice = "fused=True or foreach=True in torch.optim's optimizers; of others, "
			  "torch.compile(optimizer.step)",
		.example = "In a step of 100 ms an optimizer launches 480 kernels that with the "
			   "gaps before them take 4 ms: 0.04, a finding of severity low.",
		.parameters = {
			{ "threshold", 0.03, "share of the step at which it fires" },
			{ "med", 0.10, "share of the step from which it is med" },
			{ "count", 100, "kernels a step at which it fires" },
		},
		.facts = { "opportunities.optimizer_count", "opportunities.optimizer_grouped_count",
			   "opportunities.optimizer_ns", "opportunities.optimizer_gap_ns",
			   "opportunities.wall_ns" },
	},
	.evidence = { "opportunities.optimizer_count", "opportunities.optimizer_ns",
		      "opportunities.optimizer_gap_ns", "opportunities.wall_ns" },
	.cause = CAUSE_optimizer_unfused,
	.evaluate = evaluate_kernel_optimizer,
};
