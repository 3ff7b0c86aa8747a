/* SPDX-License-Identifier: MIT */
/*
 * DIST.SKEW: in a usual step the slowest rank joins the collectives late, be it
 * the same rank each time or another one.
 */
#include "rules/rule.h"

static void evaluate(struct rule_context *ctx)
{
	int64_t skew_ns = tsi_rule_int(ctx, "distributed.sync_skew_ns");
	double wall_ns = tsi_rule_real(ctx, "distributed.mean_step_wall_ns");
	double share = (double)skew_ns / wall_ns;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "the slowest rank comes %.1f %% of the step after the median rank",
		      100 * share);
	tsi_rule_detail(ctx, "%.2f ms of a step of %.2f ms", tsi_ms(skew_ns), wall_ns / 1e6);
	tsi_rule_evidence(ctx, "distributed.sync_skew_ns");
	tsi_rule_evidence(ctx, "distributed.mean_step_wall_ns");
	tsi_rule_recoverable(ctx, skew_ns);
	tsi_rule_cause(ctx, CAUSE_SLOW_RANK);
}

const struct rule tsi_rule_dist_skew = {
	.def = {
		.id = "DIST.SKEW",
		.summary = "ranks wait for the slowest one of each step",
		.trigger = "Fires where the compute of the slowest rank exceeds that of the median "
			   "rank by at least threshold of the step, in the median of the steps; "
			   "med.",
		.meaning = "Half of the ranks or more are ready and wait for one. Noise makes the "
			   "slowest of many ranks a per cent or two late; a twentieth of the step "
			   "is a rank, or a batch, that differs.",
		.advice = "see distributed.ranks: if one rank is slowest most times compare its "
			  "host (clocks, power limit, PCIe, other jobs) with the others; if it "
			  "changes give all ranks batches of equal cost (bucket or pack by length) "
			  "and collect Python's garbage on all ranks at the same step",
		.example = "In steps of 100 ms the median rank computes for 80 ms and the slowest "
			   "for 88 ms: 0.08, a finding of severity med with 8 ms a step to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "distributed.sync_skew_ns", "distributed.mean_step_wall_ns" },
	},
	.evaluate = evaluate,
};
