/* SPDX-License-Identifier: MIT */
/*
 * HOST.CALLBACKS: callbacks of a trainer hold up the training loop. Composer's traces name them; of
 * others the time counts that the device idles meanwhile.
 */
#include "rules/idle_finding.h"

static const struct idle_claim callback_claim = { { "callback" } };

static void evaluate_composer(struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "callbacks.step_ratio") -
		       tsi_rule_real(ctx, "callbacks.profiler_ratio");
	int64_t ns = tsi_rule_int(ctx, "callbacks.in_step_ns_per_step") -
		     tsi_rule_int(ctx, "callbacks.profiler_ns_per_step");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "callbacks and algorithms take %.1f %% of the step", 100 * share);
	if (tsi_rule_has(ctx, "callbacks.top_name"))
		tsi_rule_detail(ctx, "mostly %s: %s per step",
				tsi_rule_text(ctx, "callbacks.top_name"),
				tsi_rule_time(ctx, "callbacks.top_ns_per_step").chars);
	tsi_rule_gain(ctx, GAIN_CALLBACK, ns);
}

static void evaluate_host_callbacks(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &callback_claim);

	if (share >= tsi_rule_parameter(ctx, "threshold")) {
		tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
			      "the device waits for callbacks and logging for %.1f %% of the step",
			      100 * share);
		tsi_describe_idle(ctx, &callback_claim);
	} else if (tsi_rule_trusts(ctx, "callbacks.step_ratio") &&
		   tsi_rule_trusts(ctx, "callbacks.profiler_ratio")) {
		evaluate_composer(ctx);
	}
}

const struct rule tsi_rule_host_callbacks = {
	.def = {
		.id = "HOST.CALLBACKS",
		.summary = "callbacks of the trainer hold up the training loop",
		.trigger = "Fires where the device idles for at least threshold of the mean step "
			   "while the host is in callbacks, logging or checkpoints, or where "
			   "Composer's callbacks and algorithms, but for its own profiler's, take "
			   "as much of it; high from high on, else med.",
		.meaning = "They run in the training loop, one after the other, and the loop waits "
			   "for each: for a checkpoint that is written, a request to a logging "
			   "service, a metric that is fetched from the device.",
		.advice = "log and monitor every few batches instead of each; write checkpoints in "
			  "the background or less often; keep .item() and prints out of callbacks, "
			  "or leave out the callback that takes most",
		.example = "In a step of 200 ms, SpeedMonitor and MemoryMonitor take 14 ms: 0.07, "
			   "a finding of severity med with 14 ms a step to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "high", 0.20, "share of the step from which it is severe" },
		},
	},
	.evidence = { "callbacks.step_ratio", "callbacks.profiler_ratio", "callbacks.top_name",
		      "callbacks.top_ns_per_step" },
	.cause = CAUSE_callbacks,
	.evaluate = evaluate_host_callbacks,
};
