/* SPDX-License-Identifier: MIT */
/* The finding that a trace records the capture of a graph, which several rules may come to. */
#include "rules/capture_finding.h"

bool tsi_is_mostly_captured(const struct rule_context *ctx, double least_share)
{
	int64_t captured = tsi_rule_int(ctx, "launches.captured_count");

	if (captured == 0)
		return false;
	return tsi_rule_flag(ctx, "launches.is_capture") ||
	       (double)captured >= least_share * (double)tsi_rule_int(ctx, "launches.launch_count");
}

bool tsi_fire_capture(struct rule_context *ctx, double least_share)
{
	if (!tsi_is_mostly_captured(ctx, least_share))
		return false;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the trace records the capture of a graph, not a run");
	tsi_rule_cause(ctx, CAUSE_capture_not_a_run);
	tsi_rule_wins_nothing(ctx);
	tsi_rule_advice(ctx, "record replays of the graph: start the profiler after capture and "
			     "warm-up");
	tsi_rule_detail(ctx, "%.0f of %.0f launch calls only become part of a graph",
			tsi_rule_real(ctx, "launches.captured_count"),
			tsi_rule_real(ctx, "launches.launch_count"));
	tsi_rule_evidence(ctx, "launches.captured_count");
	tsi_rule_evidence(ctx, "launches.launch_count");
	return true;
}
