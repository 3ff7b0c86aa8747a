/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.LOW_OCCUPANCY: kernels with fewer blocks than the device has
 * multiprocessors, so that some of these stand idle while it looks busy. The
 * occupancy within a multiprocessor is no more than evidence: the fastest
 * matrix products need little of it. Communication runs on few blocks by
 * design and is left out, and so is what has nearly as many blocks, as kernels have
 * that stay on the device and take their work in turns (persistent ones), what
 * is too short for its size to matter, and what saturates memory with few blocks.
 */
#include "base/scaled_text.h"
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"
#include "rules/operator_words.h"

#include <string.h>

#define KERNELS "kernels.by_name"

enum { SHOWN_NAME_CHARS = 80 }; /* templates have names of a thousand */

static const double short_ns = 10000; /* what is shorter waits for its launch */

/* From this share of the roofline on more blocks would win nothing. */
static const double near_roofline = 0.6;

/* From this share of the multiprocessors on there is nothing to say of the rest. */
static const double full = 0.95;

struct small_kernels {
	double total_ns;
	double unused_ns; /* of it, times the share of multiprocessors without a block */
	const char *name; /* of those with most time */
	double name_ns;
};

static double number(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_real(ctx, KERNELS, row, column);
}

static const char *text(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_text(ctx, KERNELS, row, column);
}

/* Does it move what its operator must move about as fast as the device can? */
static bool saturates_memory(const struct rule_context *ctx, const char *kernel)
{
	for (size_t row = 0; row < tsi_operator_rows(ctx); row++)
		if (strcmp(tsi_operator_text(ctx, row, "bound"), "memory") == 0 &&
		    tsi_operator_number(ctx, row, "roofline_ratio") >= near_roofline &&
		    strcmp(tsi_operator_text(ctx, row, "kernel"), kernel) == 0)
			return true;
	return false;
}

static bool is_small(const struct rule_context *ctx, size_t row)
{
	double ns = number(ctx, row, "counted_ns");

	return number(ctx, row, "blocks_per_sm") < tsi_rule_parameter(ctx, "filled") &&
	       number(ctx, row, "mean_ns") >= short_ns &&
	       strcmp(text(ctx, row, "kind"), "comm") != 0 &&
	       !(tsi_is_worth_naming(ns / tsi_rule_real(ctx, "budget.wall_total_ns")) &&
		 saturates_memory(ctx, text(ctx, row, "name")));
}

static struct small_kernels find_small(const struct rule_context *ctx)
{
	struct small_kernels small = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, KERNELS); row++) {
		double ns = number(ctx, row, "counted_ns");
		if (!is_small(ctx, row))
			continue;
		small.total_ns += ns;
		small.unused_ns += ns * (1 - number(ctx, row, "blocks_per_sm"));
		if (ns > small.name_ns) {
			small.name = text(ctx, row, "name");
			small.name_ns = ns;
		}
	}
	return small;
}

/* The operator that loses most in this kernel, if one is known. */
static void describe_operator(struct rule_context *ctx, const char *kernel)
{
	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		if (strcmp(tsi_operator_text(ctx, row, "kernel"), kernel) == 0) {
			tsi_rule_detail(ctx, "it runs for %s", tsi_operator_words(ctx, row).text);
			return;
		}
	}
}

static void describe_kernel(struct rule_context *ctx, const struct small_kernels *small)
{
	tsi_rule_detail(ctx, "mostly %.*s (%s in the trace)", SHOWN_NAME_CHARS, small->name,
			tsi_time_text(small->name_ns).chars);
	describe_operator(ctx, small->name);
	tsi_describe_site(ctx, small->name);
}

static void evaluate_kernel_low_occupancy(struct rule_context *ctx)
{
	struct small_kernels small = find_small(ctx);
	double wall_ns = tsi_rule_real(ctx, "budget.wall_total_ns");
	double share = small.total_ns / wall_ns, unused = small.unused_ns / wall_ns;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")) ||
	    tsi_rule_real(ctx, "kernels.sm_efficiency_ratio") >= full)
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "kernels with fewer blocks than the device has multiprocessors take %.1f %% "
		      "of the step",
		      100 * share);
	tsi_rule_detail(ctx, "on average %.0f %% of the multiprocessors have no block meanwhile",
			100 * unused / share);
	if (small.name) {
		describe_kernel(ctx, &small);
		tsi_rule_subject(ctx)->kernel = small.name;
	}
	tsi_gain_share(ctx, GAIN_COMPUTE, unused);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_LOW);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_kernel_low_occupancy = {
	.def = {
		.id = "KERNEL.LOW_OCCUPANCY",
		.summary = "kernels are too small to fill the device",
		.trigger = "Fires where kernels that give less than filled of the device's "
			   "multiprocessors a block take at least threshold of the steps' time; "
			   "high from high on, else med. Communication, kernels of less than 10 "
			   "\xc2\xb5s on average and those that come near the memory's bandwidth "
			   "are left out; nothing where 95 % of the multiprocessors have work.",
		.meaning = "A multiprocessor without a block does nothing, though the device "
			   "counts as busy. A few small kernels are in every step; where they take "
			   "a quarter of the time the work is too small for the device.",
		.advice = "first enlarge the batch per device, which costs least; then run what is "
			  "independent as one batched operation, fuse small operators "
			  "(torch.compile), or use a smaller device or a slice of it (MIG)",
		.serving_advice = FEWER_ITERATIONS,
		.inference_advice = MORE_REQUESTS "; " COMPILE_FORWARD "; or a smaller device, or "
			  "a slice of it (MIG)",
		.example = "In a step of 100 ms 30 ms go to kernels of 40 blocks on 132 "
			   "multiprocessors: 0.30, a finding of severity med that names the "
			   "kernel; 21 ms is a bound of what can be won.",
		.parameters = {
			{ "threshold", 0.25, "share of the step at which it fires" },
			{ "high", 0.50, "share of the step from which it is severe" },
			{ "filled", 0.90, "share of multiprocessors with a block that is enough" },
		},
		.facts = { "kernels.small_grid_ns", "budget.wall_total_ns" },
	},
	.evidence = { "kernels.small_grid_count", "kernels.small_grid_ns", "budget.wall_total_ns",
		      "kernels.sm_efficiency_ratio", "kernels.occupancy_pct" },
	.cause = CAUSE_low_occupancy,
	.evaluate = evaluate_kernel_low_occupancy,
};
