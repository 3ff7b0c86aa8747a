/* SPDX-License-Identifier: MIT */
/* DIST.TINY_COLLECTIVES: many small collectives, each of which pays the whole latency. */
#include "rules/budget_share.h"
#include "rules/opportunity.h"

static void evaluate_dist_tiny_collectives(struct rule_context *ctx)
{
	double count = tsi_opportunity_count(ctx, "opportunities.tiny_comm_count");
	double share = tsi_opportunity_share(ctx, "opportunities.tiny_comm_exposed_total_ns");

	if (!(count >= tsi_rule_parameter(ctx, "count")) ||
	    !(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "%.0f small collectives per step are exposed for %.1f %% of the step", count,
		      100 * share);
	tsi_blame_launchers(ctx, "bucket");
	tsi_gain_share(ctx, GAIN_COMM_TRANSFER, share);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_dist_tiny_collectives = {
	.def = {
		.id = "DIST.TINY_COLLECTIVES",
		.summary = "many small collectives instead of few large ones",
		.trigger = "Fires where a step has at least count collectives of at most 1 MiB or, "
			   "where their sizes are not known, shorter than 1 ms, and no computation "
			   "hides them for at least threshold of the steps' time; high from high "
			   "on, else med.",
		.meaning = "A collective takes tens of microseconds however small it is, and the "
			   "host as long to launch it. Ranks that come late make each one wait.",
		.advice = "reduce gradients in buckets: DistributedDataParallel does it "
			  "(bucket_cap_mb); by hand, flatten them into one tensor first",
		.serving_advice = "use the one-shot all-reduce of the engine: vLLM without "
			  "--disable-custom-all-reduce, SGLang likewise",
		.inference_advice = "reduce several tensors in one collective",
		.example = "In a step of 350 ms 400 all-reduces, one for each parameter, are "
			   "exposed for 49 ms: 0.14, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.30, "share of the step from which it is severe" },
			{ "count", 50, "collectives a step at which it fires" },
		},
		.facts = { "opportunities.tiny_comm_count",
			   "opportunities.tiny_comm_exposed_total_ns",
			   "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.tiny_comm_count", "opportunities.tiny_comm_exposed_total_ns",
		      "opportunities.wall_total_ns", "overlap.exposed_ns" },
	.cause = CAUSE_tiny_collectives,
	.evaluate = evaluate_dist_tiny_collectives,
};
