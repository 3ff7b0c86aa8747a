/* SPDX-License-Identifier: MIT */
/*
 * HOST.PROFILER: the device idles while the profiler itself works, or waits for a host that records
 * every call of a Python function.
 */
#include "rules/idle_finding.h"

static const struct idle_claim host_profiler_claim = { { "profiler" } };

/* Nobody knows what recording a call costs; where the device waits for the host it shows. */
static void judge_frames(struct rule_context *ctx)
{
	static const struct idle_claim host_claim = { { "op_overhead", "python" } };
	double count = tsi_rule_real(ctx, "integrity.python_frame_count");
	double rate = count / (tsi_rule_real(ctx, "integrity.work_ns") / 1e6);
	double idle = tsi_idle_claim_share(ctx, &host_claim);

	if (!(rate >= tsi_rule_parameter(ctx, "frames")) ||
	    !(idle >= tsi_rule_parameter(ctx, "idle")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
		      "the profiler recorded %.0f Python calls per millisecond", rate);
	tsi_rule_detail(ctx,
			"%.0f in the trace; each slows the host, and the device waits for the host "
			"for %.1f %% of the step",
			count, 100 * idle);
	tsi_rule_evidence(ctx, "integrity.python_frame_count");
	tsi_rule_evidence(ctx, "integrity.work_ns");
}

static void evaluate_host_profiler(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &host_profiler_claim,
			    "the device waits for the profiler itself for ", ""))
		judge_frames(ctx);
}

const struct rule tsi_rule_host_profiler = {
	.def = {
		.id = "HOST.PROFILER",
		.summary = "the profiler distorts the step",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the launching thread is in the profiler's own functions "
		   "or flushes its buffers. Else it fires where at least frames calls of Python "
		   "functions were recorded a millisecond, and the device idles for at least idle "
		   "of the step behind Python and the operator dispatch; low.",
		.meaning = "This time is not there without the profiler. The other figures of such "
			   "a step are too long, most of all those of the host. With stacks the "
		   "profiler is called at the begin and end of each Python function.",
		.advice = "record less: with_stack=False, profile_memory=False, record_shapes "
		   "only where FLOPs are wanted; fewer steps (active=3); prof.step() "
		   "outside of what is timed",
		.serving_advice = "record less: start_profile without stacks and shapes, over "
			  "fewer iterations",
		.inference_advice = "record less: with_stack=False, profile_memory=False, "
			  "record_shapes only where FLOPs are wanted; fewer forward passes",
		.example = "A step of 250 ms idles for 40 ms while buffers are flushed: 0.16 of "
		   "the step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "frames", 200, "recorded calls a ms that slow the host" },
			{ "idle", 0.20, "share of the step that the host's slowness must cost" },
		},
		.facts = { "idle.profiler_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_profiler_overhead,
	.evaluate = evaluate_host_profiler,
};
