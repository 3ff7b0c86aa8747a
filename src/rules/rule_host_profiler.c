/* SPDX-License-Identifier: MIT */
/* HOST.PROFILER: the device idles while the profiler itself works. */
#include "rules/idle_finding.h"

static const struct idle_claim host_profiler_claim = { { "profiler" } };

static void evaluate_host_profiler(struct rule_context *ctx)
{
	(void)tsi_judge_idle(ctx, &host_profiler_claim,
			     "the device waits for the profiler itself for ", "");
}

const struct rule tsi_rule_host_profiler = {
	.def = {
		.id = "HOST.PROFILER",
		.summary = "the profiler distorts the step",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the launching thread is in the profiler's own functions "
		   "or flushes its buffers.",
		.meaning = "This time is not there without the profiler. The other figures of "
		   "such a step are too long, most of all those of the host.",
		.advice = "record less: with_stack=False, profile_memory=False, record_shapes "
		   "only where FLOPs are wanted; fewer steps (active=3); prof.step() "
		   "outside of what is timed",
		.example = "A step of 250 ms idles for 40 ms while buffers are flushed: 0.16 of "
		   "the step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.profiler_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_profiler_overhead,
	.evaluate = evaluate_host_profiler,
};
