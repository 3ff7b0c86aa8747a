/* SPDX-License-Identifier: MIT */
/* TRACE.INCOMPLETE: steps are cut by the capture, unmarked, or too few to speak for the run. */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

static void fire(struct rule_context *ctx, int64_t count, int64_t cut)
{
	if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "whole_trace") == 0)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "the trace marks no steps: it counts as one step");
	else if ((double)count < tsi_rule_parameter(ctx, "threshold"))
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "there %s %" PRId64 " whole step%s to judge by",
			      count == 1 ? "is" : "are", count, count == 1 ? "" : "s");
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "%" PRId64 " step%s cut by the end of the capture", cut,
			      cut == 1 ? " is" : "s are");
}

static void evaluate(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "step_time.count");
	int64_t cut = tsi_rule_int(ctx, "integrity.incomplete_step_count");

	if ((double)count >= tsi_rule_parameter(ctx, "threshold") && cut == 0)
		return;
	fire(ctx, count, cut);
	tsi_rule_evidence(ctx, "step_time.count");
	tsi_rule_evidence(ctx, "steps.count");
	tsi_rule_evidence(ctx, "steps.boundary");
	tsi_rule_evidence(ctx, "integrity.incomplete_step_count");
	tsi_rule_cause(ctx, CAUSE_TRACE);
}

const struct rule tsi_rule_trace_incomplete = {
	.def = {
		.id = "TRACE.INCOMPLETE",
		.summary = "the trace holds few whole steps",
		.trigger = "Fires where fewer than threshold steps can be judged, or steps are cut "
			   "by the end of the capture; low.",
		.meaning = "A cut step is left out of the statistics. One step or two may be "
			   "unusual: a first batch, a checkpoint; from three on an odd one shows "
			   "as such.",
		.advice = "schedule(wait=1, warmup=2, active=5, repeat=1) with prof.step() after "
			  "each step; where a loop marks its steps otherwise, name the mark with "
			  "--step-marker",
		.example = "Of 3 steps the last is cut by the end of the capture: 2 are left, a "
			   "finding of severity low.",
		.parameters = {
			{ "threshold", 3, "fewest steps to judge by" },
		},
		.facts = { "integrity.incomplete_step_count" },
	},
	.evaluate = evaluate,
};
