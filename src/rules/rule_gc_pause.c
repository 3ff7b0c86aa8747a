/* SPDX-License-Identifier: MIT */
/*
 * GC.PAUSE: Python's garbage collector stops the script that feeds the device. A trace of a device
 * shows how long that idles meanwhile.
 */
#include "rules/budget_share.h"
#include "rules/idle_finding.h"

#include <inttypes.h>
#include <string.h>

static const struct idle_claim gc_claim = { { "gc" } };

static const char called_advice[] =
	"the script calls gc.collect() itself: drop the call from the loop, or make it "
	"gc.collect(0), which looks at new objects only, or call it every few hundred steps, on "
	"all ranks at the same step";

/* Is most of the time in calls of gc.collect(), and not in collections that Python starts? */
static bool is_called(const struct rule_context *ctx, const char *table, const char *cause,
		      const char *column)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, table); row++)
		if (strcmp(tsi_rule_cell_text(ctx, table, row, "cause"), cause) == 0) {
			const char *name = tsi_rule_cell_text(ctx, table, row, column);
			return strstr(name, "collect") && !strstr(name, "collection");
		}
	return false;
}

static void advise(struct rule_context *ctx, const char *table, const char *cause,
		   const char *column)
{
	if (is_called(ctx, table, cause, column))
		tsi_rule_advice(ctx, called_advice);
}

static void evaluate_pauses(struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "python.gc_ratio");
	int64_t count = tsi_rule_int(ctx, "python.gc_count");

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
		      "Python's garbage collector takes %.1f %% of the time", 100 * share);
	tsi_rule_detail(ctx, "%" PRId64 " pause%s, the longest %s", count, count == 1 ? "" : "s",
			tsi_rule_time(ctx, "python.gc_max_ns").chars);
	tsi_rule_evidence(ctx, "python.gc_ratio");
	advise(ctx, "python.by_cause", "garbage_collection", "function");
	tsi_gain_host_share(ctx, GAIN_GC, share);
}

static void evaluate_gc_pause(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &gc_claim);

	if (share >= tsi_rule_parameter(ctx, "threshold")) {
		tsi_rule_fire(ctx, tsi_rule_grade(ctx, share),
			      "the device waits for Python's garbage collector for %.1f %% of the "
			      "step",
			      100 * share);
		tsi_describe_idle(ctx, &gc_claim);
		advise(ctx, "idle.culprits", "gc", "name");
	} else if (tsi_rule_trusts(ctx, "python.gc_ratio")) {
		evaluate_pauses(ctx);
	}
}

const struct rule tsi_rule_gc_pause = {
	.def = {
		.id = "GC.PAUSE",
		.summary = "Python's garbage collector pauses the script",
		.trigger = "Fires where the device idles for at least threshold of the mean "
			   "step while the garbage collector runs, or its pauses take at least "
			   "threshold of the time of the trace that holds them; high from high on, "
			   "else med.",
		.meaning = "A collection walks over every object of the script, for 100 ms and "
			   "more where there are millions. Ranks pause at different times, and all "
			   "of them wait for each, so that one per cent on one rank is many per "
			   "cent of the job.",
		.advice = "after setting up call gc.collect() and gc.freeze(); then gc.disable(), "
			  "and gc.collect(1) every few hundred steps, on all ranks at the same "
			  "step; or raise gc.set_threshold(100000, 50, 1000)",
		.serving_advice = "freeze the collector's objects after warm-up (SGLang "
			  "/freeze_gc; elsewhere gc.freeze() in the server's start-up)",
		.example = "Within 10 s the collector pauses twice for 150 ms: 0.03, a finding of "
			   "severity med.",
		.parameters = {
			{ "threshold", 0.01, "share of the time at which it fires" },
			{ "high", 0.10, "share of the time from which it is severe" },
		},
	},
	.evidence = { "python.gc_total_ns", "python.gc_count",
		      "python.gc_max_ns" },
	.cause = CAUSE_gc,
	.evaluate = evaluate_gc_pause,
};
