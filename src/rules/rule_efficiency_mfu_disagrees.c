/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.MFU_DISAGREES: the job's own MFU is another one than its files give. */
#include "rules/rule.h"

static void evaluate_efficiency_mfu_disagrees(struct rule_context *ctx)
{
	double factor = tsi_rule_real(ctx, "logged_efficiency.mfu_factor");
	double threshold = tsi_rule_parameter(ctx, "threshold");
	const char *explanation = tsi_rule_text(ctx, "logged_efficiency.explanation");

	if (!(factor > threshold || factor < 1 / threshold))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
		      "the job logged an MFU of %.1f %%, its files give %.1f %%",
		      100 * tsi_rule_real(ctx, "logged_efficiency.logged_mfu_ratio"),
		      100 * tsi_rule_real(ctx, "logged_efficiency.mfu_ratio"));
	if (*explanation != '\0')
		tsi_rule_detail(ctx, "%s", explanation);
}

const struct rule tsi_rule_efficiency_mfu_disagrees = {
	.def = {
		.id = "EFFICIENCY.MFU_DISAGREES",
		.summary = "the MFU logged by the job differs from that of its files",
		.trigger = "Fires where the one is more than threshold times the other; low. Not "
			   "evaluated where the MFU of the files is a lower bound.",
		.meaning = "Loggers divide by peaks and count FLOPs in ways of their own: fkat's "
			   "table holds the peak for sparse matrices, twice the dense one, and "
			   "counters of FLOPs include what activation checkpointing computes "
			   "again. Numbers of two such conventions do not compare.",
		.advice = "compare MFUs of one convention only; where this report's is wrong, "
			  "give it the peak (--peak-tflops) or the FLOPs "
			  "(--flops-per-step, --model)",
		.example = "fkat logs an MFU of 0.20 in bf16 on an A100, for which it takes 624 "
			   "TFLOP/s. The dense peak is 312 TFLOP/s and the MFU 0.40: a finding of "
			   "severity low.",
		.parameters = {
			{ "threshold", 1.2, "how many times the one is the other" },
		},
		.facts = { "logged_efficiency.mfu_factor" },
	},
	.evidence = { "logged_efficiency.mfu_factor", "logged_efficiency.flops_factor",
		      "logged_efficiency.logged_peak_flops_per_second",
		      "logged_efficiency.peak_flops_per_second" },
	.cause = CAUSE_mfu_disagrees,
	.evaluate = evaluate_efficiency_mfu_disagrees,
};
