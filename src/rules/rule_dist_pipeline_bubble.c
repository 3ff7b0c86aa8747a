/* SPDX-License-Identifier: MIT */
/* DIST.PIPELINE_BUBBLE: stages of a pipeline idle more than filling and draining it costs. */
#include "rules/rule.h"

#include <inttypes.h>

/* Where the microbatches are known, only what is beyond the ideal schedule counts. */
static void evaluate(struct rule_context *ctx)
{
	bool has_ideal = tsi_rule_has(ctx, "pipeline.excess_ratio");
	double bubble = tsi_rule_real(ctx, "pipeline.bubble_ratio");
	double excess = tsi_rule_real(ctx, "pipeline.excess_ratio");
	double value = has_ideal ? excess : bubble;

	if (value < tsi_rule_parameter(ctx, has_ideal ? "threshold" : "bubble"))
		return;
	tsi_rule_fire(ctx,
		      value >= tsi_rule_parameter(ctx, has_ideal ? "high" : "bubble_high")
			      ? TSCOPE_SEVERITY_HIGH
			      : TSCOPE_SEVERITY_MED,
		      "the stages of the pipeline idle for %.1f %% of the step", 100 * bubble);
	if (has_ideal)
		tsi_rule_detail(ctx, "%.1f points more than the ideal %.1f %%", 100 * excess,
				100 * tsi_rule_real(ctx, "pipeline.ideal_bubble_ratio"));
	if (tsi_rule_has(ctx, "pipeline.idlest_stage"))
		tsi_rule_detail(ctx, "most in stage %" PRId64,
				tsi_rule_int(ctx, "pipeline.idlest_stage"));
	tsi_rule_evidence(ctx, "pipeline.bubble_ratio");
	tsi_rule_evidence(ctx, "pipeline.ideal_bubble_ratio");
	tsi_rule_evidence(ctx, "pipeline.excess_ratio");
	tsi_rule_evidence(ctx, "pipeline.idlest_stage");
}

const struct rule tsi_rule_dist_pipeline_bubble = {
	.def = {
		.id = "DIST.PIPELINE_BUBBLE",
		.summary = "stages of the pipeline idle",
		.trigger = "Where the microbatches are known: fires where the bubble exceeds the "
			   "ideal one by at least threshold, high from high on, else med. Else: "
			   "fires where the bubble is at least bubble, high from bubble_high on, "
			   "else med.",
		.meaning = "With p stages and m microbatches each stage idles for (p-1)/(m+p-1) "
			   "of the step in the best case. More than that is unevenness of the "
			   "stages or a bad schedule.",
		.advice = "move layers from the busiest to the idlest stage, raise the number "
			  "of microbatches, use 1F1B or an interleaved schedule",
		.example = "4 stages with 8 microbatches idle for 40 % of the step, in the best "
			   "case it would be 27.3 %: the excess is 0.127, a finding of severity "
			   "med.",
		.parameters = {
			{ "threshold", 0.05, "excess over the ideal bubble at which it fires" },
			{ "high", 0.15, "excess from which it is severe" },
			{ "bubble", 0.25, "bubble at which it fires where the ideal is not known" },
			{ "bubble_high", 0.45, "bubble from which it is severe then" },
		},
		.facts = { "pipeline.bubble_ratio" },
	},
	.evaluate = evaluate,
};
