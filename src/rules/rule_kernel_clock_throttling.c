/* SPDX-License-Identifier: MIT */
/* KERNEL.CLOCK_THROTTLING: the same kernels on the same inputs take longer from step to step. */
#include "rules/rule.h"

#define KERNELS "drift.kernels"

enum {
	MIN_STEPS = 5, /* as the analyzer has it */
	MIN_KERNELS = 5,
};

static bool has_enough(struct rule_context *ctx)
{
	long long steps = tsi_rule_int(ctx, "drift.step_count");
	long long kernels = tsi_rule_int(ctx, "drift.kernel_count");

	if (steps < MIN_STEPS)
		tsi_rule_skip(ctx, "%lld counted steps: it needs %d", steps, MIN_STEPS);
	else if (kernels < MIN_KERNELS)
		tsi_rule_skip(ctx,
			      "%lld GEMM or convolution kernels are launched alike in each step: "
			      "it needs %d",
			      kernels, MIN_KERNELS);
	return steps >= MIN_STEPS && kernels >= MIN_KERNELS;
}

static void describe_kernels(struct rule_context *ctx)
{
	for (size_t i = 0; i < tsi_rule_rows(ctx, KERNELS); i++) {
		const char *name = tsi_rule_cell_text(ctx, KERNELS, i, "name");
		tsi_rule_longest(ctx, KERNELS, i);
		if (i > 0)
			continue;
		tsi_rule_subject(ctx)->kernel = name;
		tsi_rule_detail(ctx, "%s: %.1f \xc2\xb5s, then %.1f \xc2\xb5s", name,
				tsi_rule_cell_real(ctx, KERNELS, i, "early_ns") / 1e3,
				tsi_rule_cell_real(ctx, KERNELS, i, "late_ns") / 1e3);
	}
}

static void evaluate_kernel_clock_throttling(struct rule_context *ctx)
{
	double factor = tsi_rule_real(ctx, "drift.factor");

	if (!has_enough(ctx) || !(factor >= tsi_rule_parameter(ctx, "threshold")) ||
	    !(tsi_rule_real(ctx, "drift.agree_ratio") >= tsi_rule_parameter(ctx, "agree")) ||
	    !(tsi_rule_real(ctx, "drift.compared_ratio") >= tsi_rule_parameter(ctx, "compared")))
		return;
	tsi_rule_fire(ctx,
		      factor >= tsi_rule_parameter(ctx, "medium") ? TSCOPE_SEVERITY_MED
								  : TSCOPE_SEVERITY_LOW,
		      "the same GEMM and convolution kernels take %.1f %% longer in the last third "
		      "of the steps than in the first",
		      100 * (factor - 1));
	describe_kernels(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_rule_gain(ctx, GAIN_COMPUTE, tsi_rule_int(ctx, "drift.lost_ns"));
}

const struct rule tsi_rule_kernel_clock_throttling = {
	.def = {
		.id = "KERNEL.CLOCK_THROTTLING",
		.summary = "the same kernels get slower over the steps, as when clocks drop",
		.trigger = "Fires where GEMM and convolution kernels that come equally often in "
			   "each counted step, launched alike on the same inputs, take threshold "
			   "times as long in the last third of the steps as in the first (median "
			   "over them, weighted by time); med from medium on, else low. At least "
			   "agree of their time must drift so, and they must be at least "
			   "compared of the time of all such kernels. Needs 5 counted steps and 5 "
			   "such kernels, and recorded shapes where kernels are persistent.",
		.meaning = "The work is the same in each step, so the device is slower: it "
			   "reached its power or temperature limit and lowered its clock, or "
			   "something else runs on it. Traces do not record clocks. Where "
			   "sequences grow, launches differ or only some kernels slow down, "
			   "which does not count.",
		.advice = "while it runs, nvidia-smi -q -d PERFORMANCE,CLOCK (AMD: amd-smi metric) "
			  "says whether power, heat or other processes slow the device: raise the "
			  "power limit, mend the cooling, move the neighbours; for benchmarks lock "
			  "the clocks (nvidia-smi -lgc)",
		.example = "In 9 steps of 100 ms GEMM kernels take 60 ms a step in the first "
			   "three, 63 and 66 in the others: 1.10, a finding of severity med "
			   "with 3 ms to win.",
		.parameters = {
			{ "threshold", 1.03, "how many times as long at which it fires" },
			{ "medium", 1.05, "how many times as long from which it is med" },
			{ "agree", 0.8, "share of the kernels' time that must drift the same way, "
					"at least half as much" },
			{ "compared", 0.5, "share of the time of all GEMM and convolution kernels "
					   "that must be comparable" },
		},
		.facts = { "drift.step_count", "drift.kernel_count" },
	},
	.evidence = { "drift.factor", "drift.agree_ratio", "drift.compared_ratio",
		      "drift.kernel_count", "drift.step_count", "drift.lost_ns" },
	.cause = CAUSE_clock_throttling,
	.evaluate = evaluate_kernel_clock_throttling,
};
