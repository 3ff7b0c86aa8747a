/* SPDX-License-Identifier: MIT */
/* TIMING.BACKWARD_HEAVY: the gradients cost more than twice the forward work that they undo. */
#include <math.h>
#include <string.h>

#include "base/scaled_text.h"
#include "rules/efficiency_lines.h"

#define OPERATORS "operators.by_name"

static const char checkpoint_advice[] = "checkpoint fewer layers if memory allows, run forward and "
					"loss under autocast, compile the "
					"model";

/* Activation checkpointing runs forward once more, within backward. */
static bool recomputes(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, OPERATORS); row++)
		if (strcmp(tsi_rule_cell_text(ctx, OPERATORS, row, "name"),
			   "CheckpointFunctionBackward") == 0)
			return true;
	return tsi_repeats_forward(ctx);
}

/* Where a trace shows what the time goes to, other findings say what to mend. */
static enum tscope_severity grade(const struct rule_context *ctx, double ratio)
{
	return tsi_rule_has(ctx, "budget.wall_total_ns") ? TSCOPE_SEVERITY_LOW
							 : tsi_rule_grade(ctx, ratio);
}

/*
 * The spread of operators between steps. On the CPU they do the same work in each: what varies is
 * how long their threads wait for a core, and backward's may wait more than forward's.
 */
static double spread_ns(const struct rule_context *ctx)
{
	double squares = 0;

	if (!tsi_rule_has(ctx, "budget.host.backward_total_ns"))
		return 0; /* phases are times of a device */
	for (size_t row = 0; row < tsi_rule_rows(ctx, OPERATORS); row++) {
		double ns = tsi_rule_cell_real(ctx, OPERATORS, row, "step_deviation_ns");
		squares += isfinite(ns) ? ns * ns : 0;
	}
	return sqrt(squares);
}

static void evaluate_timing_backward_heavy(struct rule_context *ctx)
{
	double forward_ns = tsi_rule_real(ctx, "step_time.phase.forward_ns");
	double backward_ns = tsi_rule_real(ctx, "step_time.phase.backward_ns");

	if (forward_ns <= 0 || backward_ns <= 0) {
		tsi_rule_skip(ctx, "no step with a known forward and backward time");
		return;
	}
	if (strcmp(tsi_rule_text(ctx, "integrity.verdict"), "damaged") == 0) {
		tsi_rule_skip(ctx, "the trace is damaged: parts of either may be missing");
		return;
	}
	double ratio = backward_ns / forward_ns;
	int again = recomputes(ctx);
	if (ratio > tsi_rule_parameter(ctx, "most")) {
		tsi_rule_skip(ctx,
			      "backward takes %.0f times as long as forward: most forward "
			      "work is in no phase",
			      ratio);
		return;
	}
	if (ratio < tsi_rule_parameter(ctx, "threshold") + again)
		return;
	if (spread_ns(ctx) >= tsi_rule_parameter(ctx, "unsteady") * backward_ns) {
		tsi_rule_skip(ctx, "the same operators take very different times from step to "
				   "step, as where more threads run than there are cores");
		return;
	}
	tsi_rule_fire(ctx, grade(ctx, ratio), "backward takes %.1f times as long as forward",
		      ratio);
	tsi_rule_detail(ctx, "%s against %s per step; a ratio of about %d is usual%s",
			tsi_time_text(backward_ns).chars, tsi_time_text(forward_ns).chars,
			2 + again, again ? " with activation checkpointing" : "");
	if (again)
		tsi_rule_advice(ctx, checkpoint_advice);
}

const struct rule tsi_rule_timing_backward_heavy = {
	.def = {
		.id = "TIMING.BACKWARD_HEAVY",
		.summary = "backward takes far longer than forward",
		.trigger = "Fires where the mean backward time of a step is at least threshold "
			   "times its forward time, one more where backward computes activations "
			   "again; high from high on, else med; low where a trace shows more. "
			   "Above most, and in damaged traces, the phases cannot be right, and "
			   "nothing is said; nor is it without a device where the spread of "
			   "operators between steps is at least unsteady of backward: their "
			   "threads wait for a core.",
		.meaning = "Gradients cost about twice the forward work. Much more means that "
			   "the backward pass does something else, too: it computes activations "
			   "or a graph of its own again, or runs in a higher precision.",
		.advice = "look for retain_graph=True and create_graph=True that are not "
			  "needed, run forward and loss under autocast, try torch.compile",
		.example = "Forward takes 20 ms and backward 60 ms: the ratio is 3.0, a finding "
			   "of severity med.",
		.parameters = {
			{ "threshold", 2.5, "backward ÷ forward at which it fires" },
			{ "high", 3.5, "backward ÷ forward from which it is severe" },
			{ "most", 10, "backward ÷ forward that phases do not explain" },
			{ "unsteady", 0.5,
			  "spread of operators between steps ÷ backward: waiting" },
		},
		.facts = { "step_time.phase.forward_ns", "step_time.phase.backward_ns" },
	},
	.evidence = { "step_time.phase.backward_ns", "step_time.phase.forward_ns" },
	.cause = CAUSE_low_mfu,
	.is_separate = true,
	.evaluate = evaluate_timing_backward_heavy,
};
