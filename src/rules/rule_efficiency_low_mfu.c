/* SPDX-License-Identifier: MIT */
/*
 * EFFICIENCY.LOW_MFU: the device does far fewer FLOPs than it could; the lines of
 * the budget, and where shapes were recorded the operators, say why.
 */
#include <string.h>

#include "base/attributes.h"
#include "base/scaled_text.h"
#include "rules/advice.h"
#include "rules/budget_share.h"
#include "rules/efficiency_lines.h"
#include "rules/matrix_finding.h"
#include "rules/operator_words.h"

enum { SHOWN_OPERATORS = 3 };

/* As KERNEL.KV_BOUND judges by default. */
static const double memory_roofline = 0.6, decoding = 0.5;

/* Cost of activation checkpointing per mean step: the repeated calls of each operator. */
static double repeated_ns(const struct rule_context *ctx)
{
	double sum_ns = 0;

	for (size_t row = 0; row < tsi_operator_rows(ctx); row++) {
		double repeated = tsi_operator_number(ctx, row, "repeated_count") /
				  tsi_operator_number(ctx, row, "count");
		double device_ns = tsi_operator_number(ctx, row, "device_ns");
		if (repeated > 0)
			sum_ns += tsi_operator_step_ns(ctx, row, repeated * device_ns);
	}
	return sum_ns;
}

static void describe_repeats(struct rule_context *ctx)
{
	double hfu_pct = 100 * tsi_rule_real(ctx, "efficiency.hfu");
	double step_ns = repeated_ns(ctx);

	if (!tsi_repeats_forward(ctx))
		return;
	if (step_ns > 0)
		tsi_rule_detail(ctx,
				"%.1f %% including activation recomputation (HFU), which takes "
				"%s per step",
				hfu_pct, tsi_time_text(step_ns).chars);
	else
		tsi_rule_detail(ctx, "%.1f %% including recomputation (HFU)", hfu_pct);
	tsi_rule_evidence(ctx, "efficiency.hfu");
}

/* The table has those that lose most first. */
static void describe_operators(struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_operator_rows(ctx) && row < SHOWN_OPERATORS; row++) {
		double lost_ns = tsi_operator_number(ctx, row, "lost_ns");
		struct operator_words words = tsi_operator_words(ctx, row);
		if (!tsi_is_worth_naming(tsi_device_share(ctx, lost_ns)))
			return;
		tsi_rule_detail(ctx, "%s loses %s per step at %.0f %% of its roofline", words.text,
				tsi_time_text(tsi_operator_step_ns(ctx, row, lost_ns)).chars,
				100 * tsi_operator_number(ctx, row, "roofline_ratio"));
	}
	tsi_rule_evidence(ctx, "flops.lost_ns");
}

/* Do iterations that the memory bounds take most of the time? */
static bool is_decoding(const struct rule_context *ctx)
{
	static const char *const phases[][2] = {
		{ "inference.decode.bound", "inference.decode.time_ratio" },
		{ "inference.speculative.bound", "inference.speculative.time_ratio" },
		{ "inference.mixed.bound", "inference.mixed.time_ratio" },
	};
	double share = 0;

	for (size_t i = 0; i < TSI_COUNT_OF(phases); i++)
		if (strcmp(tsi_rule_text(ctx, phases[i][0]), "memory") == 0)
			share += tsi_rule_real(ctx, phases[i][1]);
	return share >= decoding || tsi_decoding_share(ctx, memory_roofline) >= decoding;
}

/* Where a trace shows what the time goes to, other findings name causes: this is a symptom. */
static enum tscope_severity grade(const struct rule_context *ctx, double mfu)
{
	if (tsi_rule_has(ctx, "budget.wall_total_ns"))
		return TSCOPE_SEVERITY_LOW;
	return mfu < tsi_rule_parameter(ctx, "high") ? TSCOPE_SEVERITY_HIGH : TSCOPE_SEVERITY_MED;
}

static void evaluate_efficiency_low_mfu(struct rule_context *ctx)
{
	double mfu = tsi_rule_real(ctx, "efficiency.mfu");
	double top = tsi_rule_real(ctx, "efficiency.top_recoverable_ratio");

	if (mfu >= tsi_rule_parameter(ctx, "threshold") || top < tsi_rule_parameter(ctx, "line"))
		return;
	if (is_decoding(ctx)) {
		tsi_rule_skip(ctx, "memory bandwidth bounds the engine's iterations: the MFU does "
				   "not measure them");
		return;
	}
	tsi_rule_fire(ctx, grade(ctx, mfu),
		      "the model uses %.1f %% of the device's peak FLOPs (MFU)", 100 * mfu);
	tsi_rule_evidence(ctx, "efficiency.mfu");
	describe_repeats(ctx);
	tsi_describe_efficiency_lines(ctx, false);
	describe_operators(ctx);
}

const struct rule tsi_rule_efficiency_low_mfu = {
	.def = {
		.id = "EFFICIENCY.LOW_MFU",
		.summary = "the device does far fewer FLOPs than it could",
		.trigger = "Fires where the FLOPs per step and the peak of the device are "
			   "known, the MFU is below threshold and the largest recoverable line "
			   "takes at least line of the time; high below high, else med. Not "
			   "evaluated where the MFU is a lower bound, nor where iterations of a "
			   "serving engine that memory bounds take half of the time.",
		.meaning = "MFU is the share of the time that the model's FLOPs would take at "
			   "the device's peak. The rest is paid for and not used. Where shapes "
			   "were recorded the operators that lose most against their rooflines "
			   "are named.",
		.advice = "follow the largest line: autocast, torch.compile and larger batches "
			  "against compute overhead, less activation checkpointing where memory "
			  "allows, more loader workers against data stalls, overlap against "
			  "communication, marks around what is in no phase",
		.serving_advice = "compute more tokens of prompts at once: vLLM "
			  "--max-num-batched-tokens, SGLang --chunked-prefill-size; "
			  QUANTIZED_WEIGHTS,
		.inference_advice = MORE_REQUESTS "; " COMPILE_FORWARD "; " REDUCED_PRECISION,
		.example = "A step of 100 ms computes for 70 ms and waits 30 ms for data; its "
			   "FLOPs take 35 ms at the peak: the MFU is 0.35, a finding of severity "
			   "med, and the largest line is compute overhead with 35 ms a step.",
		.parameters = {
			{ "threshold", 0.50, "MFU below which it fires" },
			{ "high", 0.30, "MFU below which it is severe" },
			{ "line", 0.10, "least share of the largest recoverable line" },
		},
		.facts = { "efficiency.mfu", "efficiency.top_recoverable_ratio" },
	},
	.cause = CAUSE_low_mfu,
	.is_summary = true,
	.evaluate = evaluate_efficiency_low_mfu,
};
