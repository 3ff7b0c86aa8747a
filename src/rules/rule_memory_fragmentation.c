/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.FRAGMENTATION: the allocator holds much more than it has handed out. Of steps that is
 * the mean of their ends; of a snapshot it is what lay idle even at the peak, since at its end,
 * between steps, most memory is free and that is as it should be.
 */
#include "rules/rule.h"

/* Held memory and how much of it was in use; the ratio is the idle share. */
struct holding {
	double ratio;
	const char *peak_fact, *reserved_fact;
};

#define ADVICE                                                                                     \
	"pad or bucket batches so that shapes repeat; empty_cache() only between phases such as "  \
	"training and evaluation, never in each step"

static const char advice_when_expandable[] = "expandable segments are in use already: " ADVICE;

static void judge(struct rule_context *ctx, const struct holding *holding)
{
	double peak_bytes = tsi_rule_real(ctx, holding->peak_fact);

	if (peak_bytes < tsi_rule_parameter(ctx, "bytes") ||
	    holding->ratio < tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx,
		      holding->ratio >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
								       : TSCOPE_SEVERITY_LOW,
		      "%.1f %% of the reserved device memory lies idle", 100 * holding->ratio);
	tsi_rule_detail(ctx, "at most %.1f MiB allocated", peak_bytes / 0x1p20);
	if (tsi_rule_has(ctx, holding->reserved_fact))
		tsi_rule_detail(ctx, "at most %.1f MiB reserved",
				tsi_rule_real(ctx, holding->reserved_fact) / 0x1p20);
	tsi_rule_evidence(ctx, "memory.fragmentation");
	tsi_rule_evidence(ctx, holding->peak_fact);
	tsi_rule_evidence(ctx, holding->reserved_fact);
	if (tsi_rule_flag(ctx, "snapshot.expandable_segments"))
		tsi_rule_advice(ctx, advice_when_expandable);
}

static void judge_steps(struct rule_context *ctx)
{
	const struct holding holding = { tsi_rule_real(ctx, "memory.fragmentation"),
					 "memory.peak_alloc_bytes", "memory.peak_reserved_bytes" };

	if (tsi_rule_trusts(ctx, "memory.fragmentation") &&
	    tsi_rule_trusts(ctx, "memory.peak_alloc_bytes"))
		judge(ctx, &holding);
}

static void judge_snapshot(struct rule_context *ctx)
{
	double peak_bytes = tsi_rule_real(ctx, "snapshot.peak_allocated_bytes");
	double reserved_bytes = tsi_rule_real(ctx, "snapshot.peak_reserved_bytes");
	const struct holding holding = { reserved_bytes > 0 ? 1 - peak_bytes / reserved_bytes : 0,
					 "snapshot.peak_allocated_bytes",
					 "snapshot.peak_reserved_bytes" };

	if (tsi_rule_trusts(ctx, "snapshot.peak_allocated_bytes") &&
	    tsi_rule_trusts(ctx, "snapshot.peak_reserved_bytes"))
		judge(ctx, &holding);
}

static void evaluate_memory_fragmentation(struct rule_context *ctx)
{
	bool has_steps = tsi_rule_has(ctx, "memory.fragmentation");

	if (!has_steps && tsi_rule_has(ctx, "snapshot.reserved_bytes"))
		judge_snapshot(ctx);
	else
		judge_steps(ctx);
}

const struct rule tsi_rule_memory_fragmentation = {
	.def = {
		.id = "MEMORY.FRAGMENTATION",
		.summary = "the allocator holds much memory that is not in use",
		.trigger = "Fires where at least bytes were allocated at the peak, and the mean "
			   "share of reserved memory that is not allocated is at least "
			   "threshold; med from med on, else low. Without memory of steps the "
			   "share is that of a snapshot: what was reserved at most and not even "
			   "requested at the peak.",
		.meaning = "Memory that is cut into pieces cannot serve a large request: the run "
			   "ends out of memory although enough is free.",
		.advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, " ADVICE,
		.example = "Steps allocate 6 GiB of 10 GiB reserved: the share is 0.40, a "
			   "finding of severity med.",
		.parameters = {
			{ "threshold", 0.20, "idle share of reserved memory at which it fires" },
			{ "med", 0.40, "share from which it is of severity med" },
			{ "bytes", 67108864, "least peak of allocated memory (64 MiB)" },
		},
	},
	.cause = CAUSE_memory_fragmentation,
	.evaluate = evaluate_memory_fragmentation,
};
