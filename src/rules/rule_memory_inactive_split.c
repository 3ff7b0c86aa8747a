/* SPDX-License-Identifier: MIT */
/* MEMORY.INACTIVE_SPLIT: memory lies idle beside blocks in use, and cannot be given back. */
#include "rules/rule.h"

static void evaluate(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "snapshot.inactive_split_ratio");
	double bytes = tsi_rule_real(ctx, "snapshot.inactive_split_bytes");

	if (ratio < tsi_rule_parameter(ctx, "threshold") ||
	    bytes < tsi_rule_parameter(ctx, "bytes"))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, ratio),
		      "%.1f %% of the reserved memory is split off and not in use", 100 * ratio);
	tsi_rule_detail(ctx, "%.1f MiB that no other stream, pool or process can have",
			bytes / 0x1p20);
	if (tsi_rule_has(ctx, "snapshot.largest_free_bytes"))
		tsi_rule_detail(ctx, "the largest free block is %.1f MiB",
				tsi_rule_real(ctx, "snapshot.largest_free_bytes") / 0x1p20);
	tsi_rule_evidence(ctx, "snapshot.inactive_split_ratio");
	tsi_rule_evidence(ctx, "snapshot.inactive_split_bytes");
	tsi_rule_evidence(ctx, "snapshot.largest_free_bytes");
	tsi_rule_evidence(ctx, "snapshot.reserved_bytes");
	tsi_rule_cause(ctx, CAUSE_FRAGMENTATION);
}

const struct rule tsi_rule_memory_inactive_split = {
	.def = {
		.id = "MEMORY.INACTIVE_SPLIT",
		.summary = "idle pieces of segments in use cannot be given back",
		.trigger = "Fires where inactive split blocks of a snapshot are at least threshold "
			   "of the reserved memory and at least bytes; high from high on, else "
			   "med.",
		.meaning = "A block that shares its segment with one in use serves requests no "
			   "larger than itself, and empty_cache() cannot return it to the driver. "
			   "The job may run out of memory that it holds.",
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
		},
		.facts = { "snapshot.inactive_split_ratio", "snapshot.inactive_split_bytes" },
	},
	.evaluate = evaluate,
};
