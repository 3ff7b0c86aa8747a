/* SPDX-License-Identifier: MIT */
/*
 * TIMING.DATALOADER_BOUND: the device has nothing to do until the next batch arrives. A trace shows
 * when the device idles meanwhile; of step records the phase is all that is known.
 */
#include "rules/idle_finding.h"
#include "rules/rank_figures.h"

#include <string.h>

static const struct idle_claim data_claim = { { "data" } };

static const char no_workers_advice[] =
	"the DataLoader has no workers, so that the training process loads each batch itself: "
	"num_workers=4 or more, with persistent_workers=True and pin_memory=True";

static void evaluate_phase(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "step_time.phase.data_ratio");
	int64_t data_ns = tsi_rule_int(ctx, "step_time.phase.data_ns");

	if (ratio < tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, ratio), "waiting for data takes %.1f %% of the step",
		      100 * ratio);
	tsi_rule_evidence(ctx, "step_time.phase.data_ratio");
	tsi_rule_evidence(ctx, "step_time.phase.data_ns");
	tsi_rule_gain(ctx, GAIN_DATA, data_ns);
}

static void evaluate_timing_dataloader_bound(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &data_claim);

	if (!tsi_rule_has(ctx, "idle.data_ns")) {
		if (tsi_rule_trusts(ctx, "step_time.phase.data_ratio"))
			evaluate_phase(ctx);
		return;
	}
	if (!(share >= tsi_rule_parameter(ctx, "idle")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the device waits for the data loader for %.1f %% of the step%s", 100 * share,
		      tsi_main_step(ctx, &data_claim).chars);
	tsi_describe_idle(ctx, &data_claim);
	if (strstr(tsi_main_culprit(ctx, &data_claim), "_SingleProcessDataLoaderIter"))
		tsi_rule_advice(ctx, no_workers_advice);
	if (tsi_is_of_late_loaders(ctx, tsi_share_ns(ctx, share)))
		tsi_rule_merge_under(ctx, CAUSE_straggler);
}

const struct rule tsi_rule_timing_dataloader_bound = {
	.def = {
		.id = "TIMING.DATALOADER_BOUND",
		.summary = "the step waits for the data loader",
		.trigger = "Fires where the device idles for at least idle of the mean step while "
			   "the launching thread is in the data loader. Without a trace of the "
			   "device it fires where phase data takes at least threshold of the mean "
			   "step; high from high on, else med. "
			   "What is mostly the loader of a rank that DIST.STRAGGLER names goes "
			   "with that finding.",
		.meaning = "While the step waits for its batch, the device idles. A faster model "
			   "or device makes the share grow, not the step shorter.",
		.advice = "raise num_workers of the DataLoader until the wait stops falling, "
			  "set persistent_workers=True and pin_memory=True, raise "
			  "prefetch_factor; then move costly transforms out of the loop or onto "
			  "the device",
		.example = "A step of 100 ms waits 30 ms for its batch: the share is 0.30, a "
			   "finding of severity med with 30 ms a step to win.",
		.parameters = {
			{ "threshold", 0.25, "share of the step at which it fires" },
			{ "high", 0.40, "share of the step from which it is severe" },
			{ "idle", 0.05, "share of the step in which the device waits" },
		},
		.facts = { "step_time.mean_ns" },
	},
	.cause = CAUSE_data_loader,
	.evaluate = evaluate_timing_dataloader_bound,
};
