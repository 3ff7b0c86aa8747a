/* SPDX-License-Identifier: MIT */
/* HOST.LAUNCH_BOUND: the device idles because launching its next work takes the host too long. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <string.h>

#define CALLS "launches.by_name"

static const struct idle_claim launch_claim = { { "op_overhead", "launch_call", "start_latency" } };

static void describe_launches(struct rule_context *ctx, double count)
{
	bool is_one = count >= 0.5 && count < 1.5;

	tsi_rule_detail(ctx, "%.0f launch call%s per step", count, is_one ? "" : "s");
}

static bool has_graph_launches(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLS); row++)
		if (strcmp(tsi_rule_cell_text(ctx, CALLS, row, "kind"), "graph_launch") == 0)
			return true;
	return false;
}

static void evaluate_host_launch_bound(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &launch_claim, "the device waits for the host to launch work for ",
			    ""))
		return;
	if (tsi_rule_has(ctx, "launches.launches_per_step"))
		describe_launches(ctx, tsi_rule_real(ctx, "launches.launches_per_step"));
	if (has_graph_launches(ctx))
		tsi_rule_advice_for(ctx, ADVICE_TRAINING,
				    "capture what is still launched one by one into the graphs "
				    "that are replayed already, or enlarge the batch");
}

const struct rule tsi_rule_host_launch_bound = {
	.def = {
		.id = "HOST.LAUNCH_BOUND",
		.summary = "the host is too slow to keep the device busy",
		.trigger = "Fires where the device is idle for at least threshold of the mean step "
			   "while the host dispatches operators or is inside launch calls of up to "
			   "1 ms, or the launched work is about to start. Start-up, compilation, "
			   "stalls and Python between operators have rules of their own.",
		.meaning = "The host should be ahead of the device by many launches. Where it is "
			   "behind, a faster device does not make the step shorter. Short stalls "
			   "at the ends of a step are normal; a tenth of it is not.",
		.advice = "use torch.compile(mode=\"reduce-overhead\") or "
			  "torch.cuda.CUDAGraph to launch a whole step at once; optimizers "
			  "with fused=True or foreach=True, larger batches",
		.serving_advice = DECODE_GRAPHS "; " OVERLAP_HOST,
		.inference_advice = COMPILE_FORWARD "; " MORE_REQUESTS,
		.example = "In a step of 100 ms the device waits 12 ms for launches: 0.12, a "
			   "finding with 12 ms a step to win.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
		},
		.facts = { "idle.op_overhead_ns", "idle.launch_call_ns",
			   "idle.start_latency_ns", "step_time.mean_ns" },
	},
	.evidence = { "launches.launches_per_step", "launches.queued_ratio" },
	.cause = CAUSE_launch_overhead,
	.evaluate = evaluate_host_launch_bound,
};
