/* SPDX-License-Identifier: MIT */
/* COPY.EXPOSED: the device copies or fills memory while no kernel runs. */
#include "base/scaled_text.h"
#include "rules/budget_share.h"
#include "rules/main_caller.h"

#include <math.h>

#define DIRECTIONS "copies.by_direction"

/* The first row of the table: the direction with most time. */
static void describe_direction(struct rule_context *ctx)
{
	if (tsi_rule_rows(ctx, DIRECTIONS) == 0)
		return;
	const char *direction = tsi_rule_cell_text(ctx, DIRECTIONS, 0, "direction");
	double ns = tsi_rule_cell_real(ctx, DIRECTIONS, 0, "total_ns");
	double speed = tsi_rule_cell_real(ctx, DIRECTIONS, 0, "bytes_per_second");

	if (isfinite(speed))
		tsi_rule_detail(ctx, "mostly %s: %s in the trace, %.1f GB/s", direction,
				tsi_time_text(ns).chars, speed / 1e9);
	else
		tsi_rule_detail(ctx, "mostly %s: %s in the trace", direction,
				tsi_time_text(ns).chars);
}

static void evaluate_copy_exposed(struct rule_context *ctx)
{
	double share = tsi_budget_share(ctx, "budget.exposed_copy_total_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "exposed memory copies take %.1f %% of the step", 100 * share);
	describe_direction(ctx);
	tsi_describe_copier(ctx, "", "exposed_ns");
	/* Overlapped, a step still takes as long as its copies. */
	if (share > 0.5)
		tsi_rule_bound(ctx);
	tsi_gain_share(ctx, GAIN_COPY, fmin(share, 1 - share));
}

const struct rule tsi_rule_copy_exposed = {
	.def = {
		.id = "COPY.EXPOSED",
		.summary = "copies are not hidden behind compute",
		.trigger = "Fires where copies and fills that no kernel overlaps take at least "
			   "threshold of the steps' time; high from high on, else med.",
		.meaning = "The device has engines that copy while kernels run, so that most "
			   "copies can be free. A twentieth of the step that only copies is more "
			   "than setting up a batch needs. Where copies take more than half of "
			   "the step, hiding all else behind them wins no more than the rest.",
		.advice = "copy the next batch on a stream of its own while this one is computed, "
			  "from pinned memory with non_blocking=True; make tensors on the device "
			  "(device=) instead of moving them; zero_grad(set_to_none=True) instead "
			  "of fills; for offloaded states prefetch the next layer",
		.serving_advice = "keep weights and cache on the device: offloading copies them in "
			  "each iteration (weights: --cpu-offload-gb of vLLM and SGLang; cache: "
			  "SGLang --enable-hierarchical-cache)",
		.inference_advice = "copy the inputs of the next request while the device "
			  "computes; keep weights on the device instead of offloading them",
		.example = "In a step of 100 ms the batch is copied for 10 ms before the first "
			   "kernel starts: 0.10, a finding of severity med with 10 ms a step to "
			   "win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
		.facts = { "budget.exposed_copy_total_ns", "budget.wall_total_ns" },
	},
	.evidence = { "budget.exposed_copy_total_ns", "budget.wall_total_ns", "copies.exposed_ns",
		      "copies.total_ns", "copies.bytes" },
	.cause = CAUSE_copy_exposed,
	.evaluate = evaluate_copy_exposed,
};
