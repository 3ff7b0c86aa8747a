/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.NO_TENSOR_CORES: matrix products that tensor cores could do, or could do faster. Where
 * shapes were recorded each operator is judged by the precision of its operands and by its roofline
 * with and without tensor cores. Products that memory limits at best are left out, since tensor
 * cores move nothing faster; double precision is taken to be meant.
 *
 * Where most shapes are not known the names of kernels decide, and only those that
 * say it. Others are taken to use tensor cores; among these are all kernels of
 * kinds other and ssm, which are no matrix products as far as is known.
 */
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/matrix_finding.h"

#include <math.h>
#include <string.h>

/* They are at least four times as fast: half of the time goes even where memory limits. */
static const double part_to_win = 0.5;

/* From this share on of matrix kernels with known shapes, shapes alone judge. */
static const double shapes_suffice = 0.9;

/* Why an operator does without tensor cores, or with less than they can do. */
enum reason { NO_TF32, PLAIN_CORES, REASON_COUNT, NO_REASON = REASON_COUNT };

static const struct {
	const char *words;
	const char *advice;
} reasons[REASON_COUNT] = {
	[NO_TF32] = { "float32 without TF32",
		      "torch.set_float32_matmul_precision(\"high\") lets float32 products use "
		      "TF32, torch.backends.cudnn.allow_tf32 = True convolutions; "
		      "torch.autocast(\"cuda\", dtype=torch.bfloat16) is faster still" },
	[PLAIN_CORES] = { "on the plain cores",
			  "torch.autocast(\"cuda\", dtype=torch.bfloat16, or float16 before "
			  "Ampere) lets tensor cores work; keep sizes multiples of 8 "
			  "(channels_last for convolutions)" },
};

static const char float16_advice[] =
	"torch.autocast(\"cuda\", dtype=torch.float16) with torch.amp.GradScaler: this device's "
	"tensor cores support neither TF32 nor bfloat16; keep sizes multiples of 8";

/* By which part the roofline of a float32 operator is lower on tensor cores; NaN: not known. */
static double part_of_tensor_cores(const struct rule_context *ctx, size_t row)
{
	return 1 - tsi_operator_number(ctx, row, "tensor_roofline_ns") /
			   tsi_operator_number(ctx, row, "roofline_ns");
}

static enum reason judge(const struct rule_context *ctx, size_t row)
{
	const char *precision = tsi_operator_text(ctx, row, "precision");
	const char *use = tsi_operator_text(ctx, row, "tensor_cores");

	if (tsi_piece_of(precision) == 0 || !(tsi_operator_number(ctx, row, "flops") > 0))
		return NO_REASON;
	if (strcmp(precision, "fp32") == 0 && part_of_tensor_cores(ctx, row) > 0)
		return strcmp(use, "unknown") == 0 ? NO_REASON : NO_TF32;
	if (strcmp(tsi_operator_text(ctx, row, "bound"), "memory") == 0)
		return NO_REASON;
	return strcmp(use, "no") == 0 ? PLAIN_CORES : NO_REASON;
}

/*
 * At least the plain cores' part of a float32 operator is won, which is the difference of its
 * rooflines; half of what it would be at the same share of the new one, if that is more. Of
 * others half of the time, but no more than they lose.
 */
static double gain_of(const struct rule_context *ctx, size_t row, enum reason reason)
{
	double ns = tsi_product_ns(ctx, row);
	double part = part_of_tensor_cores(ctx, row);
	/* It took less where the FLOPs or the peak are wrong. */
	double roofline_ns = fmin(tsi_operator_number(ctx, row, "roofline_ns"), ns);

	if (reason == NO_TF32)
		return fmax(part * roofline_ns, part_to_win * part * ns);
	/* Half if the roofline is unknown. */
	return fmin(part_to_win * ns, tsi_operator_number(ctx, row, "lost_ns"));
}

/* By reason, and together. */
struct slow_reasons {
	double ns[REASON_COUNT], gain_ns[REASON_COUNT];
	struct slow_products all;
};

static struct slow_reasons find_slow(const struct rule_context *ctx)
{
	struct slow_reasons slow = { 0 };

	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		enum reason reason = judge(ctx, row);
		if (reason == NO_REASON)
			continue;
		double gain_ns = gain_of(ctx, row, reason);
		slow.ns[reason] += tsi_product_ns(ctx, row);
		slow.gain_ns[reason] += gain_ns;
		tsi_add_product(ctx, &slow.all, row, gain_ns);
	}
	return slow;
}

/* Chooses advice that fits the device, if known; the rule's own advice fits any. */
static void advise(struct rule_context *ctx, enum reason reason)
{
	bool has_float16_only =
		tsi_rule_has(ctx, "flops.has_bf16") && !tsi_rule_flag(ctx, "flops.has_bf16");

	if (has_float16_only)
		tsi_advise_float16(ctx, float16_advice);
	else if (reason != NO_REASON)
		tsi_rule_advice(ctx, reasons[reason].advice);
}

/* Half of the time, say, and no peak that says so. */
static void call_estimate(struct rule_context *ctx)
{
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

static void describe_shapes(struct rule_context *ctx, const struct slow_reasons *slow, double share)
{
	enum reason main_reason = NO_TF32;

	tsi_rule_fire(
		ctx, tsi_rule_grade(ctx, share),
		"matrix products that tensor cores could speed up take %.1f %% of device time",
		100 * share);
	for (int reason = 0; reason < REASON_COUNT; reason++) {
		if (slow->gain_ns[reason] > slow->gain_ns[main_reason])
			main_reason = (enum reason)reason;
		if (tsi_is_worth_naming(tsi_device_share(ctx, slow->ns[reason])))
			tsi_rule_detail(ctx, "%.1f %% %s",
					100 * tsi_device_share(ctx, slow->ns[reason]),
					reasons[reason].words);
	}
	tsi_describe_products(ctx, &slow->all);
	advise(ctx, main_reason);
	if (main_reason != NO_TF32)
		call_estimate(ctx);
	tsi_gain_products(ctx, &slow->all);
}

static double plain_matrix_ns(const struct rule_context *ctx)
{
	double matrix_ns = tsi_kind_ns(ctx, "gemm") + tsi_kind_ns(ctx, "conv") +
			   tsi_kind_ns(ctx, "attention") + tsi_kind_ns(ctx, "moe");
	double unknown_ns = tsi_rule_real(ctx, "kernels.tensor_core_unknown_ns") -
			    tsi_kind_ns(ctx, "other") - tsi_kind_ns(ctx, "ssm");

	return matrix_ns - tsi_rule_real(ctx, "kernels.tensor_core_ns") - unknown_ns;
}

static void describe_names(struct rule_context *ctx, const struct slow_reasons *slow, double share)
{
	double used_ns = tsi_rule_real(ctx, "kernels.tensor_core_ns");
	double unknown_ns = tsi_rule_real(ctx, "kernels.tensor_core_unknown_ns");

	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "matrix products without tensor cores take %.1f %% of device time",
		      100 * share);
	tsi_rule_detail(
		ctx, "kernels with tensor cores take %.1f %%, kernels that may use them %.1f %%",
		100 * tsi_device_share(ctx, used_ns), 100 * tsi_device_share(ctx, unknown_ns));
	tsi_describe_products(ctx, &slow->all);
	advise(ctx, NO_REASON);
	call_estimate(ctx);
	tsi_gain_share(ctx, GAIN_GEMM_SINGLE,
		       fmax(part_to_win * share, tsi_device_share(ctx, slow->all.gain_ns)));
}

static void evaluate_kernel_no_tensor_cores(struct rule_context *ctx)
{
	if (tsi_rule_has(ctx, "flops.has_tensor_cores") &&
	    !tsi_rule_flag(ctx, "flops.has_tensor_cores"))
		return;
	struct slow_reasons slow = find_slow(ctx);
	double by_shapes = tsi_device_share(ctx, slow.all.ns);
	double by_names = tsi_device_share(ctx, plain_matrix_ns(ctx));
	bool is_known = tsi_rule_real(ctx, "flops.coverage_ratio") >= shapes_suffice;
	bool uses_names = !is_known && by_names > by_shapes;
	double share = uses_names ? by_names : by_shapes;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	if (uses_names)
		describe_names(ctx, &slow, share);
	else
		describe_shapes(ctx, &slow, share);
}

const struct rule tsi_rule_kernel_no_tensor_cores = {
	.def = {
		.id = "KERNEL.NO_TENSOR_CORES",
		.summary = "matrix products do not use tensor cores",
		.trigger = "Fires where matrix products, convolutions and attention that tensor "
			   "(or matrix) cores could do faster take at least threshold of the "
			   "devices' time, from their first event to their last; high from high "
			   "on, else med. With recorded shapes these are float32 operators "
			   "without TF32 where the device has it, and those whose kernels' names "
			   "say that they use no tensor cores; neither float64 nor what memory "
			   "limits at best; nothing on a device that is known to have none. "
			   "Where shapes are known for less than 0.9 of the time of "
			   "matrix kernels, the names of all kernels judge, too.",
		.meaning = "Tensor cores multiply matrices four to sixteen times as fast as the "
			   "plain cores. Where the rooflines with and without them are known their "
			   "difference can be won; else half of the time is a careful estimate.",
		.advice = "from Ampere on torch.set_float32_matmul_precision(\"high\") "
			  "lets float32 use TF32, and torch.autocast(\"cuda\", "
			  "dtype=torch.bfloat16) is faster still; Volta and Turing (V100, T4, "
			  "RTX 20) take float16 alone, with torch.amp.GradScaler; keep sizes "
			  "multiples of 8 (channels_last for convolutions)",
		.serving_advice = "serve in --dtype bfloat16; " QUANTIZED_WEIGHTS,
		.inference_advice = REDUCED_PRECISION ", where the results allow it; keep sizes "
			  "multiples of 8",
		.example = "Kernels named sgemm take 60 ms of 100 ms, in a step of 100 ms: 0.60, a "
			   "finding of severity high. Without shapes half can be won, 30 ms a "
			   "step; with shapes that take 48 ms at the float32 peak and 6 ms at that "
			   "of TF32, 42 ms.",
		.parameters = {
			{ "threshold", 0.20, "share of the devices' time at which it fires" },
			{ "high", 0.50, "share of the devices' time from which it is severe" },
		},
		.facts = { "kernels.tensor_core_ns", "kernels.tensor_core_unknown_ns",
			   "device_busy.span_ns" },
	},
	.evidence = { "flops.coverage_ratio", "kernels.tensor_core_ns",
		      "kernels.tensor_core_unknown_ns", "kernels.total_ns", "device_busy.span_ns" },
	.cause = CAUSE_no_tensor_cores,
	.evaluate = evaluate_kernel_no_tensor_cores,
};
