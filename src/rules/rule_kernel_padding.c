/* SPDX-License-Identifier: MIT */
/* KERNEL.PADDING: products of sizes that tensor cores cannot load in whole pieces. */
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece loads as fast as its smallest part: half of the time goes as a rule. */
static const double part_to_win = 0.5;

/* CUTLASS names its kernels by what they load at once: "…_tn_align1"; 0: others do not. */
static double loaded_at_once(const char *kernel)
{
	const char *word = strstr(kernel, "_align");

	return word ? strtod(word + strlen("_align"), NULL) : 0;
}

/* Sizes of convolutions are the libraries' to pad; a float32 product does without tensor cores. */
static bool is_unaligned(const struct rule_context *ctx, size_t row, double piece)
{
	double alignment = tsi_operator_number(ctx, row, "alignment");

	return alignment > 0 && alignment < piece &&
	       strcmp(tsi_operator_text(ctx, row, "precision"), "fp32") != 0 &&
	       strcmp(tsi_operator_text(ctx, row, "kind"), "gemm") == 0;
}

static double judge_padding(const struct rule_context *ctx, size_t row)
{
	double piece = tsi_piece_of(tsi_operator_text(ctx, row, "precision"));
	double loaded = loaded_at_once(tsi_operator_text(ctx, row, "kernel"));
	double ns = tsi_product_ns(ctx, row);
	double roofline_ns = tsi_operator_number(ctx, row, "roofline_ns");
	bool is_far = roofline_ns < tsi_rule_parameter(ctx, "roofline") * ns;

	if (!is_unaligned(ctx, row, piece) || !(is_far || (loaded > 0 && loaded < piece)) ||
	    ns < tsi_rule_parameter(ctx, "call") * tsi_operator_number(ctx, row, "count"))
		return NAN;
	return isnan(roofline_ns) ? 0 : fmax(fmin(part_to_win * ns, ns - roofline_ns), 0);
}

static void evaluate_kernel_padding(struct rule_context *ctx)
{
	struct slow_products slow = tsi_find_products(ctx, judge_padding);
	double share = tsi_device_share(ctx, slow.ns);
	double matrix_share = slow.ns / tsi_rule_real(ctx, "flops.matrix_ns");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx,
		      share >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED
							      : TSCOPE_SEVERITY_LOW,
		      "%.1f %% of device time goes to matrix products whose sizes are not "
		      "multiples of 16 bytes",
		      100 * share);
	tsi_rule_detail(ctx, "%.0f %% of the time of matrix kernels", 100 * matrix_share);
	tsi_describe_products(ctx, &slow);
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	if (slow.gain_ns > 0)
		tsi_gain_products(ctx, &slow);
}

const struct rule tsi_rule_kernel_padding = {
	.def = {
		.id = "KERNEL.PADDING",
		.summary = "sizes of matrix products do not fit tensor cores",
		.trigger = "Fires where matrix products on tensor cores whose inner or last size "
			   "is no multiple of 16 bytes (8 in float16 and bfloat16, 4 in TF32, 16 "
			   "in 8 bits) take at least threshold of the devices' time. Counted are "
			   "those whose kernel's name says that it loads less at once (_align1), "
			   "or that stay below roofline, with a mean of at least call ns; med "
			   "from med on, else low. Needs recorded shapes.",
		.meaning = "Tensor cores load 16 bytes at once. Of other sizes kernels load single "
			   "elements, or run on the plain cores. At most half of the time, and no "
			   "more than is lost to the roofline, is won; where the device is not "
			   "known that is not said.",
		.advice = "pad vocabulary, hidden and head sizes and sequences to multiples of 8 "
			  "(of 4 in float32, of 16 in 8 bits), better of 64; 50257 tokens become "
			  "50304",
		.serving_advice = "capture graphs for the batches that occur (vLLM "
			  "--cudagraph-capture-sizes, SGLang --cuda-graph-bs-decode)",
		.example = "Products with rows of 83 in float16 take 4 ms of 100 ms, at 0.12 of "
			   "their roofline: 0.04, a finding with 2 ms to win.",
		.parameters = {
			{ "threshold", 0.01, "share of the devices' time at which it fires" },
			{ "med", 0.10, "share of the devices' time from which it is med" },
			{ "roofline", 0.50, "share of the roofline below which sizes are judged" },
			{ "call", 20000, "ns of a mean call from which sizes matter" },
		},
		.facts = { "device_busy.span_ns", "flops.matrix_ns" },
	},
	.evidence = { "flops.matrix_ns", "flops.coverage_ratio", "device_busy.span_ns" },
	.cause = CAUSE_padding,
	.evaluate = evaluate_kernel_padding,
};
