/* SPDX-License-Identifier: MIT */
/* KERNEL.LOW_PRECISION: tensor cores multiply float32, which they could halve. */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"

#include <math.h>
#include <string.h>

/* No kernel keeps its share of the roofline in another precision: half of that is said. */
static const double part_to_win = 0.5;

/* Kernels on plain cores belong to KERNEL.NO_TENSOR_CORES. */
static double judge_precision(const struct rule_context *ctx, size_t row)
{
	double roofline_ns = tsi_operator_number(ctx, row, "roofline_ns");
	double part = 1 - tsi_operator_number(ctx, row, "half_roofline_ns") / roofline_ns;

	if (!(part > 0) || strcmp(tsi_operator_text(ctx, row, "tensor_cores"), "yes") != 0)
		return NAN;
	return fmax(part * roofline_ns, part_to_win * part * tsi_product_ns(ctx, row));
}

static void evaluate_kernel_low_precision(struct rule_context *ctx)
{
	struct slow_products slow = tsi_find_products(ctx, judge_precision);
	double share = tsi_device_share(ctx, slow.ns);
	bool has_bf16 = tsi_rule_flag(ctx, "flops.has_bf16");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "float32 matrix products take %.1f %% of device time; tensor cores multiply "
		      "%s faster",
		      100 * share, has_bf16 ? "bfloat16" : "float16");
	tsi_describe_products(ctx, &slow);
	if (!has_bf16)
		tsi_advise_float16(ctx, "torch.autocast(\"cuda\", dtype=torch.float16) with "
					"torch.amp.GradScaler, where the model tolerates it");
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_gain_products(ctx, &slow);
}

const struct rule tsi_rule_kernel_low_precision = {
	.def = {
		.id = "KERNEL.LOW_PRECISION",
		.summary = "tensor cores multiply float32 where half precision might do",
		.trigger = "Fires where products of float32 or TF32 on tensor (or matrix) cores "
			   "take at least threshold of the devices' time and the device is known "
			   "to multiply bfloat16, else float16, faster; high from high on, else "
			   "med. Needs recorded shapes.",
		.meaning = "In halves operands have half the bytes, and tensor cores at least "
			   "twice the rate. The difference of the rooflines can be won, if the "
			   "model tolerates the precision.",
		.advice = "torch.autocast(\"cuda\", dtype=torch.bfloat16) around forward and "
			  "loss, where the model tolerates it",
		.serving_advice = "serve in --dtype bfloat16; " QUANTIZED_WEIGHTS,
		.inference_advice = REDUCED_PRECISION ", where the results allow it",
		.example = "On an A100 TF32 products take 40 ms of 100 ms at half of their "
			   "roofline, 20 ms; in bfloat16 this is 10 ms: 0.40, a finding of "
			   "severity med with 10 ms to win.",
		.parameters = {
			{ "threshold", 0.10, "share of the devices' time at which it fires" },
			{ "high", 0.50, "share of the devices' time from which it is severe" },
		},
		.facts = { "device_busy.span_ns", "flops.has_bf16" },
	},
	.evidence = { "flops.coverage_ratio", "flops.has_bf16", "device_busy.span_ns" },
	.cause = CAUSE_low_precision_unused,
	.evaluate = evaluate_kernel_low_precision,
};
