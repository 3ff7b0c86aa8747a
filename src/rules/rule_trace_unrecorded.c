/* SPDX-License-Identifier: MIT */
/* TRACE.UNRECORDED: the device seems idle, and what kept it is not in the file. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <string.h>

static const char damaged_advice[] =
	"the file ends early: copy it again and compare sizes; let the profiler finish writing "
	"before the process exits";

static const struct idle_claim trace_unrecorded_claim = { { "unrecorded", "edge" } };

/* Is it the time behind the last device event of a file that is whole? */
static bool is_of_end(const struct rule_context *ctx)
{
	static const struct idle_claim edge = { { "edge" } };

	return strcmp(tsi_rule_text(ctx, "integrity.verdict"), "damaged") != 0 &&
	       2 * tsi_idle_claim_share(ctx, &edge) >=
		       tsi_idle_claim_share(ctx, &trace_unrecorded_claim);
}

static void evaluate_end(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &trace_unrecorded_claim);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
		      "the device has no more work in the trace for %.1f %% of the step",
		      100 * share);
	tsi_describe_idle(ctx, &trace_unrecorded_claim);
	tsi_rule_wins_nothing(ctx);
}

static void evaluate_trace_unrecorded(struct rule_context *ctx)
{
	if (is_of_end(ctx)) {
		evaluate_end(ctx);
		return;
	}
	if (!tsi_judge_idle(ctx, &trace_unrecorded_claim,
			    "the trace does not show what the device does for ", ""))
		return;
	tsi_rule_wins_nothing(ctx);
	if (strcmp(tsi_rule_text(ctx, "integrity.verdict"), "damaged") == 0) {
		tsi_rule_advice(ctx, damaged_advice);
		tsi_rule_advice_for(ctx, ADVICE_SERVING, damaged_advice);
	}
}

const struct rule tsi_rule_trace_unrecorded = {
	.def = {
		.id = "TRACE.UNRECORDED",
		.summary = "the device seems idle because its work was not recorded",
		.trigger = "Fires where for at least threshold of the mean step nothing recorded "
			   "runs on the device although its next work had been launched, or "
			   "no further device event follows; in a damaged file also where "
			   "operators go on without the calls that they make elsewhere. Low "
			   "where most of it is behind the last device event of a whole file.",
		.meaning = "Work that was launched starts when what is before it on its stream "
		   "is done. Where the file shows nothing before it, that work was "
		   "launched before the recording began, by another process, or was cut "
		   "out of the file. PyTorch writes events in no order of time: a file "
		   "that ends early lacks calls and kernels anywhere. This is no idle "
		   "time that can be won back.",
		.advice = "record whole steps, and call " SYNCHRONIZE " before the profiler starts "
		   "and before it stops; if the trace was split into files, look at the "
		   "one before",
		.serving_advice = "record more iterations in one file: the work before the first "
			  "launch, or cut out of the file, is not in it",
		.example = "The first kernel of a split file of 474 ms starts 463 ms after its "
		   "launch returned: 0.98 of the step is unrecorded.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
		},
		.facts = { "idle.unrecorded_ns", "idle.edge_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_unrecorded_work,
	.evaluate = evaluate_trace_unrecorded,
};
