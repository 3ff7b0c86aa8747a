/* SPDX-License-Identifier: MIT */
/*
 * ALLOC.CUDA_MALLOC: steps that should live on cached memory ask the driver for
 * more. Calls that free are the graver sign: the allocator hands its cache back
 * because the device is full.
 */
#include "rules/budget_share.h"

#include <inttypes.h>

/* The host's time in `count` calls, by the mean of all of the kind, in ns. */
static double cost_ns(const struct rule_context *ctx, const char *all_ns, const char *all_count,
		      int64_t count)
{
	double mean_ns = tsi_rule_real(ctx, all_ns) / tsi_rule_real(ctx, all_count);

	return count ? mean_ns * (double)count : 0;
}

static void recover(struct rule_context *ctx, int64_t mallocs, int64_t frees, double steps)
{
	double calls_ns = cost_ns(ctx, "launches.malloc_ns", "launches.malloc_count", mallocs) +
			  cost_ns(ctx, "launches.free_ns", "launches.free_count", frees);

	tsi_gain_host_share(ctx, GAIN_ALLOC,
			    calls_ns / steps / tsi_rule_real(ctx, "step_time.mean_ns"));
}

static void evaluate_alloc_cuda_malloc(struct rule_context *ctx)
{
	int64_t mallocs = tsi_rule_int(ctx, "launches.steady_malloc_count");
	int64_t frees = tsi_rule_int(ctx, "launches.steady_free_count");
	double steps = tsi_rule_real(ctx, "steps.count") - 1;
	double per_step = (double)mallocs / steps;

	if (steps < 1) {
		tsi_rule_skip(ctx, "one step: it needs 2, as the first one fills the cache");
		return;
	}
	if (!(per_step >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, per_step),
		      "each step allocates device memory %.1f times (cudaMalloc)", per_step);
	if (frees > 0)
		tsi_rule_detail(ctx,
				"%" PRId64 " calls free memory: the allocator empties its cache, "
				"the device is full",
				frees);
	recover(ctx, mallocs, frees, steps);
}

const struct rule tsi_rule_alloc_cuda_malloc = {
	.def = {
		.id = "ALLOC.CUDA_MALLOC",
		.summary = "steps allocate device memory from the driver",
		.trigger = "Fires where the steps after the first call cudaMalloc (or its like) at "
			   "least threshold times each, in the mean; high from high on, else med.",
		.meaning = "After the first steps PyTorch's cache should serve every request. A "
			   "call to the driver takes 0.1 to 1 ms and may wait for the device; with "
			   "calls that free beside it the device is full and the cache starts "
			   "over, step after step.",
		.advice = "set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, pad or bucket "
			  "batches so that sizes repeat, remove torch.cuda.empty_cache() from the "
			  "loop; if calls free memory, too, use less: smaller batches, activation "
			  "checkpointing",
		.example = "In 20 steps after the first cudaMalloc is called 60 times, 3 times a "
			   "step: a finding of severity med.",
		.parameters = {
			{ "threshold", 1, "allocating calls a step at which it fires" },
			{ "high", 10, "allocating calls a step from which it is severe" },
		},
		.facts = { "launches.steady_malloc_count", "steps.count" },
	},
	.evidence = { "launches.steady_malloc_count", "launches.steady_free_count",
		      "launches.malloc_ns", "launches.free_ns", "steps.count" },
	.cause = CAUSE_alloc_thrash,
	.evaluate = evaluate_alloc_cuda_malloc,
};
