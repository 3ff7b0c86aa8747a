/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.LOW_OCCUPANCY: kernels with fewer blocks than the device has
 * multiprocessors, so that some of these stand idle while it looks busy. The
 * occupancy within a multiprocessor is no more than evidence: the fastest
 * matrix products need little of it. Communication runs on few blocks by
 * design and is left out, and so is what has nearly as many blocks, as kernels have
 * that stay on the device and take their work in turns (persistent ones).
 */
#include "rules/budget_share.h"
#include "rules/operator_words.h"

#include <string.h>

#define KERNELS "kernels.by_name"

enum { SHOWN_NAME_CHARS = 80 }; /* templates have names of a thousand */

struct small_kernels {
	double total_ns;
	const char *name; /* of those with most time */
	double name_ns;
};

static struct small_kernels find_small(const struct rule_context *ctx)
{
	double filled = tsi_rule_parameter(ctx, "filled");
	struct small_kernels small = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, KERNELS); row++) {
		const char *kind = tsi_value_text(tsi_rule_cell(ctx, KERNELS, row, "kind"));
		double blocks = tsi_value_real(tsi_rule_cell(ctx, KERNELS, row, "blocks_per_sm"));
		double total_ns = tsi_value_real(tsi_rule_cell(ctx, KERNELS, row, "total_ns"));
		if (!(blocks < filled) || strcmp(kind, "comm") == 0)
			continue;
		small.total_ns += total_ns;
		if (total_ns > small.name_ns) {
			small.name = tsi_value_text(tsi_rule_cell(ctx, KERNELS, row, "name"));
			small.name_ns = total_ns;
		}
	}
	return small;
}

/* The operator that loses most in this kernel, if one is known. */
static void tell_operator(struct rule_context *ctx, const char *kernel)
{
	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		if (strcmp(tsi_operator_text(ctx, row, "kernel"), kernel) == 0) {
			tsi_rule_detail(ctx, "it runs for %s", tsi_operator_words(ctx, row).text);
			return;
		}
	}
}

static void tell_kernel(struct rule_context *ctx, const struct small_kernels *small)
{
	tsi_rule_detail(ctx, "most of it, %.2f ms, in %.*s", small->name_ns / 1e6, SHOWN_NAME_CHARS,
			small->name);
	tell_operator(ctx, small->name);
}

static void evaluate_kernel_low_occupancy(struct rule_context *ctx)
{
	struct small_kernels small = find_small(ctx);
	double share = tsi_device_share(ctx, small.total_ns);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "for %.1f %% of the device's time kernels are too small to fill it",
		      100 * share);
	if (small.name)
		tell_kernel(ctx, &small);
}

const struct rule tsi_rule_kernel_low_occupancy = {
	.def = {
		.id = "KERNEL.LOW_OCCUPANCY",
		.summary = "kernels are too small to fill the device",
		.trigger = "Fires where kernels that give less than filled of the device's "
			   "multiprocessors a block, communication left out, take at least "
			   "threshold of the devices' time, from their first event to their last; "
			   "high from high on, else med.",
		.meaning = "A multiprocessor without a block does nothing, though the device "
			   "counts as busy. A few small kernels are in every step; where they take "
			   "a quarter of the time the work is too small for the device.",
		.advice = "enlarge the batch per device first, it costs least; then run what is "
			  "independent as one batched operation, fuse small operators "
			  "(torch.compile), or use a smaller device or a slice of it (MIG)",
		.example = "Of 100 ms 30 ms go to kernels of 40 blocks on 132 multiprocessors: "
			   "0.30, a finding of severity med that names the kernel.",
		.parameters = {
			{ "threshold", 0.25, "share of the devices' time at which it fires" },
			{ "high", 0.50, "share of the devices' time from which it is severe" },
			{ "filled", 0.90, "share of multiprocessors with a block that is enough" },
		},
		.facts = { "kernels.small_grid_ns", "device_busy.span_ns" },
	},
	.evidence = { "kernels.small_grid_count", "kernels.small_grid_ns", "device_busy.span_ns",
		      "kernels.sm_efficiency_ratio", "kernels.occupancy_pct" },
	.cause = CAUSE_low_occupancy,
	.evaluate = evaluate_kernel_low_occupancy,
};
