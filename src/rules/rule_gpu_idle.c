/* SPDX-License-Identifier: MIT */
/*
 * GPU.IDLE: the device stands idle for much of the step. Why it does is in the
 * lines of the budget; the largest gives the advice, and the cause that the
 * finding shares with the rule on that line.
 */
#include "rules/budget_share.h"

#include <string.h>

static const double worth_telling_ratio = 0.005; /* less would be printed as 0 % */

struct idle_line {
	const char *fact;
	const char *words;
	const char *advice;
};

static const struct idle_line lines[] = {
	{ "budget.data_stall_ns", "waiting for data",
	  "raise num_workers of the DataLoader, set persistent_workers=True and pin_memory=True, "
	  "raise prefetch_factor" },
	{ "budget.sync_stall_ns", "the host waits for the device",
	  "remove .item(), .cpu(), print of tensors and torch.cuda.synchronize() from the step; "
	  "see launches.syncs for who waits" },
	{ "budget.launch_stall_ns", "the host launches too slowly",
	  "torch.compile(mode=\"reduce-overhead\") or a CUDA graph, larger batches, a fused "
	  "optimizer; keep logging and Python work out of the step" },
	{ "budget.device_gap_ns", "gaps between work that is launched",
	  "fewer and larger kernels (torch.compile, CUDA graphs); look for events and streams that "
	  "wait for each other" },
	{ "budget.unattributed_ns", "no launch to judge by",
	  "record CPU activity together with the device's, and whole steps, to see what the host "
	  "does meanwhile" },
};

static const char *advice_on(const char *fact)
{
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++)
		if (strcmp(lines[i].fact, fact) == 0)
			return lines[i].advice;
	return "";
}

static void evaluate(struct rule_context *ctx)
{
	double share = tsi_idle_share(ctx);
	const char *longest = tsi_longest_idle_line(ctx);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share), "the device is idle for %.1f %% of the step",
		      100 * share);
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++) {
		double part = tsi_budget_share(ctx, lines[i].fact);
		if (part >= worth_telling_ratio)
			tsi_rule_detail(ctx, "%s %.1f %%", lines[i].words, 100 * part);
	}
	for (size_t i = 0; i < TSI_COUNT_OF(lines); i++)
		tsi_rule_evidence(ctx, lines[i].fact);
	tsi_rule_evidence(ctx, "budget.wall_ns");
	tsi_rule_advice(ctx, advice_on(longest));
	tsi_rule_cause(ctx, tsi_idle_cause(ctx));
	tsi_recover_share(ctx, tsi_budget_share(ctx, longest));
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
	.evaluate = evaluate,
};
