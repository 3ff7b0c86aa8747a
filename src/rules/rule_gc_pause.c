/* SPDX-License-Identifier: MIT */
/* GC.PAUSE: Python's garbage collector stops the script that feeds the device. */
#include "rules/budget_share.h"

#include <inttypes.h>

static void evaluate_gc_pause(struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "python.gc_ratio");
	int64_t count = tsi_rule_int(ctx, "python.gc_count");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "Python's garbage collector takes %.1f %% of the time", 100 * share);
	tsi_rule_detail(ctx, "%" PRId64 " pause%s, the longest %.2f ms", count,
			count == 1 ? "" : "s", tsi_ms(tsi_rule_int(ctx, "python.gc_max_ns")));
	tsi_gain_host_share(ctx, GAIN_GC, share);
}

const struct rule tsi_rule_gc_pause = {
	.def = {
		.id = "GC.PAUSE",
		.summary = "Python's garbage collector pauses the script",
		.trigger = "Fires where pauses of the garbage collector take at least threshold of "
			   "the time of the trace that holds them; high from high on, else med.",
		.meaning = "A collection walks over every object of the script, for 100 ms and "
			   "more where there are millions. Ranks pause at different times, and all "
			   "of them wait for each, so that one per cent on one rank is many per "
			   "cent of the job.",
		.advice = "after setting up call gc.collect() and gc.freeze(); then gc.disable(), "
			  "and gc.collect(1) every few hundred steps, on all ranks at the same "
			  "step; or raise gc.set_threshold(100000, 50, 1000)",
		.example = "Within 10 s the collector pauses twice for 150 ms: 0.03, a finding of "
			   "severity med.",
		.parameters = {
			{ "threshold", 0.01, "share of the time at which it fires" },
			{ "high", 0.10, "share of the time from which it is severe" },
		},
		.facts = { "python.gc_ratio" },
	},
	.evidence = { "python.gc_ratio", "python.gc_total_ns", "python.gc_count",
		      "python.gc_max_ns" },
	.cause = CAUSE_gc,
	.evaluate = evaluate_gc_pause,
};
