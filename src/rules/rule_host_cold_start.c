/* SPDX-License-Identifier: MIT */
/* HOST.COLD_START: initialisation, loading of modules and first uses of kernels are in the step. */
#include "rules/idle_finding.h"

static const struct idle_claim host_cold_start_claim = { { "startup" } };

static void evaluate_host_cold_start(struct rule_context *ctx)
{
	(void)tsi_judge_idle(ctx, &host_cold_start_claim, "start-up takes ",
			     ": this is not steady state");
}

const struct rule tsi_rule_host_cold_start = {
	.def = {
		.id = "HOST.COLD_START",
		.summary = "start-up is in the steps",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the host initialises the driver and its libraries, loads "
		   "modules, or uses a kernel or an operator for the first time.",
		.meaning = "The first launch of a kernel loads its code, the first product "
		   "creates a cuBLAS handle, the first convolution tries algorithms: "
		   "hundreds of milliseconds that no later step pays. Whoever judges a "
		   "step that holds them judges the start.",
		.advice = "run a few steps before the profiler records: schedule(wait=1, "
		   "warmup=3, active=5), or call the model once outside of the profiler; "
		   "if start-up itself matters, CUDA_MODULE_LOADING=LAZY and fewer "
		   "distinct kernels shorten it",
		.serving_advice = "send requests before start_profile: the engine was not warm",
		.example = "The only step takes 480 ms, of which the device idles for 440 ms "
		   "behind the first launch of each kernel: 0.92 of the step.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
		},
		.facts = { "idle.startup_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_cold_start,
	.evaluate = evaluate_host_cold_start,
};
