/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.LOW_MFU: the device does far fewer FLOPs than it could, and a line says why. */
#include "rules/efficiency_lines.h"

static void evaluate(struct rule_context *ctx)
{
	double mfu = tsi_rule_real(ctx, "efficiency.mfu");
	double top = tsi_rule_real(ctx, "efficiency.top_recoverable_ratio");

	if (mfu >= tsi_rule_parameter(ctx, "threshold") || top < tsi_rule_parameter(ctx, "line"))
		return;
	tsi_rule_fire(ctx,
		      mfu < tsi_rule_parameter(ctx, "high") ? TSCOPE_SEVERITY_HIGH
							    : TSCOPE_SEVERITY_MED,
		      "the model uses %.1f %% of the device's peak FLOPs (MFU)", 100 * mfu);
	tsi_rule_evidence(ctx, "efficiency.mfu");
	tsi_tell_efficiency_lines(ctx);
}

const struct rule tsi_rule_efficiency_low_mfu = {
	.def = {
		.id = "EFFICIENCY.LOW_MFU",
		.summary = "the device does far fewer FLOPs than it could",
		.trigger = "Fires where the FLOPs of a step and the peak of the device are "
			   "known, the MFU is below threshold and the largest recoverable line "
			   "takes at least line of the time; high below high, else med.",
		.meaning = "MFU is the share of the time that the model's FLOPs would take at "
			   "the device's peak. The rest is paid for and not used.",
		.advice = "follow the largest line: autocast, torch.compile and larger batches "
			  "against compute overhead, more loader workers against data stalls, "
			  "overlap against communication, marks around what is in no phase",
		.example = "A step of 100 ms computes for 70 ms and waits 30 ms for data; its "
			   "FLOPs take 35 ms at the peak: the MFU is 0.35, a finding of severity "
			   "med, and the largest line is compute overhead with 35 ms a step.",
		.parameters = {
			{ "threshold", 0.50, "MFU below which it fires" },
			{ "high", 0.30, "MFU below which it is severe" },
			{ "line", 0.10, "least share of the largest recoverable line" },
		},
		.facts = { "efficiency.mfu", "efficiency.top_recoverable_ratio" },
	},
	.evaluate = evaluate,
};
