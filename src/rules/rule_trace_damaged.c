/* SPDX-License-Identifier: MIT */
/* TRACE.DAMAGED: the file ends early, or events in it could not be read. */
#include "rules/rule.h"

#include <inttypes.h>
#include <string.h>

static enum tscope_severity grade(const struct rule_context *ctx, bool is_damaged, double share)
{
	if (share >= tsi_rule_parameter(ctx, "high"))
		return TSCOPE_SEVERITY_HIGH;
	return is_damaged || share >= tsi_rule_parameter(ctx, "threshold") ? TSCOPE_SEVERITY_MED
									   : TSCOPE_SEVERITY_LOW;
}

static const char dropped_advice[] =
	"see what was dropped with --show input; if the program that wrote them is yours, fix its "
	"events, else copy the file again and compare sizes";

static void evaluate_trace_damaged(struct rule_context *ctx)
{
	bool is_damaged = strcmp(tsi_rule_text(ctx, "integrity.verdict"), "damaged") == 0;
	int64_t dropped = tsi_rule_int(ctx, "integrity.dropped_count");
	int64_t events = tsi_rule_int(ctx, "integrity.event_count");
	double share = events > 0 ? (double)dropped / (double)events : 0;

	if (!is_damaged && dropped == 0)
		return;
	if (is_damaged)
		tsi_rule_fire(ctx, grade(ctx, is_damaged, share),
			      "the trace is cut off after %" PRId64 " event%s", events,
			      events == 1 ? "" : "s");
	else
		tsi_rule_fire(ctx, grade(ctx, is_damaged, share),
			      "%" PRId64 " of %" PRId64 " events could not be read", dropped,
			      events);
	if (is_damaged && dropped > 0)
		tsi_rule_detail(ctx, "%" PRId64 " of %" PRId64 " events dropped", dropped, events);
	if (!is_damaged)
		tsi_rule_advice(ctx, dropped_advice);
}

const struct rule tsi_rule_trace_damaged = {
	.def = {
		.id = "TRACE.DAMAGED",
		.summary = "the trace ends early or holds events that cannot be read",
		.trigger = "Fires where the input ends early or an event was dropped; low where "
			   "the dropped are less than threshold of all events and the end is "
			   "there, high from high on, else med.",
		.meaning = "Figures are those of what is left. One event in a thousand changes "
			   "none of them; where one in twenty is lost, idle time may be work that "
			   "was dropped.",
		.advice = "copy the file again and compare sizes; a job that ends while the "
			  "profiler writes cuts the file: stop the profiler, and let it finish, "
			  "before the process exits. integrity.diagnostics says what is odd",
		.example = "The file ends in the middle of an event, 1 of 40,213 is dropped: a "
			   "finding of severity med.",
		.parameters = {
			{ "threshold", 0.001, "share of dropped events from which it is med" },
			{ "high", 0.05, "share of dropped events from which it is severe" },
		},
		.facts = { "integrity.verdict", "integrity.dropped_count",
			   "integrity.event_count" },
	},
	.evidence = { "integrity.verdict", "integrity.dropped_count", "integrity.event_count" },
	.cause = CAUSE_trace_damaged,
	.evaluate = evaluate_trace_damaged,
};
