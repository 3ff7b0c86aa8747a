/* SPDX-License-Identifier: MIT */
/*
 * HOST.COMPILE: the device idles while the host compiles, or captures a graph. Where a capture is
 * all that the trace holds, its step is none.
 */
#include "rules/idle_finding.h"

static const struct idle_claim compile_claim = { { "compile" } };

/* A device that hardly works while a graph is captured: what is launched does not run. */
static bool is_capture(const struct rule_context *ctx)
{
	return tsi_rule_int(ctx, "launches.captured_count") > 0 &&
	       tsi_rule_real(ctx, "launches.captured_count") >=
		       tsi_rule_parameter(ctx, "captured") *
			       tsi_rule_real(ctx, "launches.launch_count");
}

static void evaluate_host_compile(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &compile_claim);

	if (is_capture(ctx)) {
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "the trace records the capture of a graph, not a run");
		tsi_rule_cause(ctx, CAUSE_capture_not_a_run);
		tsi_rule_merge_with(ctx, CAUSE_compile);
		tsi_rule_wins_nothing(ctx);
		tsi_rule_advice(ctx, "record replays of the graph: start the profiler after "
				     "capture and warm-up");
		tsi_rule_detail(ctx, "%.0f of %.0f launch calls only become part of a graph",
				tsi_rule_real(ctx, "launches.captured_count"),
				tsi_rule_real(ctx, "launches.launch_count"));
		tsi_rule_evidence(ctx, "launches.captured_count");
		tsi_rule_evidence(ctx, "launches.launch_count");
		return;
	} else if (share >= tsi_rule_parameter(ctx, "threshold")) {
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "compilation takes %.1f %% of the step: this is not steady work",
			      100 * share);
	} else {
		return;
	}
	tsi_tell_idle(ctx, &compile_claim);
}

const struct rule tsi_rule_host_compile = {
	.def = {
		.id = "HOST.COMPILE",
		.summary = "compilation or the capture of a graph is in the steps",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the host compiles (dynamo, inductor, Triton, nvrtc, "
		   "TorchScript's fusers) or captures and instantiates a graph. Where a "
		   "graph is captured and the device hardly works, the trace records "
		   "the capture and not a run.",
		.meaning = "torch.compile compiles at the first call and again for each new "
		   "shape that it cannot make dynamic; a step with a compilation says "
		   "nothing of the steps after it. While a graph is captured its "
		   "kernels do not run.",
		.advice = "record after warm-up: schedule(wait=1, warmup=3, active=5); where "
		   "steps compile again, TORCH_LOGS=recompiles names the guard that "
		   "failed: mark_dynamic, pad shapes to a few sizes, or dynamic=True",
		.example = "One of two steps of 350 ms compiles for 300 ms: 0.43 of the mean "
		   "step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "captured", 0.5, "share of launches inside captures" },
		},
		.facts = { "idle.compile_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_compile,
	.evaluate = evaluate_host_compile,
};
