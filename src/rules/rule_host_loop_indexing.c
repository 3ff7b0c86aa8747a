/* SPDX-License-Identifier: MIT */
/* HOST.LOOP_INDEXING: a loop selects one element of a tensor after the other. */
#include "rules/budget_share.h"
#include "rules/pattern.h"

static void evaluate_host_loop_indexing(struct rule_context *ctx)
{
	double count = tsi_pattern_count(ctx, "patterns.loop_count");
	double share = tsi_pattern_share(ctx, "patterns.loop_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "loops that index a tensor take %.1f %% of the step on the host",
		      100 * share);
	tsi_rule_detail(ctx, "%.0f iterations per step", count);
	tsi_describe_pattern(ctx, "loop", "aten::select");
	tsi_gain_host_share(ctx, GAIN_LAUNCH, share);
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

const struct rule tsi_rule_host_loop_indexing = {
	.def = {
		.id = "HOST.LOOP_INDEXING",
		.summary = "a loop indexes a tensor element by element",
		.trigger = "Fires where loops take at least threshold of the steps' time on the "
			   "host: aten::select of the same sizes 10 times or more, with the same "
			   "operators in between, 8 at most; high from high on, else med.",
		.meaning = "Each iteration costs several operators and launches; one operator "
			   "on the whole tensor does the same. What the device waits meanwhile can "
			   "be won at most.",
		.advice = "replace the loop by operations on the whole tensor (slices, masks, "
			  "torch.where, index_copy_, torch.vmap), or compile it",
		.example = "for i in range(1000): x[i] = i takes 20 ms of a step of 100 ms: 0.20.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
		.facts = { "patterns.loop_total_ns", "patterns.wall_total_ns" },
	},
	.evidence = { "patterns.loop_count", "patterns.loop_total_ns", "patterns.wall_total_ns" },
	.cause = CAUSE_host_python,
	.is_separate = true,
	.evaluate = evaluate_host_loop_indexing,
};
