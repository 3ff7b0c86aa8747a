/* SPDX-License-Identifier: MIT */
/* DIST.PIPELINE_BUBBLE: stages of a pipeline idle more than filling and draining it costs. */
#include "rules/rank_figures.h"

#include <inttypes.h>

static const double min_imbalance = 0.01; /* of the stages' mean compute */

static bool has_equal_stages(const struct rule_context *ctx)
{
	return tsi_rule_has(ctx, "pipeline.stage_imbalance_ratio") &&
	       tsi_rule_real(ctx, "pipeline.stage_imbalance_ratio") < min_imbalance;
}

/* Describes stages and schedule if they were inferred. */
static void describe_inferred(struct rule_context *ctx)
{
	double imbalance = tsi_rule_real(ctx, "pipeline.stage_imbalance_ratio");

	if (!tsi_rule_flag(ctx, "pipeline.is_inferred"))
		return;
	if (tsi_rule_has(ctx, "pipeline.microbatch_count"))
		tsi_rule_detail(ctx, "%" PRId64 " microbatches, %" PRId64 " stages",
				tsi_rule_int(ctx, "pipeline.microbatch_count"),
				tsi_rule_int(ctx, "pipeline.stage_count"));
	if (tsi_rule_int(ctx, "pipeline.virtual_stage_count") > 1)
		tsi_rule_detail(ctx, "%" PRId64 " virtual stages per rank",
				tsi_rule_int(ctx, "pipeline.virtual_stage_count"));
	if (imbalance >= min_imbalance)
		tsi_rule_detail(ctx, "stage %" PRId64 " computes %.1f %% more than the mean",
				tsi_rule_int(ctx, "pipeline.busiest_stage"), 100 * imbalance);
	tsi_rule_evidence(ctx, "pipeline.microbatch_count");
	tsi_rule_evidence(ctx, "pipeline.virtual_stage_count");
	tsi_rule_evidence(ctx, "pipeline.stage_imbalance_ratio");
}

/* Exclude known non-pipeline idle time (transfers, data loading). */
static void describe_excess(struct rule_context *ctx, bool has_ideal)
{
	double excess = tsi_rule_real(ctx, "pipeline.excess_ratio");
	double ideal = tsi_rule_real(ctx, "pipeline.ideal_bubble_ratio");
	double stall = tsi_rule_real(ctx, "pipeline.stall_ratio");
	bool has_stall = tsi_rule_has(ctx, "pipeline.stall_ratio");

	if (has_stall && has_ideal)
		tsi_rule_detail(ctx, "bubble fraction %.1f %% without other stalls, ideal %.1f %%",
				100 * stall, 100 * ideal);
	else if (has_stall)
		tsi_rule_detail(ctx, "bubble fraction %.1f %% without other stalls", 100 * stall);
	else if (has_ideal)
		tsi_rule_detail(ctx, "%.1f points above the ideal %.1f %%", 100 * excess,
				100 * ideal);
}

/* Stages wait for a late rank, too: what it costs is not the schedule's. */
static void claim_excess(struct rule_context *ctx)
{
	const char *excess = "pipeline.excess_ns_per_step";
	int64_t late_ns = 0;

	if (!tsi_rule_has(ctx, excess))
		return;
	if (tsi_names_slow_rank(ctx)) {
		late_ns = tsi_rule_int(ctx, "distributed.slow_gain_ns");
		tsi_rule_after(ctx, CAUSE_straggler);
	}
	if (tsi_rule_int(ctx, excess) > late_ns)
		tsi_rule_gain(ctx, GAIN_STEP, tsi_rule_int(ctx, excess) - late_ns);
	else
		tsi_rule_wins_nothing(ctx);
}

/* Filling and draining alone leave the stages idle: too few microbatches. */
static void fire_few_microbatches(struct rule_context *ctx)
{
	double ideal = tsi_rule_real(ctx, "pipeline.ideal_bubble_ratio");

	/* idle/busy is (p-1)/(m*v): it halves with twice the microbatches. */
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "too few microbatches: pipeline stages idle for %.1f %% of the step, %.1f %% "
		      "even at best",
		      100 * tsi_rule_real(ctx, "pipeline.bubble_ratio"), 100 * ideal);
	tsi_rule_detail(ctx, "twice as many, half the size: %.1f %% at best",
			100 * ideal / (2 - ideal));
	/* Work then takes (2-2*ideal)/(2-ideal) of the step, not 1-ideal; small ones are slower. */
	tsi_rule_gain(ctx, GAIN_STEP, tsi_share_ns(ctx, ideal / 2));
	tsi_rule_bound(ctx);
	tsi_rule_advice(ctx, "raise the number of microbatches (smaller ones, or a larger global "
			     "batch) to four times the stages, or use an interleaved schedule");
	describe_inferred(ctx);
}

/* If the microbatches are known, only the excess over the ideal schedule counts. */
static void evaluate_dist_pipeline_bubble(struct rule_context *ctx)
{
	bool has_ideal = tsi_rule_has(ctx, "pipeline.excess_ratio");
	bool has_stalls = tsi_rule_has(ctx, "pipeline.stall_ratio");
	double bubble = tsi_rule_real(ctx, "pipeline.bubble_ratio");
	double idle = has_stalls ? tsi_rule_real(ctx, "pipeline.stall_ratio") : bubble;
	double value = has_ideal ? tsi_rule_real(ctx, "pipeline.excess_ratio") : idle;

	if (value < tsi_rule_parameter(ctx, has_ideal ? "threshold" : "bubble")) {
		if (has_ideal && tsi_rule_real(ctx, "pipeline.ideal_bubble_ratio") >=
					 tsi_rule_parameter(ctx, "bubble"))
			fire_few_microbatches(ctx);
		return;
	}
	tsi_rule_fire(ctx,
		      value >= tsi_rule_parameter(ctx, has_ideal ? "high" : "bubble_high")
			      ? TSCOPE_SEVERITY_HIGH
			      : TSCOPE_SEVERITY_MED,
		      "pipeline stages idle for %.1f %% of the step", 100 * bubble);
	describe_excess(ctx, has_ideal);
	if (has_equal_stages(ctx))
		tsi_rule_advice(ctx, "raise the number of microbatches, use 1F1B or an interleaved "
				     "schedule, and send between stages while they compute");
	else if (tsi_rule_has(ctx, "pipeline.idlest_stage"))
		tsi_rule_detail(ctx, "stage %" PRId64 " idles most",
				tsi_rule_int(ctx, "pipeline.idlest_stage"));
	claim_excess(ctx);
	describe_inferred(ctx);
}

const struct rule tsi_rule_dist_pipeline_bubble = {
	.def = {
		.id = "DIST.PIPELINE_BUBBLE",
		.summary = "stages of the pipeline idle",
		.trigger = "Where the microbatches are known: fires where the bubble exceeds the "
			   "ideal one by at least threshold, high from high on, else med; below, "
			   "fires as med where the ideal one itself is at least bubble: the "
			   "microbatches are too few. Where they are not known: "
			   "fires where the bubble is at least bubble, high from bubble_high on, "
			   "else med. Where collectives match across ranks, the bubble is "
			   "pipeline.stall_ratio, which holds no transfers but those between "
			   "stages, and nothing that the host is late with; without such matches "
			   "pipeline.bubble_ratio is taken.",
		.meaning = "With p stages and m microbatches each stage idles for (p-1)/(m+p-1) "
			   "of the step in the best case; with v virtual stages on each rank "
			   "v*m stands for m. More than that is unevenness of the stages or a "
			   "bad schedule.",
		.advice = "move layers from the busiest to the idlest stage, raise the number "
			  "of microbatches, use 1F1B or an interleaved schedule",
		.example = "4 stages with 8 microbatches idle for 40 % of the step, in the best "
			   "case it would be 27.3 %: the excess is 0.127, a finding of severity "
			   "med.",
		.parameters = {
			{ "threshold", 0.05, "excess over the ideal bubble at which it fires" },
			{ "high", 0.15, "excess from which it is severe" },
			{ "bubble", 0.25,
			  "bubble at which it fires: an ideal one, or of no known ideal" },
			{ "bubble_high", 0.45, "bubble from which it is severe then" },
		},
		.facts = { "pipeline.bubble_ratio" },
	},
	.evidence = { "pipeline.bubble_ratio", "pipeline.stall_ratio",
		      "pipeline.ideal_bubble_ratio", "pipeline.excess_ratio",
		      "pipeline.idlest_stage" },
	.cause = CAUSE_pipeline_bubble,
	.evaluate = evaluate_dist_pipeline_bubble,
};
