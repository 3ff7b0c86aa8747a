/* SPDX-License-Identifier: MIT */
/* COPY.SMALL: copies so small that launching each costs more than moving its bytes. */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/opportunity.h"

static void evaluate_copy_small(struct rule_context *ctx)
{
	double count = tsi_opportunity_count(ctx, "opportunities.small_copy_count");
	double copy = tsi_opportunity_share(ctx, "opportunities.small_copy_total_ns");
	double gap = tsi_opportunity_share(ctx, "opportunities.small_copy_gap_total_ns");

	if (!(count >= tsi_rule_parameter(ctx, "count")) ||
	    !(copy + gap >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, copy + gap),
		      "%.0f small copies per step (64 KiB or less) and the gaps before them take "
		      "%.1f %% of the step",
		      count, 100 * (copy + gap));
	tsi_rule_detail(ctx, "%.1f %% copying, %.1f %% idle gaps before the copies", 100 * copy,
			100 * gap);
	tsi_blame_launchers(ctx, "small_copy");
	tsi_gain_share(ctx, GAIN_COPY, copy);
	tsi_gain_share(ctx, GAIN_LAUNCH, gap);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_copy_small = {
	.def = {
		.id = "COPY.SMALL",
		.summary = "many small copies",
		.trigger = "Fires where at least count copies a step move at most 64 KiB each, and "
			   "they and the gaps of at most 100 \xc2\xb5s before them take at least "
			   "threshold of the steps' time; high from high on, else med.",
		.meaning = "A copy costs the host and the device some microseconds, however few "
			   "bytes it moves.",
		.advice = "copy many tensors at once: torch._foreach_copy_, or views of one flat "
			  "buffer; DDP(broadcast_buffers=False) where ranks need not share the "
			  "buffers of batch norm; keep scalars on the device",
		.serving_advice = DECODE_GRAPHS "; " OVERLAP_HOST,
		.inference_advice = "copy many tensors at once: torch._foreach_copy_, or views of "
			  "one flat buffer; keep scalars on the device",
		.example = "In a step of 100 ms 400 copies of 4 KiB take 1 ms, and the device "
			   "idles 6 ms before them: 0.07, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
			{ "count", 100, "copies a step at which it fires" },
		},
		.facts = { "opportunities.small_copy_count", "opportunities.small_copy_total_ns",
			   "opportunities.small_copy_gap_total_ns", "opportunities.wall_total_ns" },
	},
	.evidence = { "opportunities.small_copy_count", "opportunities.small_copy_total_ns",
		      "opportunities.small_copy_gap_total_ns", "opportunities.wall_total_ns" },
	.cause = CAUSE_small_copies,
	.evaluate = evaluate_copy_small,
};
