/* SPDX-License-Identifier: MIT */
/*
 * GPU.IDLE: the device stands idle for much of the step. It speaks where no rule on the largest
 * cause does.
 */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <string.h>

#define GAPS "idle.gaps"

/* Do devices wait for one another without a collective, as only those of one process can? */
static bool work_in_turn(const struct rule_context *ctx)
{
	if (tsi_rule_int(ctx, "overlap.comm_ns") > 0)
		return false;
	for (size_t row = 1; row < tsi_rule_rows(ctx, GAPS); row++)
		if (tsi_rule_cell(ctx, GAPS, row, "device").integer !=
		    tsi_rule_cell(ctx, GAPS, 0, "device").integer)
			return true;
	return false;
}

static void advise_turns(struct rule_context *ctx)
{
	tsi_rule_bound(ctx);
	tsi_rule_advice_for(ctx, ADVICE_TRAINING,
			    "the devices of this process work in turn: one process and replica for "
			    "each (DistributedDataParallel), microbatches that follow one another "
			    "(torch.distributed.pipelining), or each layer over all of them "
			    "(tensor parallelism)");
	tsi_rule_advice_for(
		ctx, ADVICE_INFERENCE,
		"the devices of this process work in turn, as with device_map=\"auto\": "
		"tensor parallelism (tp_plan=\"auto\", an engine), or a replica on each");
}

/* Calls that pin memory of the host: those for memory of the device have a rule. */
static bool pins_memory(const struct rule_context *ctx)
{
	static const struct idle_claim alloc = { { "alloc" } };
	static const char *const calls[] = { "HostAlloc", "HostMalloc", "HostRegister",
					     "AllocHost" };
	const char *culprit = tsi_main_culprit(ctx, &alloc);

	for (size_t i = 0; i < TSI_COUNT_OF(calls); i++)
		if (strstr(culprit, calls[i]))
			return true;
	return false;
}

static void evaluate_gpu_idle(struct rule_context *ctx)
{
	double share = tsi_idle_share(ctx);
	enum idle_cause main_cause = tsi_main_idle_cause(ctx);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the device is idle for %.1f %% of the step, mostly due to %s", 100 * share,
		      tsi_idle_cause_words(main_cause));
	tsi_describe_idle_causes(ctx);
	tsi_rule_evidence(ctx, "idle.total_ns");
	tsi_rule_evidence(ctx, tsi_idle_fact(main_cause));
	tsi_rule_evidence(ctx, "step_time.mean_ns");
	tsi_claim_idle_cause(ctx, main_cause);
	if (main_cause == IDLE_DEPENDENCY && work_in_turn(ctx))
		advise_turns(ctx);
	if (main_cause == IDLE_ALLOC && pins_memory(ctx))
		tsi_rule_advice(ctx, "pin memory of the host once and copy into it "
				     "(torch.empty(..., pin_memory=True)) instead of pin_memory() "
				     "in each step");
	if (tsi_rule_cause_of_idle(main_cause) != CAUSE_unrecorded_work)
		return;
	tsi_rule_wins_nothing(ctx);
	if (tsi_rule_has(ctx, "operators.count") && tsi_rule_int(ctx, "operators.count") == 0)
		tsi_rule_advice(ctx, "profile(activities=[ProfilerActivity.CPU, "
				     "ProfilerActivity.CUDA]) records what the host does "
				     "meanwhile");
}

const struct rule tsi_rule_gpu_idle = {
	.def = {
		.id = "GPU.IDLE",
		.summary = "the device stands idle for much of the step",
		.trigger = "Fires where nothing runs on the device for at least threshold of the "
			   "mean step. It is merged into the finding on the largest cause of the "
			   "idle time where there is one.",
		.meaning = "Idle time is paid for like any other. A device that is fed well idles "
			   "for a few per cent; a sixth of the step is worth a day's work.",
		.advice = "start with the largest cause of idle time (--show budget); idle.gaps in "
			  "JSON lists the longest gaps and what the host did meanwhile",
		.serving_advice = OVERLAP_HOST "; if no requests wait, the load is too small to "
			  "judge by",
		.example = "A step of 100 ms: 20 ms are gaps between queued kernels, 5 ms wait for "
			   "data. The device is idle for 0.25 of it, with 20 ms a step to win.",
		.parameters = {
			{ "threshold", 0.15, "share of the step at which it fires" },
		},
		.facts = { "idle.total_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_unrecorded_work,
	.is_summary = true,
	.evaluate = evaluate_gpu_idle,
};
