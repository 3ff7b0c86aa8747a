/* SPDX-License-Identifier: MIT */
/* HOST.LOGGING_STALL: the main thread logs, prints and saves instead of going on with the step. */
#include "rules/budget_share.h"

#include <string.h>

/* The row of python.by_cause that is about this cause, or the number of rows. */
static size_t find_cause(const struct rule_context *ctx, const char *cause)
{
	size_t row = 0, count = tsi_rule_rows(ctx, "python.by_cause");

	while (row < count &&
	       strcmp(tsi_rule_cell_text(ctx, "python.by_cause", row, "cause"), cause) != 0)
		row++;
	return row;
}

/* "checkpoint 14.0 %, mostly in save (/usr/lib/…:42)" */
static void describe_part(struct rule_context *ctx, const char *cause, const char *words,
			  double share)
{
	size_t row = find_cause(ctx, cause);

	if (!tsi_is_worth_naming(share))
		return;
	if (row == tsi_rule_rows(ctx, "python.by_cause"))
		tsi_rule_detail(ctx, "%s %.1f %%", words, 100 * share);
	else
		tsi_rule_detail(ctx, "%s %.1f %%, mostly in %s", words, 100 * share,
				tsi_rule_cell_text(ctx, "python.by_cause", row, "main_function"));
}

static void evaluate_host_logging_stall(struct rule_context *ctx)
{
	double main_ns = tsi_rule_real(ctx, "python.main_ns");
	double logging = tsi_rule_real(ctx, "python.logging_ns") / main_ns;
	double checkpoint = tsi_rule_real(ctx, "python.checkpoint_ns") / main_ns;
	double share = logging + checkpoint;

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "logging and checkpoints take %.1f %% of the main thread's time",
		      100 * share);
	describe_part(ctx, "logging", "logging", logging);
	describe_part(ctx, "checkpoint", "checkpoints", checkpoint);
	tsi_gain_host_share(ctx, GAIN_CALLBACK, share);
}

const struct rule tsi_rule_host_logging_stall = {
	.def = {
		.id = "HOST.LOGGING_STALL",
		.summary = "logging and checkpoints keep the main thread from the step",
		.trigger = "Fires where calls that log, print or save checkpoints take at least "
			   "threshold of the main thread's time in the steps; high from high on, "
			   "else med.",
		.meaning = "The thread that launches the device's work runs these calls itself, "
			   "and most of them wait: for a file, a server, a tensor that is still "
			   "being computed. The device runs dry meanwhile.",
		.advice = "log every n-th step, keep losses as tensors and read them together "
			  "(.item() waits for the device), let a thread write; save checkpoints "
			  "asynchronously (torch.distributed.checkpoint.async_save) and less "
			  "often",
		.inference_advice = "log every n-th request; keep results as tensors and read them "
			  "together (.item() waits for the device), let a thread write",
		.example = "In steps of 10 s altogether the main thread is in wandb's log for 0.4 "
			   "s and in torch.save for 0.3 s: 0.07, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.05, "share of the time at which it fires" },
			{ "high", 0.20, "share of the time from which it is severe" },
		},
		.facts = { "python.main_ns", "python.logging_ns", "python.checkpoint_ns" },
	},
	.evidence = { "python.logging_ns", "python.checkpoint_ns", "python.main_ns" },
	.cause = CAUSE_callbacks,
	.evaluate = evaluate_host_logging_stall,
};
