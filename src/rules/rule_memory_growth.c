/* SPDX-License-Identifier: MIT */
/* MEMORY.GROWTH: each step leaves more allocated than the one before. */
#include "rules/rule.h"

#include <inttypes.h>

static void evaluate(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "memory.step_count");
	double least = tsi_rule_parameter(ctx, "steps");
	double slope = tsi_rule_real(ctx, "memory.growth_bytes_per_step");
	double peak_bytes = tsi_rule_real(ctx, "memory.peak_alloc_bytes");
	double total_bytes = slope * (double)count;

	if ((double)count < least) {
		tsi_rule_skip(ctx, "%" PRId64 " steps with memory: it needs %g", count, least);
		return;
	}
	if (slope < tsi_rule_parameter(ctx, "threshold") ||
	    total_bytes < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	/* The reference's slope decides; it is a little low, and people get the true one. */
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "allocated memory grows by %.2f MiB a step",
		      (tsi_rule_has(ctx, "memory.slope_bytes_per_step")
			       ? tsi_rule_real(ctx, "memory.slope_bytes_per_step")
			       : slope) /
			      0x1p20);
	tsi_rule_detail(ctx, "%.1f MiB over %" PRId64 " steps, the peak is %.1f MiB",
			total_bytes / 0x1p20, count, peak_bytes / 0x1p20);
	tsi_rule_evidence(ctx, "memory.growth_bytes_per_step");
	tsi_rule_evidence(ctx, "memory.peak_alloc_bytes");
	tsi_rule_evidence(ctx, "memory.step_count");
}

const struct rule tsi_rule_memory_growth = {
	.def = {
		.id = "MEMORY.GROWTH",
		.summary = "allocated memory grows from step to step",
		.trigger = "Fires where allocated memory grows by at least threshold bytes a "
			   "step, and over all steps by at least share of its peak; high. It "
			   "needs at least as many steps as steps says.",
		.meaning = "Something keeps tensors alive. The run ends out of memory, the later "
			   "the costlier.",
		.advice = "add up losses and metrics with .item() or .detach(), look for lists, "
			  "caches and hooks that collect tensors, and for retain_graph=True; "
			  "two memory snapshots some steps apart show what stays",
		.example = "Over 40 steps the allocation grows from 100 to 295 MiB, by 5 MiB a "
			   "step: a finding of severity high.",
		.parameters = {
			{ "threshold", 1048576, "bytes a step at which it fires (1 MiB)" },
			{ "share", 0.01, "least growth over all steps, as a share of the peak" },
			{ "steps", 20, "fewest steps to judge by" },
		},
		.facts = { "memory.growth_bytes_per_step", "memory.peak_alloc_bytes",
			   "memory.step_count" },
	},
	.evaluate = evaluate,
};
