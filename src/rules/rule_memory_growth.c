/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.GROWTH: each step leaves more allocated than the one before. Falls back to two snapshots
 * of a process or to call statistics, which count less, if steps lack memory, are too few or in
 * doubt. Quiet only if one source suffices.
 */
#include "rules/rule.h"

#include <inttypes.h>

#include "analyze/memory/site_words.h"
#include "base/scaled_text.h"

/* Fewest calls to judge by: of three, what the first one keeps looks like growth. */
enum { CALLS_MIN = 4 };

static bool is_sure(const struct rule_context *ctx, const char *fact)
{
	return tsi_rule_has(ctx, fact) && !tsi_rule_doubt(ctx, fact);
}

/* ---- steps ---- */

static bool suffice_steps(const struct rule_context *ctx)
{
	return is_sure(ctx, "memory.growth_bytes_per_step") &&
	       is_sure(ctx, "memory.peak_alloc_bytes") && is_sure(ctx, "memory.step_count") &&
	       tsi_rule_real(ctx, "memory.step_count") >= tsi_rule_parameter(ctx, "steps");
}

static void judge_steps(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "memory.step_count");
	double slope = tsi_rule_real(ctx, "memory.growth_bytes_per_step");
	double peak_bytes = tsi_rule_real(ctx, "memory.peak_alloc_bytes");
	double total_bytes = slope * (double)count;

	if (slope < tsi_rule_parameter(ctx, "threshold") ||
	    total_bytes < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	/* The reference's slope decides; it is a little low, and people get the true one. */
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "allocated memory grows by %s per step",
		      tsi_scaled_text(tsi_rule_has(ctx, "memory.slope_bytes_per_step")
					      ? tsi_rule_real(ctx, "memory.slope_bytes_per_step")
					      : slope,
				      QUANTITY_SIZE)
			      .chars);
	tsi_rule_detail(ctx, "%s over %" PRId64 " steps; peak %s",
			tsi_scaled_text(total_bytes, QUANTITY_SIZE).chars, count,
			tsi_scaled_text(peak_bytes, QUANTITY_SIZE).chars);
	tsi_rule_evidence(ctx, "memory.growth_bytes_per_step");
	tsi_rule_evidence(ctx, "memory.peak_alloc_bytes");
	tsi_rule_evidence(ctx, "memory.step_count");
}

static void skip_steps(struct rule_context *ctx)
{
	if (tsi_rule_trusts(ctx, "memory.growth_bytes_per_step") &&
	    tsi_rule_trusts(ctx, "memory.peak_alloc_bytes") &&
	    tsi_rule_trusts(ctx, "memory.step_count"))
		tsi_rule_undecided(ctx,
				   tsi_rule_real(ctx, "memory.growth_bytes_per_step") >=
					   tsi_rule_parameter(ctx, "threshold"),
				   "%" PRId64 " step%s with memory; it needs %g",
				   tsi_rule_int(ctx, "memory.step_count"),
				   tsi_rule_int(ctx, "memory.step_count") == 1 ? "" : "s",
				   tsi_rule_parameter(ctx, "steps"));
}

/* ---- snapshots ---- */

static bool suffice_snapshots(const struct rule_context *ctx)
{
	return is_sure(ctx, "snapshot.growth_bytes") &&
	       is_sure(ctx, "snapshot.peak_allocated_bytes");
}

/* The site that grew most, if one is known. */
static void describe_site(struct rule_context *ctx)
{
	double most_bytes = 0;
	size_t most = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, "snapshot.growth"); row++) {
		double bytes = tsi_rule_cell_real(ctx, "snapshot.growth", row, "growth_bytes");

		if (bytes > most_bytes) {
			most_bytes = bytes;
			most = row;
		}
	}
	struct str site = tsi_site_words(tsi_rule_cell_text(ctx, "snapshot.growth", most, "site"));
	if (most_bytes > 0 && site.length)
		tsi_rule_detail(ctx, "most of it, %s, by %.*s",
				tsi_scaled_text(most_bytes, QUANTITY_SIZE).chars, TSI_QUOTE(site));
}

static void judge_snapshots(struct rule_context *ctx)
{
	double growth_bytes = tsi_rule_real(ctx, "snapshot.growth_bytes");
	double peak_bytes = tsi_rule_real(ctx, "snapshot.peak_allocated_bytes");

	if (growth_bytes < tsi_rule_parameter(ctx, "bytes") ||
	    growth_bytes < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED, "live memory grew by %s between two snapshots",
		      tsi_scaled_text(growth_bytes, QUANTITY_SIZE).chars);
	describe_site(ctx);
	tsi_rule_evidence(ctx, "snapshot.growth_bytes");
	tsi_rule_evidence(ctx, "snapshot.growth_reserved_bytes");
	tsi_rule_evidence(ctx, "snapshot.peak_allocated_bytes");
}

static void skip_snapshots(struct rule_context *ctx)
{
	if (!tsi_rule_has(ctx, "snapshot.growth_bytes"))
		tsi_rule_skip(ctx, "needs an earlier snapshot of the same process: tscope memory "
				   "EARLIER LATER");
	else if (tsi_rule_trusts(ctx, "snapshot.growth_bytes"))
		(void)tsi_rule_trusts(ctx, "snapshot.peak_allocated_bytes");
}

/* ---- calls ---- */

static bool suffice_calls(const struct rule_context *ctx)
{
	return is_sure(ctx, "memory_stats.growth_bytes_per_call") &&
	       tsi_rule_int(ctx, "memory_stats.growth_call_count") >= CALLS_MIN;
}

static void judge_calls(struct rule_context *ctx)
{
	double slope = tsi_rule_real(ctx, "memory_stats.growth_bytes_per_call");
	double count = tsi_rule_real(ctx, "memory_stats.growth_call_count");
	double peak_bytes = tsi_rule_real(ctx, "memory_stats.peak_allocated_bytes");

	if (slope < tsi_rule_parameter(ctx, "threshold"))
		return;
	if (tsi_rule_has(ctx, "memory_stats.peak_allocated_bytes") &&
	    slope * count < tsi_rule_parameter(ctx, "share") * peak_bytes)
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED, "allocated memory grows by %s per call of %.160s",
		      tsi_scaled_text(slope, QUANTITY_SIZE).chars,
		      tsi_rule_text(ctx, "memory_stats.growth_function"));
	tsi_rule_evidence(ctx, "memory_stats.growth_bytes_per_call");
	tsi_rule_evidence(ctx, "memory_stats.growth_call_count");
	tsi_rule_evidence(ctx, "memory_stats.peak_allocated_bytes");
}

static void skip_calls(struct rule_context *ctx)
{
	if (tsi_rule_trusts(ctx, "memory_stats.growth_bytes_per_call"))
		tsi_rule_undecided(ctx,
				   tsi_rule_real(ctx, "memory_stats.growth_bytes_per_call") >=
					   tsi_rule_parameter(ctx, "threshold"),
				   "%" PRId64 " calls of one function: it needs %d",
				   tsi_rule_int(ctx, "memory_stats.growth_call_count"), CALLS_MIN);
}

/* ---- the first source that suffices ---- */

static void evaluate_memory_growth(struct rule_context *ctx)
{
	static const struct {
		const char *present; /* with this fact the source is there */
		bool (*suffices)(const struct rule_context *ctx);
		void (*judge)(struct rule_context *ctx);
		void (*skip)(struct rule_context *ctx);
	} sources[] = {
		{ "memory.growth_bytes_per_step", suffice_steps, judge_steps, skip_steps },
		{ "snapshot.reserved_bytes", suffice_snapshots, judge_snapshots, skip_snapshots },
		{ "memory_stats.call_count", suffice_calls, judge_calls, skip_calls },
	};

	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++)
		if (sources[i].suffices(ctx)) {
			sources[i].judge(ctx);
			return;
		}
	for (size_t i = 0; i < TSI_COUNT_OF(sources); i++)
		if (tsi_rule_has(ctx, sources[i].present)) {
			sources[i].skip(ctx);
			return;
		}
	skip_steps(ctx);
}

const struct rule tsi_rule_memory_growth = {
	.def = {
		.id = "MEMORY.GROWTH",
		.summary = "allocated memory grows from step to step",
		.trigger = "Fires where allocated memory grows by at least threshold bytes a "
			   "step, and over all steps by at least share of its peak; high. It "
			   "needs at least as many steps as steps says. Without them, or where "
			   "their memory is in doubt: where live memory grew between two snapshots "
			   "by at least bytes and share of the peak, or in memory statistics by "
			   "threshold from call to call of one function, of at least 4 calls; med.",
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
	.cause = CAUSE_memory_growth,
	.evaluate = evaluate_memory_growth,
};
