/* SPDX-License-Identifier: MIT */
/*
 * ALLOC.CUDA_MALLOC: steps that should live on cached memory ask the driver for more, again and
 * again. Once is growth: a longest batch, a first evaluation.
 */
#include "base/scaled_text.h"
#include "rules/budget_share.h"
#include "rules/main_caller.h"

#include <inttypes.h>

static const char bypass_advice[] =
	"unset PYTORCH_NO_CUDA_MEMORY_CACHING (a switch for debugging), or the pluggable allocator "
	"that has no cache: with the caching allocator tensors cost no driver call";

static double blocked_ns(const struct rule_context *ctx)
{
	return tsi_rule_real(ctx, "launches.steady_malloc_ns") +
	       tsi_rule_real(ctx, "launches.steady_free_ns");
}

static void gain(struct rule_context *ctx, double steps)
{
	double step_ns = tsi_rule_real(ctx, "step_time.mean_ns");

	tsi_gain_host_share(ctx, GAIN_ALLOC, blocked_ns(ctx) / steps / step_ns);
}

static double all_ns_of(const struct rule_context *ctx)
{
	return tsi_rule_real(ctx, "launches.malloc_ns") + tsi_rule_real(ctx, "launches.free_ns");
}

static void fire_bypass(struct rule_context *ctx, double steps)
{
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "the caching allocator is bypassed: %.0f %% of new tensors call cudaMalloc",
		      100 * tsi_rule_real(ctx, "launches.uncached_ratio"));
	tsi_rule_detail(ctx, "%" PRId64 " allocating and %" PRId64 " freeing calls take %s",
			tsi_rule_int(ctx, "launches.malloc_count"),
			tsi_rule_int(ctx, "launches.free_count"),
			tsi_time_text(all_ns_of(ctx)).chars);
	tsi_describe_allocator(ctx, all_ns_of(ctx) / 2);
	tsi_rule_advice(ctx, bypass_advice);
	tsi_rule_evidence(ctx, "launches.uncached_ratio");
	if (blocked_ns(ctx) > 0)
		gain(ctx, steps);
}

/* In at least half of the later steps, or in three: what comes back will come again. */
static bool recurs(const struct rule_context *ctx, double steps)
{
	double allocating = tsi_rule_real(ctx, "launches.allocating_step_count");

	return allocating >= 3 || (allocating >= 2 && 2 * allocating >= steps);
}

/*
 * A line's time may hold all that was before the later steps, where the cache is filled; what is
 * beyond that must be half of theirs.
 */
static double least_ns_of_line(const struct rule_context *ctx)
{
	double all_ns = all_ns_of(ctx);

	return all_ns - blocked_ns(ctx) / 2;
}

static void fire_recurrence(struct rule_context *ctx, double steps)
{
	int64_t mallocs = tsi_rule_int(ctx, "launches.steady_malloc_count");
	int64_t frees = tsi_rule_int(ctx, "launches.steady_free_count");
	double ns_per_step = blocked_ns(ctx) / steps;

	tsi_rule_fire(ctx,
		      tsi_rule_grade(ctx, ns_per_step / tsi_rule_real(ctx, "step_time.mean_ns")),
		      "%" PRId64
		      " of %.0f later steps still call cudaMalloc or cudaFree, for %s per step",
		      tsi_rule_int(ctx, "launches.allocating_step_count"), steps,
		      tsi_time_text(ns_per_step).chars);
	tsi_rule_detail(ctx, "%" PRId64 " allocating and %" PRId64 " freeing calls", mallocs,
			frees);
	tsi_describe_allocator(ctx, least_ns_of_line(ctx));
	if (frees > 0)
		tsi_rule_detail(ctx, "memory is returned to the driver: empty_cache() in the loop, "
				     "or the device is full");
	gain(ctx, steps);
}

static void evaluate_alloc_cuda_malloc(struct rule_context *ctx)
{
	double steps = tsi_rule_real(ctx, "launches.steady_step_count");
	bool is_bypassed =
		tsi_rule_real(ctx, "launches.uncached_ratio") >= tsi_rule_parameter(ctx, "bypass");

	if (is_bypassed) {
		fire_bypass(ctx, steps);
		return;
	}
	if (!tsi_rule_needs(ctx, "launches.steady_malloc_count"))
		return;
	double calls = tsi_rule_real(ctx, "launches.steady_malloc_count") +
		       tsi_rule_real(ctx, "launches.steady_free_count");
	if (steps < 2) {
		tsi_rule_undecided(
			ctx, calls > 0,
			"2 complete steps; it needs 3, since the first one fills the cache");
		return;
	}
	if (recurs(ctx, steps) && calls / steps >= tsi_rule_parameter(ctx, "threshold"))
		fire_recurrence(ctx, steps);
}

const struct rule tsi_rule_alloc_cuda_malloc = {
	.def = {
		.id = "ALLOC.CUDA_MALLOC",
		.summary = "steps allocate device memory from the driver",
		.trigger = "Fires where the steps after the first call cudaMalloc, cudaFree or "
			   "their like at least threshold times each, in the mean, and do so in "
			   "three of them or in half, and at least in two; high where the calls "
			   "take at least high of the step, else med. And where of the operators "
			   "that create tensors at least bypass call the driver: the cache is "
			   "bypassed; med.",
		.meaning = "After the first steps PyTorch's cache should serve every request. A "
			   "call to the driver takes 0.1 to 1 ms, and cudaFree waits for the "
			   "device; the time inside the calls is what the trace measured.",
		.advice = "remove torch.cuda.empty_cache() from the loop, set "
			  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, pad or bucket "
			  "batches so that sizes repeat; if the device is full use less: smaller "
			  "batches, activation checkpointing",
		.serving_advice = "leave less to the cache of keys and values: lower vLLM "
			  "--gpu-memory-utilization, SGLang --mem-fraction-static",
		.inference_advice = "let the allocator keep what it has: no "
			  "torch.cuda.empty_cache() between requests, "
			  "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
		.example = "All of 20 steps after the first call cudaMalloc, which takes 10 ms of "
			   "their 200: a finding of severity med.",
		.parameters = {
			{ "threshold", 1, "such calls a step at which it fires" },
			{ "high", 0.10, "share of the step from which it is severe" },
			{ "bypass", 0.50, "share of new tensors that go to the driver" },
		},
		.facts = { "launches.malloc_count" },
	},
	.evidence = { "launches.steady_malloc_count", "launches.steady_free_count",
		      "launches.steady_malloc_ns", "launches.steady_free_ns",
		      "launches.allocating_step_count", "launches.steady_step_count" },
	.cause = CAUSE_alloc_thrash,
	.evaluate = evaluate_alloc_cuda_malloc,
};
