/* SPDX-License-Identifier: MIT */
/* CONVERGENCE.DIVERGED: the loss became NaN or infinite. */
#include "rules/rule.h"

#include <inttypes.h>

static void evaluate_convergence_diverged(struct rule_context *ctx)
{
	if (!tsi_rule_has(ctx, "convergence.diverged_at"))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the loss is NaN or infinite, first in step %" PRId64,
		      tsi_rule_int(ctx, "convergence.diverged_at"));
	if (tsi_rule_has(ctx, "convergence.best_loss"))
		tsi_rule_detail(ctx, "best finite loss %.4g",
				tsi_rule_real(ctx, "convergence.best_loss"));
}

const struct rule tsi_rule_convergence_diverged = {
	.def = {
		.id = "CONVERGENCE.DIVERGED",
		.summary = "the loss became NaN or infinite",
		.trigger = "Fires where the loss of any step is not finite; high.",
		.meaning = "From there on the weights are most likely worthless, and every "
			   "further step is wasted.",
		.advice = "go back to the last checkpoint before that step; lower the learning "
			  "rate or lengthen its warm-up, clip gradients, check the batch for "
			  "bad values, guard log and division in the loss, and with fp16 check "
			  "the loss scale (or use bf16)",
		.example = "The losses of steps 0 to 3 are 2.1, 1.9, NaN, NaN: a finding of "
			   "severity high that names step 2.",
		.facts = { "convergence.loss_trend" },
	},
	.evidence = { "convergence.diverged_at", "convergence.best_loss" },
	.cause = CAUSE_divergence,
	.evaluate = evaluate_convergence_diverged,
};
