/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.GROWTH: each step leaves more allocated than the one before. Without memory of steps
 * two snapshots of a process tell, or statistics of calls; these are fewer, and weigh less.
 */
#include "rules/rule.h"

#include <inttypes.h>

static void judge_steps(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "memory.step_count");
	double least = tsi_rule_parameter(ctx, "steps");
	double slope = tsi_rule_real(ctx, "memory.growth_bytes_per_step");
	double peak_bytes = tsi_rule_real(ctx, "memory.peak_alloc_bytes");
	double total_bytes = slope * (double)count;

	if (!tsi_rule_trusts(ctx, "memory.growth_bytes_per_step") ||
	    !tsi_rule_trusts(ctx, "memory.peak_alloc_bytes") ||
	    !tsi_rule_trusts(ctx, "memory.step_count"))
		return;
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

/* The site that grew most, if one is known. */
static void tell_site(struct rule_context *ctx)
{
	double most_bytes = 0;
	size_t most = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, "snapshot.growth"); row++) {
		double bytes =
			tsi_value_real(tsi_rule_cell(ctx, "snapshot.growth", row, "growth_bytes"));

		if (bytes > most_bytes) {
			most_bytes = bytes;
			most = row;
		}
	}
	const char *site = tsi_value_text(tsi_rule_cell(ctx, "snapshot.growth", most, "site"));
	if (most_bytes > 0 && site[0] != '\0')
		tsi_rule_detail(ctx, "most of it, %.1f MiB, at %.200s", most_bytes / 0x1p20, site);
}

static void judge_snapshots(struct rule_context *ctx)
{
	double growth_bytes = tsi_rule_real(ctx, "snapshot.growth_bytes");
	double peak_bytes = tsi_rule_real(ctx, "snapshot.peak_allocated_bytes");

	if (!tsi_rule_trusts(ctx, "snapshot.growth_bytes") ||
	    !tsi_rule_trusts(ctx, "snapshot.peak_allocated_bytes"))
		return;
	if (growth_bytes < tsi_rule_parameter(ctx, "bytes") ||
	    growth_bytes < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "live memory grew by %.1f MiB between two snapshots", growth_bytes / 0x1p20);
	tell_site(ctx);
	tsi_rule_evidence(ctx, "snapshot.growth_bytes");
	tsi_rule_evidence(ctx, "snapshot.growth_reserved_bytes");
	tsi_rule_evidence(ctx, "snapshot.peak_allocated_bytes");
}

static void judge_calls(struct rule_context *ctx)
{
	double slope = tsi_rule_real(ctx, "memory_stats.growth_bytes_per_call");
	double count = tsi_rule_real(ctx, "memory_stats.call_count");
	double peak_bytes = tsi_rule_real(ctx, "memory_stats.peak_allocated_bytes");

	if (!tsi_rule_trusts(ctx, "memory_stats.growth_bytes_per_call") ||
	    slope < tsi_rule_parameter(ctx, "threshold"))
		return;
	if (tsi_rule_has(ctx, "memory_stats.peak_allocated_bytes") &&
	    slope * count < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "allocated memory grows by %.2f MiB from call to call of %.160s",
		      slope / 0x1p20, tsi_rule_text(ctx, "memory_stats.growth_function"));
	tsi_rule_evidence(ctx, "memory_stats.growth_bytes_per_call");
	tsi_rule_evidence(ctx, "memory_stats.call_count");
	tsi_rule_evidence(ctx, "memory_stats.peak_allocated_bytes");
}

static void evaluate(struct rule_context *ctx)
{
	if (tsi_rule_has(ctx, "memory.growth_bytes_per_step"))
		judge_steps(ctx);
	else if (tsi_rule_has(ctx, "snapshot.growth_bytes"))
		judge_snapshots(ctx);
	else if (tsi_rule_has(ctx, "memory_stats.growth_bytes_per_call"))
		judge_calls(ctx);
	else if (tsi_rule_has(ctx, "snapshot.reserved_bytes"))
		tsi_rule_skip(ctx, "one snapshot: it needs an earlier one of the same process");
	else if (tsi_rule_has(ctx, "memory_stats.call_count"))
		(void)tsi_rule_needs(ctx, "memory_stats.growth_bytes_per_call");
	else
		judge_steps(ctx);
}

const struct rule tsi_rule_memory_growth = {
	.def = {
		.id = "MEMORY.GROWTH",
		.summary = "allocated memory grows from step to step",
		.trigger = "Fires where allocated memory grows by at least threshold bytes a "
			   "step, and over all steps by at least share of its peak; high. It "
			   "needs at least as many steps as steps says. Without memory of steps: "
			   "where live memory grew between two snapshots by at least bytes and "
			   "share of the peak, or in memory statistics by threshold from call to "
			   "call of one function; med.",
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
			{ "bytes", 33554432, "growth between two snapshots at which it fires "
					     "(32 MiB)" },
		},
	},
	.evaluate = evaluate,
};
