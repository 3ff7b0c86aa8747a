/* SPDX-License-Identifier: MIT */
/* TRACE.UNLINKED: much of the device's work has no known launch. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <inttypes.h>

/* Other launches are in the trace: it has both activities, but begins behind these. */
static const char later_start[] =
	"warmup=1 or more in the profiler's schedule, and " SYNCHRONIZE " before it starts: what "
	"is launched earlier has no launch in the trace";

static const struct idle_claim unlinked_claim = { { "unlinked" } };

/* Where the device hardly idles before such work only operators and phases are in doubt. */
static enum tscope_severity grade(const struct rule_context *ctx, double ratio)
{
	enum tscope_severity severity = tsi_rule_grade(ctx, ratio);

	if (!(tsi_idle_claim_share(ctx, &unlinked_claim) < tsi_rule_parameter(ctx, "idle")))
		return severity;
	return severity == TSCOPE_SEVERITY_HIGH ? TSCOPE_SEVERITY_MED : TSCOPE_SEVERITY_LOW;
}

static void evaluate_trace_unlinked(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "integrity.unlinked_device_ratio");

	/* It is absent where nothing ran on a device: nothing to link. */
	if (!(ratio >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, grade(ctx, ratio),
		      "the launch of %.1f %% of device time is not in the trace", 100 * ratio);
	tsi_rule_detail(ctx, "%" PRId64 " of %" PRId64 " device events",
			tsi_rule_int(ctx, "integrity.unlinked_count"),
			tsi_rule_int(ctx, "integrity.device_event_count"));
	if (tsi_rule_int(ctx, "integrity.unlinked_count") <
	    tsi_rule_int(ctx, "integrity.device_event_count"))
		tsi_rule_advice(ctx, later_start);
}

const struct rule tsi_rule_trace_unlinked = {
	.def = {
		.id = "TRACE.UNLINKED",
		.summary = "device work whose launch is not in the trace",
		.trigger = "Fires where device events that neither correlation nor flow nor "
			   "External id bind to a launch call or an operator take at least "
			   "threshold of the time of all device events; high from high on, else "
			   "med; one less each where the device idles before such work for less "
			   "than idle of the step.",
		.meaning = "Without the launch it is not known which operator, phase and step the "
			   "work belongs to, nor why the device was idle before it. Some is "
			   "normal: it was launched before the capture began. Beyond a tenth the "
			   "phases of the budget are guesses, and where the device idles before "
			   "such work its stalls are, too.",
		.advice = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) in "
			  "one profile, with warmup=1 or more in its schedule and " SYNCHRONIZE
			  " before it starts",
		.example = "Kernels take 100 ms, 20 ms of them have no known launch: 0.20, a "
			   "finding of severity med.",
		.parameters = {
			{ "threshold", 0.10, "share of the device events' time at which it fires" },
			{ "high", 0.50, "share from which it is severe" },
			{ "idle", 0.05, "share of the step that the device idles before it" },
		},
		.facts = { "integrity.device_event_count" },
	},
	.evidence = { "integrity.unlinked_device_ratio", "integrity.unlinked_count",
		      "integrity.device_event_count", "integrity.attributed_by_time_count" },
	.cause = CAUSE_trace_incomplete,
	.is_separate = true,
	.evaluate = evaluate_trace_unlinked,
};
