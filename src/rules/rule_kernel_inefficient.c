/* SPDX-License-Identifier: MIT */
/* KERNEL.INEFFICIENT: matrix kernels stay far below what the device can do with their sizes. */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"

#include <math.h>
#include <string.h>

/* Good kernels reach about as much of the roofline. */
static const double reachable = 0.7;

/* Judges sizes and precisions that fit: other rules judge the rest. */
static double judge_efficiency(const struct rule_context *ctx, size_t row)
{
	const char *kind = tsi_operator_text(ctx, row, "kind");
	double piece = tsi_piece_of(tsi_operator_text(ctx, row, "precision"));
	double ns = tsi_product_ns(ctx, row);
	double ratio = tsi_operator_number(ctx, row, "roofline_ns") / ns;

	if ((strcmp(kind, "gemm") != 0 && strcmp(kind, "conv") != 0) || piece == 0 ||
	    !(tsi_operator_number(ctx, row, "alignment") >= piece) ||
	    strcmp(tsi_operator_text(ctx, row, "tensor_cores"), "no") == 0 ||
	    ns < tsi_rule_parameter(ctx, "call") * tsi_operator_number(ctx, row, "count") ||
	    !(ratio < tsi_rule_parameter(ctx, "roofline")))
		return NAN;
	return ns * (1 - ratio / reachable);
}

/* FLOPs by byte of products whose sizes fill any device: 3000 x 3000 x 3000 in 16 bits. */
static const double enough_intensity = 1000;

static void advise(struct rule_context *ctx, size_t row)
{
	if (tsi_operator_number(ctx, row, "intensity") >= enough_intensity)
		tsi_rule_advice(
			ctx, "try other kernels (torch.compile(mode=\"max-autotune\"), TunableOp "
			     "on AMD, torch.backends.cudnn.benchmark for convolutions) and a "
			     "library that knows the device (newer cuBLAS, cuDNN, hipBLASLt); "
			     "the sizes are large enough; look at the device's clocks "
			     "(nvidia-smi -q -d CLOCK,POWER, amd-smi metric)");
}

static void evaluate_kernel_inefficient(struct rule_context *ctx)
{
	struct slow_products slow = tsi_find_products(ctx, judge_efficiency);
	double share = tsi_device_share(ctx, slow.ns);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "matrix kernels far below their roofline take %.1f %% of device time",
		      100 * share);
	tsi_rule_detail(ctx, "they reach %.0f %% of their roofline on average",
			100 * reachable * (1 - slow.gain_ns / slow.ns));
	tsi_describe_products(ctx, &slow);
	advise(ctx, slow.worst[0].row);
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_gain_products(ctx, &slow);
}

const struct rule tsi_rule_kernel_inefficient = {
	.def = {
		.id = "KERNEL.INEFFICIENT",
		.summary = "matrix kernels stay far below their roofline",
		.trigger = "Fires where products and convolutions that take less than roofline of "
			   "what the device can do with their FLOPs and bytes take at least "
			   "threshold of the devices' time; high from high on, else med. Left out "
			   "are those with a mean below call ns, which launching dominates, those "
			   "that use no tensor cores and those whose sizes do not fit them. Needs "
			   "recorded shapes and a device that is known.",
		.meaning = "Few or thin tiles leave multiprocessors without work, and a library "
			   "may choose a poor kernel. Good kernels reach about 0.7 of the "
			   "roofline: what is beyond that is the most that can be won.",
		.advice = "give each call more rows: larger batches, products of one shape in one "
			  "call (torch.bmm, a fused QKV projection); channels_last for "
			  "convolutions; let the library choose: torch.backends.cudnn.benchmark, "
			  "torch.compile(mode=\"max-autotune\"), TunableOp on AMD",
		.serving_advice = FEWER_ITERATIONS "; tune the kernels for these shapes (vLLM "
			  "benchmark_moe.py, TunableOp and AITER on AMD)",
		.inference_advice = MORE_REQUESTS "; products of one shape in one call (a fused "
			  "QKV projection); channels_last for convolutions; "
			  "torch.compile(mode=\"max-autotune\"), TunableOp on AMD",
		.example = "Convolutions of 200 \xc2\xb5s each take 20 ms of 100 ms, at 0.07 of "
			   "their roofline: 0.20, a finding of severity med with 18 ms to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the devices' time at which it fires" },
			{ "high", 0.30, "share of the devices' time from which it is severe" },
			{ "roofline", 0.30, "share of the roofline below which a kernel counts" },
			{ "call", 100000, "ns of a mean call from which a kernel counts" },
		},
		.facts = { "device_busy.span_ns", "flops.matrix_ns" },
	},
	.evidence = { "flops.matrix_ns", "flops.coverage_ratio", "device_busy.span_ns" },
	.cause = CAUSE_gemm_inefficient,
	.evaluate = evaluate_kernel_inefficient,
};
