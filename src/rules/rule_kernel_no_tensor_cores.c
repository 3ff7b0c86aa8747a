/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.NO_TENSOR_CORES: matrix products that tensor cores could do, or could do
 * faster. Where shapes were recorded each operator is judged by the precision of
 * its operands, by its sizes and by its roofline with and without tensor cores.
 * What memory limits at best is left out, since tensor cores move nothing faster;
 * double precision is taken to be meant.
 *
 * Where most shapes are not known the names of kernels tell, and only those that
 * say it. Others are taken to use tensor cores; among these are all kernels of
 * kinds other and ssm, which are no matrix products as far as is known.
 */
#include "rules/budget_share.h"
#include "rules/operator_words.h"

#include <math.h>
#include <string.h>

#define KINDS "kernels.by_kind"

/* They are at least four times as fast: half of the time goes even where memory limits. */
static const double part_to_win = 0.5;

/* From this share on of matrix kernels with known shapes, shapes alone judge. */
static const double shapes_suffice = 0.9;

/* Why an operator does without tensor cores, or with less than they can do. */
enum reason { NO_TF32, PLAIN_CORES, BAD_SIZES, REASON_COUNT, NO_REASON = REASON_COUNT };

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
	[BAD_SIZES] = { "sizes that are no multiples of 16 bytes",
			"pad vocabulary, hidden and head sizes, channels and batches to multiples "
			"of 8 (of 4 in float32, of 16 in 8 bits), better of 64; 50257 tokens "
			"become 50304" },
};

/* Tensor cores take sizes in pieces of 16 bytes. Other precisions are not judged. */
static const struct {
	const char *name;
	double alignment;
} precisions[] = {
	{ "fp32", 4 }, { "tf32", 4 }, { "fp16", 8 }, { "bf16", 8 }, { "fp8", 16 }, { "int8", 16 },
};

static const char float16_advice[] =
	"torch.autocast(\"cuda\", dtype=torch.float16) with torch.amp.GradScaler: the tensor cores "
	"of this device take neither TF32 nor bfloat16; keep sizes multiples of 8";

enum { WORST_COUNT = 2 };

struct slow_products {
	double ns[REASON_COUNT], total_ns;
	double gain_ns[REASON_COUNT], total_gain_ns;
	/* The products with most recoverable time. */
	struct worst {
		size_t row;
		double gain_ns;
	} worst[WORST_COUNT];
};

/* 0: it is not judged. */
static double alignment_of(const char *precision)
{
	for (size_t i = 0; i < TSI_COUNT_OF(precisions); i++)
		if (strcmp(precisions[i].name, precision) == 0)
			return precisions[i].alignment;
	return 0;
}

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
	double needed = alignment_of(precision);
	double alignment = tsi_operator_number(ctx, row, "alignment");
	double roofline = tsi_operator_number(ctx, row, "roofline_ratio");

	if (needed == 0 || !(tsi_operator_number(ctx, row, "flops") > 0))
		return NO_REASON;
	if (strcmp(precision, "fp32") == 0 && part_of_tensor_cores(ctx, row) > 0)
		return strcmp(use, "unknown") == 0 ? NO_REASON : NO_TF32;
	if (strcmp(tsi_operator_text(ctx, row, "bound"), "memory") == 0)
		return NO_REASON;
	if (strcmp(use, "no") == 0)
		return PLAIN_CORES;
	if (alignment > 0 && alignment < needed && roofline < tsi_rule_parameter(ctx, "roofline"))
		return BAD_SIZES;
	return NO_REASON;
}

/*
 * At least the plain cores' part of a float32 operator is won, which is the difference of its
 * rooflines; half of what it would be at the same share of the new one, if that is more. Of
 * others half of the time, but no more than they lose.
 */
static double gain_of(const struct rule_context *ctx, size_t row, enum reason reason)
{
	double device_ns = tsi_operator_number(ctx, row, "device_ns");
	double part = part_of_tensor_cores(ctx, row);

	if (reason == NO_TF32)
		return fmax(part * tsi_operator_number(ctx, row, "roofline_ns"),
			    part_to_win * part * device_ns);
	/* Half if the roofline is unknown. */
	return fmin(part_to_win * device_ns, tsi_operator_number(ctx, row, "lost_ns"));
}

static void keep_worst(struct slow_products *slow, struct worst candidate)
{
	for (size_t i = 0; i < WORST_COUNT; i++) {
		if (candidate.gain_ns > slow->worst[i].gain_ns) {
			struct worst next = slow->worst[i];
			slow->worst[i] = candidate;
			candidate = next;
		}
	}
}

static struct slow_products find_slow(const struct rule_context *ctx)
{
	struct slow_products slow = { 0 };

	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		enum reason reason = judge(ctx, row);
		if (reason == NO_REASON)
			continue;
		double gain_ns = gain_of(ctx, row, reason);
		slow.ns[reason] += tsi_operator_number(ctx, row, "device_ns");
		slow.total_ns += tsi_operator_number(ctx, row, "device_ns");
		slow.gain_ns[reason] += gain_ns;
		slow.total_gain_ns += gain_ns;
		keep_worst(&slow, (struct worst){ row, gain_ns });
	}
	return slow;
}

static void set_subject(struct rule_context *ctx, size_t row)
{
	const char *kernel = tsi_operator_text(ctx, row, "kernel");

	tsi_rule_subject(ctx)->op = tsi_operator_text(ctx, row, "name");
	if (*kernel)
		tsi_rule_subject(ctx)->kernel = kernel;
}

static void tell_worst(struct rule_context *ctx, const struct slow_products *slow)
{
	if (slow->worst[0].gain_ns > 0)
		set_subject(ctx, slow->worst[0].row);
	for (size_t i = 0; i < WORST_COUNT; i++) {
		double step_ms =
			tsi_operator_step_ms(ctx, slow->worst[i].row, slow->worst[i].gain_ns);
		if (step_ms > 0)
			tsi_rule_detail(ctx, "%s could be %.2f ms a step shorter",
					tsi_operator_words(ctx, slow->worst[i].row).text, step_ms);
	}
}

/* What fits the device, where it is known; the rule's own advice holds for any. */
static void advise(struct rule_context *ctx, enum reason reason)
{
	bool has_float16_only =
		tsi_rule_has(ctx, "flops.has_bf16") && !tsi_rule_flag(ctx, "flops.has_bf16");

	if (has_float16_only && reason != BAD_SIZES)
		tsi_rule_advice(ctx, float16_advice);
	else if (reason != NO_REASON)
		tsi_rule_advice(ctx, reasons[reason].advice);
}

/* Half of the time, say, and no peak that says so. */
static void call_estimate(struct rule_context *ctx)
{
	tsi_rule_bound(ctx);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

static void tell_shapes(struct rule_context *ctx, const struct slow_products *slow, double share)
{
	enum reason main_reason = NO_TF32;

	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "matrix products that tensor cores could do faster take %.1f %% of the "
		      "device's time",
		      100 * share);
	for (int reason = 0; reason < REASON_COUNT; reason++) {
		if (slow->gain_ns[reason] > slow->gain_ns[main_reason])
			main_reason = (enum reason)reason;
		if (tsi_is_worth_telling(tsi_device_share(ctx, slow->ns[reason])))
			tsi_rule_detail(ctx, "%s %.1f %%", reasons[reason].words,
					100 * tsi_device_share(ctx, slow->ns[reason]));
	}
	tell_worst(ctx, slow);
	advise(ctx, main_reason);
	if (main_reason != NO_TF32)
		call_estimate(ctx);
	tsi_gain_share(ctx, GAIN_GEMM, tsi_device_share(ctx, slow->total_gain_ns));
}

/* Time of all kernels of a kind; 0 where there are none. */
static double kind_ns(const struct rule_context *ctx, const char *kind)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, KINDS); row++)
		if (strcmp(tsi_value_text(tsi_rule_cell(ctx, KINDS, row, "kind")), kind) == 0)
			return tsi_value_real(tsi_rule_cell(ctx, KINDS, row, "total_ns"));
	return 0;
}

static double plain_matrix_ns(const struct rule_context *ctx)
{
	double matrix_ns = kind_ns(ctx, "gemm") + kind_ns(ctx, "conv") + kind_ns(ctx, "attention") +
			   kind_ns(ctx, "moe");
	double unknown_ns = tsi_rule_real(ctx, "kernels.tensor_core_unknown_ns") -
			    kind_ns(ctx, "other") - kind_ns(ctx, "ssm");

	return matrix_ns - tsi_rule_real(ctx, "kernels.tensor_core_ns") - unknown_ns;
}

static void tell_names(struct rule_context *ctx, const struct slow_products *slow, double share)
{
	double used_ns = tsi_rule_real(ctx, "kernels.tensor_core_ns");
	double unknown_ns = tsi_rule_real(ctx, "kernels.tensor_core_unknown_ns");

	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "matrix products without tensor cores take %.1f %% of the device's time",
		      100 * share);
	tsi_rule_detail(ctx,
			"kernels with tensor cores %.1f %%, "
			"those of which it is not known %.1f %%",
			100 * tsi_device_share(ctx, used_ns),
			100 * tsi_device_share(ctx, unknown_ns));
	tell_worst(ctx, slow);
	advise(ctx, NO_REASON);
	call_estimate(ctx);
	tsi_gain_share(ctx, GAIN_GEMM,
		       fmax(part_to_win * share, tsi_device_share(ctx, slow->total_gain_ns)));
}

static void evaluate_kernel_no_tensor_cores(struct rule_context *ctx)
{
	if (tsi_rule_has(ctx, "flops.has_tensor_cores") &&
	    !tsi_rule_flag(ctx, "flops.has_tensor_cores"))
		return;
	struct slow_products slow = find_slow(ctx);
	double by_shapes = tsi_device_share(ctx, slow.total_ns);
	double by_names = tsi_device_share(ctx, plain_matrix_ns(ctx));
	bool is_known = tsi_rule_real(ctx, "flops.coverage_ratio") >= shapes_suffice;
	bool tells_names = !is_known && by_names > by_shapes;
	double share = tells_names ? by_names : by_shapes;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	if (tells_names)
		tell_names(ctx, &slow, share);
	else
		tell_shapes(ctx, &slow, share);
}

const struct rule tsi_rule_kernel_no_tensor_cores = {
	.def = {
		.id = "KERNEL.NO_TENSOR_CORES",
		.summary = "matrix products do not use tensor cores, or not well",
		.trigger = "Fires where matrix products, convolutions and attention that tensor "
			   "(or matrix) cores could do faster take at least threshold of the "
			   "devices' time, from their first event to their last; high from high "
			   "on, else med. With recorded shapes these are float32 operators "
			   "without TF32 where the device has it, those whose kernels' names say "
			   "that they use no tensor cores, and those below roofline whose sizes "
			   "are no multiples of 16 bytes; neither float64 nor what memory limits "
			   "at best; nothing on a device that is known to have none. "
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
		.example = "Kernels named sgemm take 60 ms of 100 ms, in a step of 100 ms: 0.60, a "
			   "finding of severity high. Without shapes half can be won, 30 ms a "
			   "step; with shapes that take 48 ms at the float32 peak and 6 ms at that "
			   "of TF32, 42 ms.",
		.parameters = {
			{ "threshold", 0.20, "share of the devices' time at which it fires" },
			{ "high", 0.50, "share of the devices' time from which it is severe" },
			{ "roofline", 0.50, "share of the roofline below which sizes are judged" },
		},
		.facts = { "kernels.tensor_core_ns", "kernels.tensor_core_unknown_ns",
			   "device_busy.span_ns" },
	},
	.evidence = { "flops.coverage_ratio", "kernels.tensor_core_ns",
		      "kernels.tensor_core_unknown_ns", "kernels.total_ns", "device_busy.span_ns" },
	.cause = CAUSE_no_tensor_cores,
	.evaluate = evaluate_kernel_no_tensor_cores,
};
