/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.IMPOSSIBLE_MFU: more FLOPs than the device can do: one of the figures is wrong. */
#include "rules/rule.h"

static void evaluate(struct rule_context *ctx)
{
	double mfu = tsi_rule_real(ctx, "efficiency.mfu_uncapped");

	if (mfu <= tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "your FLOPs or your peak are wrong: together they give an MFU of %.0f %%",
		      100 * mfu);
	tsi_rule_evidence(ctx, "efficiency.mfu_uncapped");
	tsi_rule_evidence(ctx, "efficiency.flops_per_step");
	tsi_rule_evidence(ctx, "efficiency.peak_flops");
	tsi_rule_evidence(ctx, "efficiency.wall_ns");
}

const struct rule tsi_rule_efficiency_impossible_mfu = {
	.def = {
		.id = "EFFICIENCY.IMPOSSIBLE_MFU",
		.summary = "the MFU is above 100 %: FLOPs or peak are wrong",
		.trigger = "Fires where the MFU before it is capped at 1 is above threshold; high.",
		.meaning = "No device does more than its peak. An MFU that is capped to 100 % "
			   "looks perfect, and every gate on it holds.",
		.advice = "give the FLOPs of one step of one device (--flops-per-step), not of the "
			  "whole job or of all accumulated batches, and the peak of the precision "
			  "in use in TFLOP/s, dense and not sparse (--peak-tflops)",
		.example = "4e15 FLOPs in a step of 1 s with a peak of 989 TFLOP/s give 404 %: a "
			   "finding of severity high. They were the FLOPs of 8 devices.",
		.parameters = {
			{ "threshold", 1, "MFU above which it fires" },
		},
		.facts = { "efficiency.mfu_uncapped" },
	},
	.evaluate = evaluate,
};
