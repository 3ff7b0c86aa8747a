/* SPDX-License-Identifier: MIT */
/* KERNEL.UNFUSED_ATTENTION: attention writes its scores to memory and reads them back. */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"

#include <math.h>
#include <string.h>

#define LAUNCHERS "kernels.by_launcher"

static void describe_scores(struct rule_context *ctx)
{
	double keys = tsi_rule_real(ctx, "attention.keys");

	tsi_rule_detail(ctx, "scores of %.0fx%.0fx%.0f", tsi_rule_real(ctx, "attention.heads"),
			tsi_rule_real(ctx, "attention.queries"), keys);
	tsi_rule_detail(ctx, "the products with queries, keys and values take a further %.1f %%",
			100 * tsi_budget_share(ctx, "attention.products_total_ns"));
	if (fmod(keys, 8) > 0)
		tsi_rule_detail(ctx, "rows of %.0f are not a multiple of 8, which slows these down",
				keys);
}

/* The longest softmax: scores are read right before and behind it. Most time comes first. */
static void place_softmax(struct rule_context *ctx)
{
	size_t row = 0, count = tsi_rule_rows(ctx, LAUNCHERS);

	while (row < count &&
	       !strstr(tsi_rule_cell_text(ctx, LAUNCHERS, row, "operator"), "softmax"))
		row++;
	if (row < count)
		tsi_place_kernel(ctx, tsi_rule_cell_text(ctx, LAUNCHERS, row, "name"));
}

static void evaluate_kernel_unfused_attention(struct rule_context *ctx)
{
	double share = tsi_budget_share(ctx, "attention.scores_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(
		ctx, tsi_rule_grade(ctx, share),
		"softmax, masks and copies of unfused attention scores take %.1f %% of the step",
		100 * share);
	describe_scores(ctx);
	tsi_rule_subject(ctx)->op = "aten::_softmax";
	place_softmax(ctx);
	tsi_gain_share(ctx, GAIN_ATTENTION, share);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_unfused_attention = {
	.def = {
		.id = "KERNEL.UNFUSED_ATTENTION",
		.summary = "attention is not fused",
		.trigger = "Fires where operators other than products that read the scores of "
			   "attention, a tensor of queries by keys under a softmax that one "
			   "product makes and another takes, take at least threshold of the "
			   "steps' time; high from high on, else med. Needs recorded shapes.",
		.meaning = "The scores grow with the square of the sequence. A fused kernel keeps "
			   "them on the chip: what reads and writes them is saved, the products "
			   "remain.",
		.advice = "torch.nn.functional.scaled_dot_product_attention, or "
			  "attn_implementation=\"sdpa\" in transformers, need_weights=False in "
			  "calls of nn.MultiheadAttention; pad sequences to multiples of 8",
		.serving_advice = OTHER_ATTENTION,
		.example = "In a step of 100 ms softmax, mask and dropout on scores of "
			   "96x1024x1024 take 20 ms, the products 15 ms: 0.20, a finding of "
			   "severity med; 20 ms is a bound of what can be won.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.30, "share of the step from which it is severe" },
		},
		.facts = { "attention.scores_total_ns", "budget.wall_total_ns" },
	},
	.evidence = { "attention.scores_total_ns", "attention.products_total_ns",
		      "attention.softmax_count", "budget.wall_total_ns" },
	.cause = CAUSE_unfused_attention,
	.evaluate = evaluate_kernel_unfused_attention,
};
