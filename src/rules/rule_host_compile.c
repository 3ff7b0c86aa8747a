/* SPDX-License-Identifier: MIT */
/* HOST.COMPILE: the device idles while the host compiles, or captures a graph. */
#include "rules/idle_finding.h"

static const struct idle_claim compile_claim = { { "compile" } };

static void evaluate_host_compile(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &compile_claim);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "compilation takes %.1f %% of the step: this is not steady state",
		      100 * share);
	tsi_describe_idle(ctx, &compile_claim);
}

const struct rule tsi_rule_host_compile = {
	.def = {
		.id = "HOST.COMPILE",
		.summary = "compilation or the capture of a graph is in the steps",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the host compiles (dynamo, inductor, Triton, nvrtc, "
		   "TorchScript's fusers) or captures and instantiates a graph.",
		.meaning = "torch.compile compiles at the first call and again for each new "
		   "shape that it cannot make dynamic; a step with a compilation says "
		   "nothing of the steps after it. While a graph is captured its "
		   "kernels do not run.",
		.advice = "record after warm-up: schedule(wait=1, warmup=3, active=5); where "
		   "steps compile again, TORCH_LOGS=recompiles names the guard that "
		   "failed: mark_dynamic, pad shapes to a few sizes, or dynamic=True",
		.serving_advice = "record after the engine's warm-up; shapes that compile while "
			  "serving belong into vLLM --compilation-config compile_sizes, SGLang "
			  "--torch-compile-max-bs",
		.example = "One of two steps of 350 ms compiles for 300 ms: 0.43 of the mean "
		   "step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.compile_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_compile,
	.evaluate = evaluate_host_compile,
};
