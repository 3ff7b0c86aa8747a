/* SPDX-License-Identifier: MIT */
/* COPY.HOST_TENSOR: tensors are filled on the host and copied, not made on the device. */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/pattern.h"

static void evaluate_copy_host_tensor(struct rule_context *ctx)
{
	double count = tsi_pattern_count(ctx, "patterns.host_tensor_count");
	double share = tsi_pattern_share(ctx, "patterns.host_tensor_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "filling tensors on the host and copying them takes %.1f %% of the step",
		      100 * share);
	tsi_rule_detail(ctx, "%.1f tensors per step", count);
	tsi_describe_pattern(ctx, "host_tensor", "aten::to");
	tsi_gain_host_share(ctx, GAIN_BLOCKING_COPY, share);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_copy_host_tensor = {
	.def = {
		.id = "COPY.HOST_TENSOR",
		.summary = "tensors are filled on the host and copied to the device",
		.trigger = "Fires where operators that fill a tensor on the host, with a copy of "
			   "a tensor of its size to a device right behind them, take at least "
			   "threshold of the steps' time on the host; high from high on, else "
			   "med. Needs recorded shapes.",
		.meaning = "The device fills a tensor faster than the host, and nothing needs to "
			   "be copied. What the device waits meanwhile can be won at most.",
		.advice = "make them where they are needed: device=\"cuda\" in torch.zeros, "
			  "torch.randn and so on, or torch.zeros_like(x)",
		.serving_advice = OVERLAP_HOST,
		.example = "In a step of 50 ms torch.ones(...).to(\"cuda\") takes 4 ms: 0.08.",
		.parameters = {
			{ "threshold", 0.01, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
		.facts = { "patterns.host_tensor_total_ns", "patterns.wall_total_ns" },
	},
	.evidence = { "patterns.host_tensor_count", "patterns.host_tensor_total_ns",
		      "patterns.wall_total_ns" },
	.cause = CAUSE_blocking_copy,
	.evaluate = evaluate_copy_host_tensor,
};
