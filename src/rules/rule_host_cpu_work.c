/* SPDX-License-Identifier: MIT */
/* HOST.CPU_WORK: the device idles while the launching thread computes on the CPU. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

static const struct idle_claim host_cpu_work_claim = { { "cpu_work" } };

static void evaluate_host_cpu_work(struct rule_context *ctx)
{
	(void)tsi_judge_idle(ctx, &host_cpu_work_claim,
			     "the device waits for operators on the CPU for ", "");
}

const struct rule tsi_rule_host_cpu_work = {
	.def = {
		.id = "HOST.CPU_WORK",
		.summary = "work on the CPU keeps the device waiting",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the launching thread is in operators that never call the "
		   "runtime, for 1 ms or more at a time.",
		.meaning = "Such operators work on tensors in host memory: transforms of the "
		   "batch, metrics, losses that were left on the CPU. The device has "
		   "nothing to do meanwhile.",
		.advice = "move the tensors to the device before these operators "
		   "(device=\"cuda\" where they are made), or the work into the data "
		   "loader's workers",
		.serving_advice = OVERLAP_HOST "; look for sampling parameters that run on the CPU "
			  "(logits processors, structured output)",
		.inference_advice = "move the tensors to the device before these operators "
			  "(device=\"cuda\" where they are made), or the work beside the "
			  "device's",
		.example = "A step of 50 ms idles for 9 ms behind aten::sort of a tensor in "
		   "host memory: 0.18 of the step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.cpu_work_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_cpu_only_work,
	.evaluate = evaluate_host_cpu_work,
};
