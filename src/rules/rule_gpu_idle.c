/* SPDX-License-Identifier: MIT */
/*
 * GPU.IDLE: the device stands idle for much of the step. Why it does is in the
 * lines of the budget; the largest gives the advice, and the cause that the
 * finding shares with the rule on that line.
 */
#include "rules/budget_share.h"

static void evaluate_gpu_idle(struct rule_context *ctx)
{
	double share = tsi_idle_share(ctx);
	const struct idle_line *longest = tsi_longest_idle_line(ctx);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share), "the device is idle for %.1f %% of the step",
		      100 * share);
	for (size_t i = 0; i < IDLE_LINE_COUNT; i++) {
		double part = tsi_budget_share(ctx, tsi_idle_lines[i].fact);
		if (tsi_is_worth_telling(part))
			tsi_rule_detail(ctx, "%s %.1f %%", tsi_idle_lines[i].words, 100 * part);
		tsi_rule_evidence(ctx, tsi_idle_lines[i].fact);
	}
	tsi_rule_evidence(ctx, "budget.wall_ns");
	tsi_rule_advice(ctx, longest->advice);
	tsi_rule_cause(ctx, longest->cause);
	tsi_gain_share(ctx, longest->part, tsi_budget_share(ctx, longest->fact));
}

const struct rule tsi_rule_gpu_idle = {
	.def = {
		.id = "GPU.IDLE",
		.summary = "the device stands idle for much of the step",
		.trigger = "Fires where nothing runs on the device for at least threshold of the "
			   "steps' time; high from high on, else med.",
		.meaning = "Idle time is paid for like any other. A device that is fed well idles "
			   "for a few per cent; a sixth of the step is worth a day's work. The "
			   "largest of the budget's idle lines says what to begin with.",
		.advice = "begin with the largest idle line of the budget: data, synchronisation, "
			  "launches or gaps",
		.example = "A step of 100 ms: 20 ms wait for data, 5 ms are gaps. The device is "
			   "idle for 0.25 of it, a finding of severity med with 20 ms a step to "
			   "win, the largest line.",
		.parameters = {
			{ "threshold", 0.15, "share of the step at which it fires" },
			{ "high", 0.40, "share of the step from which it is severe" },
		},
		.facts = { "budget.wall_ns", "budget.data_stall_ns", "budget.sync_stall_ns",
			   "budget.launch_stall_ns", "budget.device_gap_ns",
			   "budget.unattributed_ns" },
	},
	.cause = CAUSE_unrecorded_work,
	.evaluate = evaluate_gpu_idle,
};
