/* SPDX-License-Identifier: MIT */
/*
 * KERNEL.NO_TENSOR_CORES: matrix products run on the plain cores. Only kernels
 * whose names say so are counted. Those that do not say it are taken to use
 * tensor cores; among these are all kernels of the kinds other and triton,
 * which are no matrix products as far as is known.
 */
#include "rules/budget_share.h"

#include <string.h>

#define KINDS "kernels.by_kind"

/* They are at least four times as fast: half of the time goes even where memory limits. */
static const double part_to_win = 0.5;

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
			    kind_ns(ctx, "other") - kind_ns(ctx, "triton");

	return matrix_ns - tsi_rule_real(ctx, "kernels.tensor_core_ns") - unknown_ns;
}

static void evaluate(struct rule_context *ctx)
{
	double span_ns = tsi_rule_real(ctx, "device_busy.span_ns");
	double share = plain_matrix_ns(ctx) / span_ns;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "matrix products without tensor cores take %.1f %% of the device's time",
		      100 * share);
	tsi_rule_detail(ctx,
			"kernels with tensor cores %.1f %%, "
			"those of which it is not known %.1f %%",
			100 * tsi_rule_real(ctx, "kernels.tensor_core_ns") / span_ns,
			100 * tsi_rule_real(ctx, "kernels.tensor_core_unknown_ns") / span_ns);
	tsi_rule_evidence(ctx, "kernels.tensor_core_ns");
	tsi_rule_evidence(ctx, "kernels.tensor_core_unknown_ns");
	tsi_rule_evidence(ctx, "kernels.total_ns");
	tsi_rule_evidence(ctx, "device_busy.span_ns");
	tsi_recover_share(ctx, part_to_win * share);
}

const struct rule tsi_rule_kernel_no_tensor_cores = {
	.def = {
		.id = "KERNEL.NO_TENSOR_CORES",
		.summary = "matrix products do not use tensor cores",
		.trigger = "Fires where matrix products, convolutions and attention whose kernels' "
			   "names say that they use no tensor (or matrix) cores take at least "
			   "threshold of the devices' time, from their first event to their last; "
			   "high from high on, else med.",
		.meaning = "Tensor cores multiply matrices four to sixteen times as fast as the "
			   "plain cores. Where a fifth of the time could go to them instead, half "
			   "of that fifth is a careful estimate of the gain.",
		.advice = "torch.set_float32_matmul_precision(\"high\") lets float32 use TF32; "
			  "torch.autocast(\"cuda\", dtype=torch.bfloat16) is faster still; keep "
			  "sizes multiples of 8 (channels_last for convolutions); float64 and "
			  "devices before Volta have none to use",
		.example = "Kernels named sgemm take 60 ms of 100 ms, in a step of 100 ms: 0.60, a "
			   "finding of severity high with 30 ms a step to win.",
		.parameters = {
			{ "threshold", 0.20, "share of the devices' time at which it fires" },
			{ "high", 0.50, "share of the devices' time from which it is severe" },
		},
		.facts = { "kernels.tensor_core_ns", "kernels.tensor_core_unknown_ns",
			   "device_busy.span_ns" },
	},
	.evaluate = evaluate,
};
