/* SPDX-License-Identifier: MIT */
/* MEMORY.FRAGMENTATION: the allocator holds much more than it has handed out. */
#include "rules/rule.h"

static void evaluate(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "memory.fragmentation");
	double peak_bytes = tsi_rule_real(ctx, "memory.peak_alloc_bytes");

	if (peak_bytes < tsi_rule_parameter(ctx, "bytes") ||
	    ratio < tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx,
		      ratio >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
							      : TSCOPE_SEVERITY_LOW,
		      "%.1f %% of the reserved device memory lies idle", 100 * ratio);
	tsi_rule_detail(ctx, "at most %.1f MiB allocated", peak_bytes / 0x1p20);
	if (tsi_rule_has(ctx, "memory.peak_reserved_bytes"))
		tsi_rule_detail(ctx, "at most %.1f MiB reserved",
				tsi_rule_real(ctx, "memory.peak_reserved_bytes") / 0x1p20);
	tsi_rule_evidence(ctx, "memory.fragmentation");
	tsi_rule_evidence(ctx, "memory.peak_alloc_bytes");
	tsi_rule_evidence(ctx, "memory.peak_reserved_bytes");
}

const struct rule tsi_rule_memory_fragmentation = {
	.def = {
		.id = "MEMORY.FRAGMENTATION",
		.summary = "the allocator holds much memory that is not in use",
		.trigger = "Fires where at least bytes were allocated at the peak, and the mean "
			   "share of reserved memory that is not allocated is at least "
			   "threshold; med from med on, else low.",
		.meaning = "Memory that is cut into pieces cannot serve a large request: the run "
			   "ends out of memory although enough is free.",
		.advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, pad or bucket "
			  "batches so that shapes repeat; empty_cache() only between phases "
			  "such as training and evaluation, never in each step",
		.example = "Steps allocate 6 GiB of 10 GiB reserved: the share is 0.40, a "
			   "finding of severity med.",
		.parameters = {
			{ "threshold", 0.20, "idle share of reserved memory at which it fires" },
			{ "med", 0.40, "share from which it is of severity med" },
			{ "bytes", 67108864, "least peak of allocated memory (64 MiB)" },
		},
		.facts = { "memory.fragmentation", "memory.peak_alloc_bytes" },
	},
	.evaluate = evaluate,
};
