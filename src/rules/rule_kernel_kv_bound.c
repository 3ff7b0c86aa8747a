/* SPDX-License-Identifier: MIT */
/* KERNEL.KV_BOUND: an engine's iterations read weights and cache as fast as memory allows. */
#include "rules/matrix_finding.h"

#include <string.h>

#define KINDS "inference.kinds"

/* Attention reads the cache, which grows with the contexts; the weights stay as they are. */
static void describe_attention(struct rule_context *ctx)
{
	double requests = tsi_rule_real(ctx, "inference.decode.requests");
	double keys = tsi_rule_real(ctx, "inference.kv_tokens");

	for (size_t row = 0; row < tsi_rule_rows(ctx, KINDS); row++) {
		const char *phase = tsi_rule_cell_text(ctx, KINDS, row, "phase");
		const char *kind = tsi_rule_cell_text(ctx, KINDS, row, "kind");
		double ratio = tsi_rule_cell_real(ctx, KINDS, row, "ratio");

		if (strcmp(phase, "decode") != 0 || strcmp(kind, "attention") != 0)
			continue;
		tsi_rule_detail(ctx,
				"attention, which grows with the contexts, takes %.1f %% of "
				"decoding",
				100 * ratio);
		if (keys > 0 && requests > 0)
			tsi_rule_detail(ctx, "%.0f keys per request", keys / requests);
	}
}

static void evaluate_kernel_kv_bound(struct rule_context *ctx)
{
	double least = tsi_rule_parameter(ctx, "roofline");
	double share = tsi_decoding_share(ctx, least);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(
		ctx, TSCOPE_SEVERITY_LOW,
		"%.1f %% of device time is bound by memory bandwidth: reading weights and KV cache",
		100 * share);
	tsi_rule_detail(ctx, "products and attention that reach %.0f %% of the bandwidth or more",
			100 * least);
	describe_attention(ctx);
}

const struct rule tsi_rule_kernel_kv_bound = {
	.def = {
		.id = "KERNEL.KV_BOUND",
		.summary = "decoding is bound by memory bandwidth",
		.trigger = "Fires where the steps are iterations of a serving engine and products "
			   "and attention that memory bounds, at roofline or more of its "
			   "bandwidth, take at least threshold of the devices' time; low. Needs "
			   "recorded shapes and a device that is known.",
		.meaning = "Each token reads all weights and its sequence's cache once. Kernels "
			   "cannot do that faster: more requests a batch share the weights, "
			   "smaller weights and caches are read sooner.",
		.advice = "serve more requests a batch (vLLM --max-num-seqs, SGLang "
			  "--max-running-requests), quantize weights (--quantization fp8) and the "
			  "cache (--kv-cache-dtype fp8, in SGLang fp8_e4m3), decode speculatively "
			  "(vLLM --speculative-config, SGLang --speculative-algorithm)",
		.example = "Of a decode of 10 ms 8 ms are products of 16 rows at 0.8 of the "
			   "memory's bandwidth: 0.80, a finding of severity low.",
		.parameters = {
			{ "threshold", 0.50, "share of the devices' time at which it fires" },
			{ "roofline", 0.60, "share of the bandwidth from which a kernel counts" },
		},
		.facts = { "device_busy.span_ns", "steps.boundary" },
	},
	.evidence = { "flops.coverage_ratio", "device_busy.span_ns" },
	.cause = CAUSE_kv_bound,
	.evaluate = evaluate_kernel_kv_bound,
};
