/* SPDX-License-Identifier: MIT */
/*
 * MEMORY.CHURN: memory goes to and fro between allocator and driver. cudaFree waits until the
 * device is idle, and cudaMalloc takes its place behind that, so each segment that is given back
 * and taken again is a pause. How long it lasts no snapshot tells; the thresholds leave out what
 * empty_cache() between phases does. That an allocation failed and flushed the whole cache is worth
 * a word the first time: it gives back all that is not in use, and memory was full to the last
 * segment.
 */
#include "rules/rule.h"

#include <inttypes.h>

struct churn {
	const char *retries_fact;
	int64_t retries;
	int64_t segments; /* given back and taken again */
	double per_1000;  /* allocations */
};

static struct churn get_churn(const struct rule_context *ctx)
{
	bool is_stats = !tsi_rule_has(ctx, "snapshot.retry_count") &&
			(tsi_rule_has(ctx, "memory_stats.num_alloc_retries") ||
			 tsi_rule_has(ctx, "memory_stats.call_count"));
	const char *retries = is_stats ? "memory_stats.num_alloc_retries" : "snapshot.retry_count";
	int64_t freed = tsi_rule_int(ctx, "snapshot.segment_free_count");
	int64_t taken = tsi_rule_int(ctx, "snapshot.segment_alloc_count");
	int64_t allocs = tsi_rule_int(ctx, "snapshot.alloc_count");
	struct churn churn = { .retries_fact = retries };

	churn.retries = tsi_rule_int(ctx, retries);
	churn.segments = freed < taken ? freed : taken;
	if (allocs > 0)
		churn.per_1000 = 1000 * (double)churn.segments / (double)allocs;
	return churn;
}

static void tell_segments(struct rule_context *ctx, const struct churn *churn)
{
	tsi_rule_detail(ctx,
			"%" PRId64 " segments given back and taken again, %.1f in 1000 "
			"allocations",
			churn->segments, churn->per_1000);
	tsi_rule_evidence(ctx, "snapshot.segment_free_count");
	tsi_rule_evidence(ctx, "snapshot.segment_alloc_count");
	tsi_rule_evidence(ctx, "snapshot.alloc_count");
}

static void evaluate(struct rule_context *ctx)
{
	struct churn churn = get_churn(ctx);
	bool has_retries = churn.retries > 0;
	bool is_frequent = churn.per_1000 >= tsi_rule_parameter(ctx, "threshold") &&
			   (double)churn.segments >= tsi_rule_parameter(ctx, "segments");

	if (!tsi_rule_needs(ctx, churn.retries_fact))
		return;
	if (!has_retries && !is_frequent)
		return;
	if (has_retries)
		tsi_rule_fire(ctx, tsi_rule_grade(ctx, (double)churn.retries),
			      "the allocator flushed its cache to find memory: %" PRId64 " time%s",
			      churn.retries, churn.retries == 1 ? "" : "s");
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
			      "segments go back to the driver and are taken again: %" PRId64,
			      churn.segments);
	tsi_rule_evidence(ctx, churn.retries_fact);
	if (is_frequent)
		tell_segments(ctx, &churn);
}

const struct rule tsi_rule_memory_churn = {
	.def = {
		.id = "MEMORY.CHURN",
		.summary = "the allocator gives memory back to the driver and takes it again",
		.trigger = "Fires where a snapshot or memory statistics show that an allocation "
			   "failed, flushed the cache and was tried again, high from high such "
			   "retries on, else med; and where in a snapshot at least segments "
			   "segments were given back and taken again, at least threshold in 1000 "
			   "allocations; med.",
		.meaning = "cudaFree waits until the device has done all its work, and cudaMalloc "
			   "follows: each segment is a pause of the step. A retry also says that "
			   "the memory was full: the next may fail.",
		.advice = "leave room: a smaller micro-batch or activation checkpointing; take "
			  "empty_cache() out of the loop; pad or bucket shapes so that cached "
			  "blocks fit again; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and "
			  "garbage_collection_threshold:0.8 instead of whole flushes",
		.example = "12 of 40,000 allocations flushed the cache first: a finding of "
			   "severity high.",
		.parameters = {
			{ "threshold", 5, "segments given back and taken again in 1000 allocations "
					  "at which it fires" },
			{ "segments", 20, "fewest of them to judge by" },
			{ "high", 10, "retries from which it is severe" },
		},
	},
	.evaluate = evaluate,
};
