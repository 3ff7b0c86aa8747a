/* SPDX-License-Identifier: MIT */
/* DIST.EXPERT_IMBALANCE: some ranks get more of what a mixture of experts is to compute. */
#include "rules/rank_figures.h"

#include <inttypes.h>
#include <math.h>

#define RANKS "experts.ranks"

/* The load of the rank that receives most, over the whole capture. */
static double busiest_load(const struct rule_context *ctx)
{
	int64_t busiest = tsi_rule_int(ctx, "experts.busiest_rank");

	for (size_t row = 0; row < tsi_rule_rows(ctx, RANKS); row++)
		if (tsi_rule_cell(ctx, RANKS, row, "rank").integer == busiest)
			return tsi_rule_cell_real(ctx, RANKS, row, "load_ratio");
	return NAN;
}

static void evaluate_dist_expert_imbalance(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "experts.imbalance_ratio");
	double load = busiest_load(ctx);

	if (!(ratio >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, ratio),
		      "unbalanced experts: the busiest rank of an all-to-all receives %.2f times "
		      "the mean",
		      ratio);
	if (tsi_has_busiest_experts(ctx, tsi_named_slow_rank(ctx)))
		tsi_rule_merge_with(ctx, CAUSE_straggler);
	if (isfinite(load))
		tsi_rule_detail(
			ctx,
			"rank %" PRId64
			" receives most over the whole capture: %.2f times its group's mean",
			tsi_rule_int(ctx, "experts.busiest_rank"), load);
	/* The busiest rank changes: none exceeds the others by as much throughout. */
	if (load - 1 < (ratio - 1) / 2)
		tsi_rule_detail(ctx, "the busiest rank keeps changing");
}

const struct rule tsi_rule_dist_expert_imbalance = {
	.def = {
		.id = "DIST.EXPERT_IMBALANCE",
		.summary = "experts are unbalanced",
		.trigger = "Fires where the busiest rank of an all-to-all with uneven sizes "
			   "receives at least threshold times as much as the mean rank of its "
			   "group, in the mean of all of them; high from high on, else med.",
		.meaning = "What a rank receives is what its experts compute: all others wait for "
			   "the busiest one in the next all-to-all, so that the experts of the "
			   "mean rank stand still for 1 - 1 \xc3\xb7 the ratio of that time.",
		.advice = "raise the weight of the load-balancing loss or use a bias for each "
			  "expert, lower the capacity factor, place experts that are busy "
			  "together on different ranks or twice; if one rank is always the "
			  "busiest, it is its experts",
		.serving_advice = "replicate the busiest experts: vLLM --enable-eplb, SGLang "
			  "--enable-eplb with --ep-num-redundant-experts",
		.inference_advice = "place experts that are busy together on different ranks, or "
			  "the busiest twice",
		.example = "Of 8 ranks that receive 100 MB each in the mean, one gets 150 MB: the "
			   "ratio is 1.5, a finding of severity med.",
		.parameters = {
			{ "threshold", 1.3, "ratio at which it fires" },
			{ "high", 2.0, "ratio from which it is severe" },
		},
		.facts = { "experts.imbalance_ratio" },
	},
	.evidence = { "experts.imbalance_ratio", "experts.worst_imbalance_ratio",
		      "experts.busiest_rank", "experts.count" },
	.cause = CAUSE_expert_imbalance,
	.evaluate = evaluate_dist_expert_imbalance,
};
