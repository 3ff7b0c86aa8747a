/* SPDX-License-Identifier: MIT */
/* TRACE.CAPTURE: the trace records the capture of graphs: nothing of it is a step of a run. */
#include "rules/rule.h"

#include <inttypes.h>

static void evaluate_trace_capture(struct rule_context *ctx)
{
	int64_t captured = tsi_rule_int(ctx, "launches.captured_count");

	if (!tsi_rule_flag(ctx, "launches.is_capture"))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH, "the trace records a graph capture, not a run");
	if (captured > 0)
		tsi_rule_detail(ctx,
				"%" PRId64 " of %" PRId64
				" launch calls are only captured into a graph",
				captured, tsi_rule_int(ctx, "launches.launch_count"));
	tsi_rule_wins_nothing(ctx);
}

const struct rule tsi_rule_trace_capture = {
	.def = {
		.id = "TRACE.CAPTURE",
		.summary = "the trace records the capture of graphs, not a run",
		.trigger = "Fires where the trace lies in a folder capture_traces/, or has an "
			   "engine's annotation of a capture or at least half of its launches "
			   "between the begin and the end of one, and replays no graph; high.",
		.meaning = "What is launched while a graph is captured becomes part of the graph "
			   "and does not run. There is no step, no budget and no rank of a run; "
			   "beside a trace of replays a capture says which operators the kernels "
			   "of the graph belong to.",
		.advice = "record replays of the graph: start the profiler after capture and "
			  "warm-up; give the captures beside them",
		.example = "Of 546 launches 544 lie in captures: the trace is none of a run.",
		.facts = { "launches.launch_count" },
	},
	.evidence = { "launches.captured_count", "launches.launch_count" },
	.cause = CAUSE_capture_not_a_run,
	.evaluate = evaluate_trace_capture,
};
