/* SPDX-License-Identifier: MIT */
/* CONVERGENCE.NO_PROGRESS: many steps, and the loss is where it was or higher. */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

static void evaluate_convergence_no_progress(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "convergence.loss_count");
	double least = tsi_rule_parameter(ctx, "steps");
	const char *trend = tsi_rule_text(ctx, "convergence.loss_trend");
	bool is_worse = strcmp(trend, "worsening") == 0;

	if (!tsi_rule_trusts(ctx, "convergence.loss_trend"))
		return;
	if ((double)count < least) {
		tsi_rule_undecided(ctx, is_worse, "%" PRId64 " losses: it needs %g", count, least);
		return;
	}
	if (!is_worse && strcmp(trend, "plateau") != 0)
		return;
	tsi_rule_fire(ctx, is_worse ? TSCOPE_SEVERITY_HIGH : TSCOPE_SEVERITY_LOW,
		      "the loss %s: best %.4g, last %.4g", is_worse ? "rises" : "does not fall",
		      tsi_rule_real(ctx, "convergence.best_loss"),
		      tsi_rule_real(ctx, "convergence.final_loss"));
	tsi_rule_detail(ctx, "%" PRId64 " losses were logged", count);
	if (is_worse)
		tsi_rule_advice(ctx, "lower the learning rate; check that the schedule, labels and "
				     "the sign of the loss are as meant");
}

const struct rule tsi_rule_convergence_no_progress = {
	.def = {
		.id = "CONVERGENCE.NO_PROGRESS",
		.summary = "the loss does not fall",
		.trigger = "Fires where the median of the last tenth of the losses is more than 2 "
			   "% above that of the first tenth (worsening: high) or within 2 % of it "
			   "(plateau: low). It needs at least as many losses as steps says. Not "
			   "where a reward is logged: in reinforcement learning the loss need not "
			   "fall.",
		.meaning = "The run costs time and learns nothing that the loss shows.",
		.advice = "at the end of a schedule this is expected; else raise or decay the "
			  "learning rate, check that the weights that should train do "
			  "(requires_grad, parameters given to the optimizer), look at data and "
			  "labels, then at the model's capacity",
		.example = "Of 100 losses the median of the first ten is 2.00 and of the last ten "
			   "2.10: it rose by 5 %, a finding of severity high.",
		.parameters = {
			{ "steps", 50, "fewest losses to judge by" },
		},
		.facts = { "convergence.loss_trend", "convergence.loss_count" },
	},
	.evidence = { "convergence.loss_trend", "convergence.best_loss", "convergence.final_loss",
		      "convergence.loss_count" },
	.cause = CAUSE_no_progress,
	.evaluate = evaluate_convergence_no_progress,
};
