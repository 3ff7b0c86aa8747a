/* SPDX-License-Identifier: MIT */
/* EFFICIENCY.RECOVERABLE: much of the step is not compute, and the MFU is unknown. */
#include "rules/advice.h"
#include "rules/efficiency_lines.h"

#include <string.h>

#define WORTH_TELLING 0.05

/* Whether time outside known phases is the largest line. */
static bool is_other(const struct rule_context *ctx)
{
	return strcmp(tsi_rule_text(ctx, "efficiency.top_recoverable"), "other") == 0;
}

/* In an unmarked program, or one without a training loop, everything is "other". */
static bool is_nothing_known(const struct rule_context *ctx, double top)
{
	return top >= 1 && is_other(ctx);
}

/* Grades time that nobody has marked lower, as it may be needed; not where idle time is known. */
static enum tscope_severity grade(const struct rule_context *ctx, double top)
{
	enum tscope_severity severity = tsi_rule_grade(ctx, top);

	if (!is_other(ctx) || tsi_rule_has(ctx, "budget.device_gap_total_ns"))
		return severity;
	return severity == TSCOPE_SEVERITY_HIGH ? TSCOPE_SEVERITY_MED : TSCOPE_SEVERITY_LOW;
}

static void evaluate_efficiency_recoverable(struct rule_context *ctx)
{
	double top = tsi_top_efficiency_share(ctx);
	bool has_mfu = tsi_rule_has(ctx, "efficiency.mfu");
	bool is_lower_bound = tsi_rule_flag(ctx, "efficiency.mfu_is_lower_bound");

	/* If the MFU is known, EFFICIENCY.LOW_MFU judges the same lines. */
	if ((has_mfu && !is_lower_bound) || top < tsi_rule_parameter(ctx, "threshold"))
		return;
	if (is_nothing_known(ctx, top)) {
		tsi_rule_skip(ctx, "no part of the step is in a known phase");
		return;
	}
	tsi_rule_fire(ctx, grade(ctx, top), "%.1f %% of the step goes to %s", 100 * top,
		      tsi_top_efficiency_line(ctx));
	if (has_mfu)
		tsi_rule_detail(ctx, "the MFU is at least %.1f %%",
				100 * tsi_rule_real(ctx, "efficiency.mfu"));
	tsi_describe_efficiency_lines(ctx, true);
	if (is_other(ctx) && tsi_rule_real(ctx, "callbacks.step_ratio") >= WORTH_TELLING)
		tsi_rule_detail(ctx, "callbacks and algorithms take %.0f %% of the step",
				100 * tsi_rule_real(ctx, "callbacks.step_ratio"));
	tsi_rule_evidence(ctx, "efficiency.useful_ratio");
	tsi_rule_evidence(ctx, "efficiency.mfu");
	tsi_rule_evidence(ctx, "efficiency.flops_coverage_ratio");
}

const struct rule tsi_rule_efficiency_recoverable = {
	.def = {
		.id = "EFFICIENCY.RECOVERABLE",
		.summary = "much of the step is not compute",
		.trigger = "Fires where the MFU is not known or a lower bound and the largest "
			   "recoverable line takes at least threshold of the time; high from "
			   "high on, else med; one lower, and without a gain, where it is time in "
			   "no known phase. Of communication, what is known to be the wait for "
			   "other ranks or stages does not count.",
		.meaning = "Data stalls, communication and time in no known phase leave the "
			   "device without compute.",
		.advice = "follow the largest line: more loader workers against data stalls, "
			  "overlap against communication, marks around what is in no phase",
		.serving_advice = OVERLAP_HOST,
		.inference_advice = "follow the largest line; where the host is late, "
			  COMPILE_FORWARD,
		.example = "A step of 100 ms spends 30 ms waiting for data: 0.30, a finding of "
			   "severity med with 30 ms a step to win.",
		.parameters = {
			{ "threshold", 0.20, "share of the largest line at which it fires" },
			{ "high", 0.35, "share from which it is severe" },
		},
		.facts = { "efficiency.top_recoverable_ratio" },
	},
	.cause = CAUSE_low_mfu,
	.is_summary = true,
	.evaluate = evaluate_efficiency_recoverable,
};
