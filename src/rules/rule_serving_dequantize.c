/* SPDX-License-Identifier: MIT */
/* SERVING.DEQUANTIZE: quantized weights are expanded in each iteration, beside 16-bit products. */
#include "rules/rule.h"

#include <string.h>

#include "base/sum.h"

#define NAMES "kernels.by_name"

/* A product that dequantizes its operand itself is of another kind. */
static bool is_dequantizing(const struct rule_context *ctx, size_t row)
{
	const char *name = tsi_rule_cell_text(ctx, NAMES, row, "name");

	return (strstr(name, "dequant") || strstr(name, "Dequant")) &&
	       strcmp(tsi_rule_cell_text(ctx, NAMES, row, "kind"), "quantize") == 0;
}

static void evaluate_serving_dequantize(struct rule_context *ctx)
{
	int64_t sum_ns = 0, most_ns = 0;
	const char *most = "";

	for (size_t row = 0; row < tsi_rule_rows(ctx, NAMES); row++) {
		int64_t ns = tsi_rule_cell(ctx, NAMES, row, "counted_ns").integer;

		if (!is_dequantizing(ctx, row))
			continue;
		tsi_sum(&sum_ns, ns);
		if (ns <= most_ns)
			continue;
		most_ns = ns;
		most = tsi_rule_cell_text(ctx, NAMES, row, "name");
	}
	int64_t span_ns = tsi_rule_int(ctx, "device_busy.span_ns");
	int64_t count = tsi_rule_int(ctx, "inference.iteration_count");

	if (span_ns <= 0 || count <= 0) /* as only a report that was changed by hand has it */
		return;
	double share = (double)sum_ns / (double)span_ns;
	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "dequantization kernels take %.1f %% of device time: products run on "
		      "expanded weights",
		      100 * share);
	tsi_rule_detail(ctx, "%s per iteration; most in %.200s",
			tsi_time_text((double)sum_ns / (double)count).chars, most);
	tsi_rule_gain(ctx, GAIN_COMPUTE, sum_ns / count);
	tsi_rule_bound(ctx);
}

const struct rule tsi_rule_serving_dequantize = {
	.def = {
		.id = "SERVING.DEQUANTIZE",
		.summary = "quantized weights are expanded before each product",
		.trigger = "Fires where the steps are iterations of an inference engine and "
			   "kernels that do nothing but dequantize take at least threshold of the "
			   "devices' time; high from high on, else med. Kernels are known by their "
			   "names; products that dequantize within are none.",
		.meaning = "The engine has no kernel that multiplies these quantized weights on "
			   "this device, or does not choose it: it writes them out in 16 bits and "
			   "multiplies those. That moves more bytes than weights that were never "
			   "quantized.",
		.advice = "choose a format and a method with kernels for this device: vLLM and "
			  "SGLang --quantization awq_marlin or gptq_marlin instead of awq or gptq, "
			  "fp8 or compressed-tensors instead of bitsandbytes and gguf; the "
			  "engine's log says which kernel it chose",
		.example = "Iterations decode for 20 ms, of which 5 ms are "
			   "awq::dequantize_weights: 0.25, a finding of severity high with up to "
			   "5 ms an iteration to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the devices' time at which it fires" },
			{ "high", 0.20, "share from which it is severe" },
		},
		.facts = { "inference.iteration_count", "device_busy.span_ns" },
	},
	.evidence = { "inference.iteration_count", "device_busy.span_ns" },
	.cause = CAUSE_weights_dequantized,
	.evaluate = evaluate_serving_dequantize,
};
