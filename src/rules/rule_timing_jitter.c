/* SPDX-License-Identifier: MIT */
/* TIMING.JITTER: some steps take far longer than most. */
#include "rules/rule.h"

#include "base/sum.h"

#include <inttypes.h>
#include <string.h>

#define SLOW_RANKS "distributed.slow_ranks"
#define STEPS "steps.list"
#define HOLD_UPS "stragglers.hold_ups"

enum { FEWEST_STEPS = 4 }; /* whose median one slow step does not move */

/* The least that one step has of the excess of the mean over the median, and of the mean. */
static const double ONE_STEP_RATIO = 0.8, ONE_STEP_SHARE = 0.1;

/*
 * Each step counts with its slowest rank: a stall of one shows in its step and, of the others that
 * wait for it, in the next as well.
 */
static bool does_explain(int64_t gain_ns, int64_t excess_ns)
{
	return gain_ns > 0 && gain_ns >= excess_ns / 3;
}

/* Whether a rank that stalls now and then explains most of it. */
static bool is_of_stalls(const struct rule_context *ctx, int64_t excess_ns)
{
	int64_t gain_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, SLOW_RANKS); row++)
		if (tsi_rule_cell(ctx, SLOW_RANKS, row, "stall_count").kind == TSCOPE_VALUE_INT)
			tsi_sum(&gain_ns, tsi_rule_cell(ctx, SLOW_RANKS, row, "gain_ns").integer);
	return does_explain(gain_ns, excess_ns);
}

/* Whether a rank does that held the others up in some steps. */
static bool is_of_hold_up(const struct rule_context *ctx, int64_t excess_ns)
{
	return tsi_rule_rows(ctx, HOLD_UPS) > 0 &&
	       does_explain(tsi_rule_cell(ctx, HOLD_UPS, 0, "excess_ns_per_step").integer,
			    excess_ns);
}

/*
 * One step that is far slower than the median and has a share of the time needs no statistics; it
 * says why the mean step is like none of the steps.
 */
static bool is_one_step(const struct rule_context *ctx, int64_t excess_ns)
{
	double p50_ns = tsi_rule_real(ctx, "step_time.p50_ns");
	double most_ns = tsi_rule_real(ctx, "step_time.max_ns");
	double part_ns = (most_ns - p50_ns) / tsi_rule_real(ctx, "step_time.count");

	return tsi_rule_int(ctx, "step_time.count") >= FEWEST_STEPS &&
	       most_ns >= tsi_rule_parameter(ctx, "outlier") * p50_ns &&
	       part_ns >= ONE_STEP_RATIO * (double)excess_ns &&
	       part_ns >= ONE_STEP_SHARE * tsi_rule_real(ctx, "step_time.mean_ns");
}

/*
 * A host that never waits is done with its steps long before the device: the last one ends with
 * the device's work and takes the time of those before, too.
 */
static bool is_last_drained(const struct rule_context *ctx)
{
	size_t count = tsi_rule_rows(ctx, STEPS);
	double slow_ns =
		tsi_rule_parameter(ctx, "outlier") * tsi_rule_real(ctx, "step_time.p50_ns");

	return count > 0 && tsi_rule_cell_real(ctx, STEPS, count - 1, "wall_ns") >= slow_ns &&
	       tsi_rule_cell_real(ctx, STEPS, count - 1, "dur_ns") < slow_ns;
}

static void fire_one_step(struct rule_context *ctx)
{
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW, "one of %" PRId64 " steps takes %s, the median %s",
		      tsi_rule_int(ctx, "step_time.count"),
		      tsi_rule_time(ctx, "step_time.max_ns").chars,
		      tsi_rule_time(ctx, "step_time.p50_ns").chars);
	tsi_rule_evidence(ctx, "step_time.max_ns");
}

static void fire_spread(struct rule_context *ctx, double cv, double tail)
{
	if (tail >= tsi_rule_parameter(ctx, "tail"))
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "step time varies: p95 is %.2f times the median", tail);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_LOW,
			      "step time varies: its standard deviation is %.2f times the mean",
			      cv);
	tsi_rule_detail(ctx, "%" PRId64 " steps", tsi_rule_int(ctx, "step_time.count"));
}

static void evaluate_timing_jitter(struct rule_context *ctx)
{
	int64_t count = tsi_rule_int(ctx, "step_time.count");
	double least = tsi_rule_parameter(ctx, "steps");
	double cv = tsi_rule_real(ctx, "step_time.cv");
	double tail = tsi_rule_real(ctx, "step_time.p95_p50_ratio");
	bool is_wide = cv >= tsi_rule_parameter(ctx, "threshold") ||
		       tail >= tsi_rule_parameter(ctx, "tail");
	int64_t excess_ns =
		tsi_rule_int(ctx, "step_time.mean_ns") - tsi_rule_int(ctx, "step_time.p50_ns");

	if (strcmp(tsi_rule_text(ctx, "steps.boundary"), "iteration") == 0) {
		tsi_rule_skip(ctx, "the iterations of an engine differ by phase");
		return;
	}
	if (is_last_drained(ctx)) {
		tsi_rule_skip(ctx, "the host runs ahead: the last step holds what the device does "
				   "for several");
		return;
	}
	bool is_one = is_one_step(ctx, excess_ns);
	if (!is_one && (double)count < least) {
		tsi_rule_undecided(ctx, is_wide, "%" PRId64 " step%s; it needs %g", count,
				   count == 1 ? "" : "s", least);
		return;
	}
	if (!is_one && !is_wide)
		return;
	if (is_one)
		fire_one_step(ctx);
	else
		fire_spread(ctx, cv, tail);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_LOW); /* why they vary is not known */
	if (excess_ns > 0)
		tsi_rule_gain(ctx, GAIN_SLOW_STEPS, excess_ns);
	if (is_of_stalls(ctx, excess_ns) || is_of_hold_up(ctx, excess_ns))
		tsi_rule_merge_under(ctx, CAUSE_straggler);
}

const struct rule tsi_rule_timing_jitter = {
	.is_minor = true,
	.def = {
		.id = "TIMING.JITTER",
		.summary = "some steps take far longer than most",
		.trigger = "Fires where the steps' standard deviation is at least threshold "
			   "times their mean, or their 95th percentile at least tail times their "
			   "median; low. It needs at least as many steps as steps says; one step "
			   "of four or more that takes at least outlier times the median and a "
			   "tenth of the time needs no more. Silent where the last step is "
			   "slow only because it ends with the device's work.",
		.meaning = "Slow steps cost more than their own time where other ranks wait for "
			   "them, and hide smaller changes from every comparison.",
		.advice = "look at the slow steps and what grew in them (--show steps); move "
			  "checkpoints, logging and evaluation off the step's path, bucket "
			  "batches by length, look for other jobs on the host",
		.inference_advice = "look at the slow passes and what grew in them (--show steps); "
			  "bucket requests by length, look for other jobs on the host",
		.example = "Of 100 steps 90 take 100 ms and 10 take 200 ms: the 95th percentile "
			   "is 2.0 times the median, a finding of severity low with 10 ms a step "
			   "to win (the mean less the median).",
		.parameters = {
			{ "threshold", 0.50, "standard deviation ÷ mean at which it fires" },
			{ "tail", 1.5, "95th percentile ÷ median at which it fires" },
			{ "steps", 10, "fewest steps to judge by" },
			{ "outlier", 3, "one step ÷ median at which it fires" },
		},
		.facts = { "step_time.count", "step_time.cv", "step_time.p95_p50_ratio" },
	},
	.evidence = { "step_time.cv", "step_time.p95_p50_ratio", "step_time.count" },
	.cause = CAUSE_jitter,
	.is_summary = true, /* what the slow steps have more of, others name */
	.evaluate = evaluate_timing_jitter,
};
