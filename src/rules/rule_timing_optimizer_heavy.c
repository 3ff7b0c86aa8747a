/* SPDX-License-Identifier: MIT */
/* TIMING.OPTIMIZER_HEAVY: updating the weights takes a share that fused kernels would not. */
#include "rules/rule.h"

#include <string.h>

static void evaluate_timing_optimizer_heavy(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "step_time.phase.optimizer_ratio");

	if (ratio < tsi_rule_parameter(ctx, "threshold"))
		return;
	if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "train_batch") == 0) {
		tsi_rule_skip(ctx, "Composer marks no optimizer: the phase is what a batch holds "
				   "besides forward and backward");
		return;
	}
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW, "the optimizer takes %.1f %% of the step",
		      100 * ratio);
	tsi_rule_detail(ctx, "%s of a step of %s",
			tsi_rule_time(ctx, "step_time.phase.optimizer_ns").chars,
			tsi_rule_time(ctx, "step_time.mean_ns").chars);
}

const struct rule tsi_rule_timing_optimizer_heavy = {
	.def = {
		.id = "TIMING.OPTIMIZER_HEAVY",
		.summary = "the optimizer takes much of the step",
		.trigger = "Fires where phase optimizer takes at least threshold of the mean "
			   "step; low. Silent on Composer's traces, whose phase optimizer holds "
			   "all that is not forward or backward.",
		.meaning = "An update reads and writes each weight a few times. An optimizer "
			   "that walks over the parameters one by one launches thousands of "
			   "small kernels for it.",
		.advice = "pass fused=True to the optimizer (on the CPU from PyTorch 2.4 on), or "
			  "foreach=True on a GPU; accumulate gradients over several batches if "
			  "its share stays high",
		.example = "A step of 100 ms spends 20 ms in the optimizer: the share is 0.20, a "
			   "finding of severity low.",
		.parameters = {
			{ "threshold", 0.15, "share of the step at which it fires" },
		},
		.facts = { "step_time.phase.optimizer_ratio" },
	},
	.evidence = { "step_time.phase.optimizer_ratio", "step_time.phase.optimizer_ns" },
	.cause = CAUSE_optimizer_unfused,
	.evaluate = evaluate_timing_optimizer_heavy,
};
