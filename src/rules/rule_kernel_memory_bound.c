/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.MEMORY_BOUND: kernels that compute little for what they read and write. Kernels that run
 * directly one after the other on a stream could be one kernel, which reads and writes once.
 */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/opportunity.h"

/*
 * The part that is not about the scores of unfused attention: fused attention wins those back, and
 * KERNEL.UNFUSED_ATTENTION claims them. A softmax is no elementwise kernel.
 */
static double part_without_scores(const struct rule_context *ctx, double share)
{
	double scores = tsi_budget_share(ctx, "attention.scores_total_ns") -
			tsi_budget_share(ctx, "attention.softmax_total_ns");

	if (!(scores > 0) || !(share > 0))
		return 1;
	return scores < share ? 1 - scores / share : 0;
}

static void evaluate_kernel_memory_bound(struct rule_context *ctx)
{
	double all = tsi_opportunity_share(ctx, "opportunities.fusible_total_ns");
	double part = part_without_scores(ctx, all), share = part * all;
	double saving = part * tsi_opportunity_share(ctx, "opportunities.fusible_saving_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")) ||
	    !(saving >= tsi_rule_parameter(ctx, "saving")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, saving),
		      "memory-bound kernels (elementwise, copy, reduction) take %.1f %% "
		      "of the step",
		      100 * share);
	tsi_rule_detail(ctx, "%.0f kernels of 10 \xc2\xb5s or more per step",
			tsi_opportunity_count(ctx, "opportunities.fusible_count"));
	tsi_rule_detail(ctx, "fusing consecutive ones could save %.1f %%", 100 * saving);
	tsi_blame_launchers(ctx, "fuse");
	tsi_gain_share(ctx, GAIN_ELEMENTWISE, saving);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_memory_bound = {
	.def = {
		.id = "KERNEL.MEMORY_BOUND",
		.summary = "unfused elementwise kernels take much of the step",
		.trigger = "Fires where elementwise, copy and reduction kernels of at least 10 "
			   "\xc2\xb5s, none of them made by a compiler or of the optimizer, take "
			   "at least threshold of the steps' time, and what lies beyond the "
			   "longest kernel of each uninterrupted run on a stream at least saving; "
			   "high where that reaches high, else med. What reads the scores of "
			   "unfused attention is left to KERNEL.UNFUSED_ATTENTION.",
		.meaning = "Such kernels wait for memory: each reads its operands and writes its "
			   "result, which the next one reads again. A fused kernel keeps them in "
			   "registers.",
		.advice = "torch.compile fuses them; or call operators that are fused already "
			  "(F.rms_norm, F.layer_norm, F.cross_entropy, fused RoPE and SwiGLU), and "
			  "drop casts: keep activations in one precision",
		.serving_advice = FUSION_PASSES " (fuse_norm_quant, fuse_act_quant); " FUSION_SMALL,
		.example = "In a step of 50 ms multiplications, additions and casts run for 25 "
			   "ms; the longest of each run take 10 ms: 0.50 and 0.30, a finding of "
			   "severity high.",
		.parameters = {
			{ "threshold", 0.30, "share of the step at which it fires" },
			{ "saving", 0.10, "share of the step that fusing must win" },
			{ "high", 0.30, "what fusing wins from which it is severe" },
		},
		.facts = { "opportunities.fusible_total_ns",
			   "opportunities.fusible_saving_total_ns",
			   "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.fusible_total_ns", "opportunities.fusible_saving_total_ns",
		      "opportunities.fusible_count", "opportunities.wall_total_ns" },
	.cause = CAUSE_memory_bound_elementwise,
	.evaluate = evaluate_kernel_memory_bound,
};
