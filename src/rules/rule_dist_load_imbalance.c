/* SPDX-License-Identifier: MIT */
/* DIST.LOAD_IMBALANCE: some ranks have more work than others, not always the same ones. */
#include "rules/rank_figures.h"

/* Whether ranks differ in compute. Assumed without traces. */
static bool is_compute(const struct rule_context *ctx)
{
	double skew_ns = tsi_rule_real(ctx, "stragglers.skew_ns");

	return !tsi_rule_knows(ctx, "stragglers.skew_ns") ||
	       tsi_rule_real(ctx, "distributed.sync_skew_ns") >=
		       tsi_rule_parameter(ctx, "share") * skew_ns;
}

static void evaluate_dist_load_imbalance(struct rule_context *ctx)
{
	double cv = tsi_rule_real(ctx, "distributed.imbalance_cv");
	double lost = tsi_rule_real(ctx, "distributed.wall_frac_lost_to_imbalance");

	/* DIST.STRAGGLER reports a single slow rank, DIST.PIPELINE_BUBBLE stages that differ. */
	if (tsi_names_slow_rank(ctx) || tsi_rule_has(ctx, "pipeline.bubble_ratio"))
		return;
	if (cv < tsi_rule_parameter(ctx, "threshold") || lost < tsi_rule_parameter(ctx, "lost") ||
	    !is_compute(ctx))
		return;
	tsi_rule_fire(
		ctx, TSCOPE_SEVERITY_MED,
		"load imbalance: %.1f %% of compute time is lost waiting for the slowest rank",
		100 * lost);
	tsi_rule_detail(ctx,
			"compute varies by %.1f %% across ranks (standard deviation); the slowest "
			"is %s behind the median",
			100 * cv, tsi_rule_time(ctx, "distributed.sync_skew_ns").chars);
	tsi_gain_simulated(ctx, tsi_rule_int(ctx, "distributed.wall_lost_ns_per_step"));
}

const struct rule tsi_rule_dist_load_imbalance = {
	.def = {
		.id = "DIST.LOAD_IMBALANCE",
		.summary = "some ranks have more work than others",
		.trigger = "Fires where distributed.slow_ranks names no rank, no pipeline gives "
			   "ranks different work (DIST.PIPELINE_BUBBLE judges that), the compute "
			   "of the ranks varies by at least threshold, and at least lost is lost "
			   "by that; med. With traces it takes all that ranks do beside waiting, "
			   "at least share of their difference must be compute.",
		.meaning = "In each step all ranks wait for the one with most work, even if that "
			   "is another one each time.",
		.advice = "give each rank batches of equal cost: bucket or pack by length, "
			  "count tokens instead of samples, shuffle across ranks; move work of "
			  "one rank only (logging, evaluation) elsewhere",
		.serving_advice = "balance requests over the ranks: a router before vLLM's "
			  "replicas, SGLang --load-balance-method",
		.example = "Of 2 ranks one computes for 100 ms and the other for 140 ms, in "
			   "turns: the variation is 0.17 and 0.14 is lost, a finding of severity "
			   "med with 20 ms a step to win.",
		.parameters = {
			{ "threshold", 0.15,
			  "standard deviation ÷ mean of the ranks' compute at which it fires" },
			{ "lost", 0.05, "wall_frac_lost_to_imbalance at which it fires" },
			{ "share", 0.5, "distributed.sync_skew_ns by stragglers.skew_ns" },
		},
		.facts = { "distributed.imbalance_cv", "distributed.wall_frac_lost_to_imbalance" },
	},
	.evidence = { "distributed.imbalance_cv", "distributed.wall_frac_lost_to_imbalance",
		      "distributed.wall_lost_ns_per_step", "distributed.sync_skew_ns" },
	.cause = CAUSE_load_imbalance,
	.evaluate = evaluate_dist_load_imbalance,
};
