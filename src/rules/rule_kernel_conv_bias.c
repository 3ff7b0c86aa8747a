/* SPDX-License-Identifier: MIT */
/* KERNEL.CONV_BIAS: convolutions add a bias that the batch norm behind them subtracts. */
#include "rules/pattern.h"

static void evaluate_kernel_conv_bias(struct rule_context *ctx)
{
	double count = tsi_pattern_count(ctx, "patterns.conv_bias_count");

	if (!(count >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
		      "%.0f convolution%s per step add%s a bias right before a batch norm", count,
		      count < 1.5 ? "" : "s", count < 1.5 ? "s" : "");
	tsi_describe_pattern(ctx, "conv_bias", "aten::conv2d");
}

const struct rule tsi_rule_kernel_conv_bias = {
	.def = {
		.id = "KERNEL.CONV_BIAS",
		.summary = "convolutions have a bias before a batch norm",
		.trigger = "Fires where at least threshold convolutions a step have a bias and a "
			   "batch norm right behind them; low. Needs recorded shapes.",
		.meaning = "The norm subtracts the mean, and with it the bias: adding it, its "
			   "gradient and its update are for nothing.",
		.advice = "set bias=False in convolutions that a batch norm follows",
		.example = "In a step 20 of 53 convolutions have a bias and a batch norm behind "
			   "them: a finding of severity low.",
		.parameters = {
			{ "threshold", 1, "such convolutions a step at which it fires" },
		},
		.facts = { "patterns.conv_bias_count", "patterns.step_count" },
	},
	.evidence = { "patterns.conv_bias_count", "patterns.step_count" },
	.cause = CAUSE_memory_bound_elementwise,
	.is_separate = true,
	.evaluate = evaluate_kernel_conv_bias,
};
