/* SPDX-License-Identifier: MIT */
/* KERNEL.LAYOUT: convolutions want another order of dimensions than their tensors have. */
#include "rules/budget_share.h"
#include "rules/opportunity.h"

static void evaluate_kernel_layout(struct rule_context *ctx)
{
	double share = tsi_opportunity_share(ctx, "opportunities.layout_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "conversions between NCHW and NHWC take %.1f %% of the step", 100 * share);
	tsi_rule_detail(ctx, "%.0f kernels per step",
			tsi_opportunity_count(ctx, "opportunities.layout_count"));
	tsi_blame_launchers(ctx, "layout");
	tsi_gain_share(ctx, GAIN_LAYOUT, share);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_layout = {
	.def = {
		.id = "KERNEL.LAYOUT",
		.summary = "tensors are transposed around convolutions",
		.trigger = "Fires where kernels that convert between NCHW and NHWC take at least "
			   "threshold of the steps' time; high from high on, else med.",
		.meaning = "Tensor cores want channels last. Libraries convert tensors of the "
			   "other layout before and after each convolution.",
		.advice = "model.to(memory_format=torch.channels_last), and the same for its "
			  "inputs; with ROCm also PYTORCH_MIOPEN_SUGGEST_NHWC=1",
		.example = "In a step of 100 ms nchwToNhwcKernel and nhwcToNchwKernel run for 8 "
			   "ms: 0.08, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
		.facts = { "opportunities.layout_total_ns", "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.layout_total_ns", "opportunities.layout_count",
		      "opportunities.wall_total_ns" },
	.cause = CAUSE_layout_transposes,
	.evaluate = evaluate_kernel_layout,
};
