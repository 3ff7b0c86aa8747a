/* SPDX-License-Identifier: MIT */
/* TIMING.BACKWARD_HEAVY: the gradients cost more than twice the forward work that they undo. */
#include "base/scaled_text.h"
#include "rules/rule.h"

/* Where a trace shows what the time goes to, other findings say what to mend. */
static enum tscope_severity grade(const struct rule_context *ctx, double ratio)
{
	return tsi_rule_has(ctx, "budget.wall_total_ns") ? TSCOPE_SEVERITY_LOW
							 : tsi_rule_grade(ctx, ratio);
}

static void evaluate_timing_backward_heavy(struct rule_context *ctx)
{
	double forward_ns = tsi_rule_real(ctx, "step_time.phase.forward_ns");
	double backward_ns = tsi_rule_real(ctx, "step_time.phase.backward_ns");

	if (forward_ns <= 0 || backward_ns <= 0) {
		tsi_rule_skip(ctx, "no step with a known forward and backward time");
		return;
	}
	double ratio = backward_ns / forward_ns;
	if (ratio > tsi_rule_parameter(ctx, "most")) {
		tsi_rule_skip(ctx,
			      "backward takes %.0f times as long as forward: most forward "
			      "work is in no phase",
			      ratio);
		return;
	}
	if (ratio < tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx, grade(ctx, ratio), "backward takes %.1f times as long as forward",
		      ratio);
	tsi_rule_detail(ctx, "%s against %s per step; a ratio of about 2 is usual",
			tsi_time_text(backward_ns).chars, tsi_time_text(forward_ns).chars);
}

const struct rule tsi_rule_timing_backward_heavy = {
	.def = {
		.id = "TIMING.BACKWARD_HEAVY",
		.summary = "backward takes far longer than forward",
		.trigger = "Fires where the mean backward time of a step is at least threshold "
			   "times its forward time; high from high on, else med; low where a trace "
			   "shows more. Above most the phases cannot be right, and nothing is "
			   "said.",
		.meaning = "Gradients cost about twice the forward work. Much more means that "
			   "the backward pass does something else, too: it computes activations "
			   "or a graph of its own again, or runs in a higher precision.",
		.advice = "look for retain_graph=True and create_graph=True that are not "
			  "needed, run forward and loss under autocast, try torch.compile; with "
			  "activation checkpointing up to 3 is expected: checkpoint fewer "
			  "layers if memory allows",
		.example = "Forward takes 20 ms and backward 60 ms: the ratio is 3.0, a finding "
			   "of severity med.",
		.parameters = {
			{ "threshold", 2.5, "backward ÷ forward at which it fires" },
			{ "high", 3.5, "backward ÷ forward from which it is severe" },
			{ "most", 10, "backward ÷ forward that phases do not explain" },
		},
		.facts = { "step_time.phase.forward_ns", "step_time.phase.backward_ns" },
	},
	.evidence = { "step_time.phase.backward_ns", "step_time.phase.forward_ns" },
	.cause = CAUSE_low_mfu,
	.is_separate = true,
	.evaluate = evaluate_timing_backward_heavy,
};
