/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.INACTIVE_SPLIT: memory lies idle beside blocks in use, and cannot be given back. After a
 * step most of it is what activations left behind: where it was in use at the peak, and nothing
 * failed, it costs nothing yet.
 */
#include "rules/rule.h"

#include "base/scaled_text.h"
#include "rules/private_pools.h"

/* Requests that failed, or flushed the cache. */
static bool has_failures(const struct rule_context *ctx)
{
	static const char *const failures[] = { "snapshot.oom_count", "snapshot.retry_count",
						"memory_stats.num_ooms",
						"memory_stats.num_alloc_retries" };

	for (size_t i = 0; i < TSI_COUNT_OF(failures); i++)
		if (tsi_rule_int(ctx, failures[i]) > 0)
			return true;
	return false;
}

/* Whether nearly all reserved memory was in use at the peak. */
static bool is_used_at_peak(const struct rule_context *ctx)
{
	static const char allocated[] = "snapshot.peak_allocated_bytes";
	static const char reserved[] = "snapshot.peak_reserved_bytes";
	double reserved_bytes = tsi_rule_real(ctx, reserved);

	/* The peak is one device's, and what is split off all of them. */
	if (tsi_rule_doubt(ctx, allocated) || tsi_rule_doubt(ctx, reserved) ||
	    tsi_rule_int(ctx, "snapshot.device_count") > 1)
		return false;
	return reserved_bytes > 0 &&
	       tsi_rule_real(ctx, allocated) / reserved_bytes >= tsi_rule_parameter(ctx, "peak");
}

static void evaluate_memory_inactive_split(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "snapshot.inactive_split_ratio");
	double bytes = tsi_rule_real(ctx, "snapshot.inactive_split_bytes");
	double private_bytes = tsi_private_pools(ctx).split_bytes;
	bool has_failed = has_failures(ctx);
	bool is_used = !has_failed && is_used_at_peak(ctx);
	/* Without entries nobody knows whether a request failed. */
	bool is_harmless = is_used || (!has_failed && tsi_rule_has(ctx, "snapshot.oom_count"));

	/* Private pools share with nobody, however they are cut. */
	if (private_bytes > 0 && bytes > 0) {
		double own_bytes = bytes > private_bytes ? bytes - private_bytes : 0;
		ratio *= own_bytes / bytes;
		bytes = own_bytes;
	}
	if (ratio < tsi_rule_parameter(ctx, "threshold") ||
	    bytes < tsi_rule_parameter(ctx, "bytes"))
		return;
	tsi_rule_fire(ctx, is_harmless ? TSCOPE_SEVERITY_LOW : tsi_rule_grade(ctx, ratio),
		      "%.1f %% of reserved memory is idle in split segments", 100 * ratio);
	tsi_rule_detail(ctx, "%s that no other stream, pool or process can use",
			tsi_scaled_text(bytes, QUANTITY_SIZE).chars);
	if (tsi_rule_has(ctx, "snapshot.largest_free_bytes"))
		tsi_rule_detail(ctx, "the largest free block is %s",
				tsi_scaled_text(tsi_rule_real(ctx, "snapshot.largest_free_bytes"),
						QUANTITY_SIZE)
					.chars);
	if (is_harmless && !is_used)
		tsi_rule_detail(ctx, "no request failed");
	if (is_used) {
		tsi_rule_detail(ctx, "at the peak nearly all was in use");
		tsi_rule_evidence(ctx, "snapshot.peak_allocated_bytes");
		tsi_rule_evidence(ctx, "snapshot.peak_reserved_bytes");
	}
	if (tsi_rule_flag(ctx, "snapshot.expandable_segments"))
		tsi_rule_advice(ctx,
				"expandable segments are in use already: allocate what stays "
				"(parameters, optimizer state, caches) before what goes, and pad "
				"shapes so that sizes repeat");
}

const struct rule tsi_rule_memory_inactive_split = {
	.def = {
		.id = "MEMORY.INACTIVE_SPLIT",
		.summary = "idle blocks of segments in use cannot be released",
		.trigger = "Fires where inactive split blocks of a snapshot are at least threshold "
			   "of the reserved memory and at least bytes; high from high on, else "
			   "med. Low where no request failed or was tried again: where a "
			   "snapshot's entries say so, or one device's memory was in use at the "
			   "peak to at least peak of what was reserved at most. Private pools of "
			   "one device are left out.",
		.meaning = "A block that shares its segment with one in use serves requests no "
			   "larger than itself, and empty_cache() cannot return it to the driver. "
			   "The job may run out of memory that it holds. At the end of a step much "
			   "of it is what activations left, and the next step fills it again: "
			   "where that can be seen at the peak, it is only worth knowing.",
		.advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or "
			  "max_split_size_mb to keep large blocks whole; allocate what stays "
			  "(parameters, optimizer state, caches) before what goes, and pad shapes "
			  "so that sizes repeat",
		.example = "Of 40 GiB reserved 6 GiB are inactive split blocks: 0.15, a finding of "
			   "severity med.",
		.parameters = {
			{ "threshold", 0.10, "share of the reserved memory at which it fires" },
			{ "high", 0.25, "share of the reserved memory from which it is severe" },
			{ "bytes", 268435456, "least size of them (256 MiB)" },
			{ "peak", 0.9, "share in use at the peak from which it is low" },
		},
		.facts = { "snapshot.inactive_split_ratio", "snapshot.inactive_split_bytes" },
	},
	.evidence = { "snapshot.inactive_split_ratio", "snapshot.inactive_split_bytes",
		      "snapshot.largest_free_bytes", "snapshot.reserved_bytes" },
	.cause = CAUSE_memory_fragmentation,
	.evaluate = evaluate_memory_inactive_split,
};
