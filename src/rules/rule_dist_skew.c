/* SPDX-License-Identifier: MIT */
/*
 * DIST.SKEW: in a typical step the slowest rank joins the collectives late, whether always the same
 * rank or not.
 */
#include "base/scaled_text.h"
#include "rules/late_place.h"
#include "rules/rank_figures.h"

#include <inttypes.h>
#include <stdio.h>

#define HOLD_UPS "stragglers.hold_ups"
#define REPAIRS "what_if.ranks"
#define WITHOUT "what_if.no_straggler_gain_ns"

/* Skew of local time if traces show it, else of compute. */
static double skew_share(struct rule_context *ctx, int64_t *skew_ns, double *wall_ns)
{
	bool is_local = tsi_rule_knows(ctx, "stragglers.skew_ns") &&
			tsi_rule_real(ctx, "step_time.mean_ns") > 0;
	const char *skew = is_local ? "stragglers.skew_ns" : "distributed.sync_skew_ns";
	const char *wall = is_local ? "step_time.mean_ns" : "distributed.mean_step_wall_ns";

	*skew_ns = tsi_rule_int(ctx, skew);
	*wall_ns = tsi_rule_real(ctx, wall);
	return (double)*skew_ns / *wall_ns;
}

/* Gain of a step without the rank, by the table of simulated repairs; most: of any other rank. */
static double share_without(const struct rule_context *ctx, int64_t rank, double *most)
{
	double step_ns = tsi_rule_real(ctx, "what_if.step_ns"), share = 0;

	*most = 0;
	for (size_t row = 0; row < tsi_rule_rows(ctx, REPAIRS); row++) {
		double gain = (double)tsi_rule_cell(ctx, REPAIRS, row, "gain_ns").integer / step_ns;

		if (tsi_rule_cell(ctx, REPAIRS, row, "rank").integer == rank)
			share = gain;
		else
			*most = gain > *most ? gain : *most;
	}
	return share;
}

/* Is the simulation right, and only its gain in doubt: for ranks not read, or apart ends? */
static bool is_bound(const struct rule_context *ctx)
{
	return tsi_rule_has(ctx, WITHOUT) && tsi_rule_doubt(ctx, WITHOUT) &&
	       tsi_rule_knows(ctx, "what_if.step_ns");
}

/* Did one rank alone hold the others up, for a part of the time that is worth a finding? */
static bool has_hold_up(struct rule_context *ctx)
{
	double others;

	if (tsi_rule_rows(ctx, HOLD_UPS) == 0 || tsi_names_slow_rank(ctx) ||
	    !(tsi_rule_knows(ctx, WITHOUT) || is_bound(ctx)))
		return false;
	double share = share_without(ctx, tsi_rule_cell(ctx, HOLD_UPS, 0, "rank").integer, &others);
	return share >= tsi_rule_parameter(ctx, "threshold") &&
	       share >= tsi_rule_parameter(ctx, "alone") * others;
}

/* "step 3, one of 4 steps, by", "2 of 4 steps (3, 5), by up to" */
static void describe_steps(char *text, size_t room, const struct rule_context *ctx)
{
	const char *steps = tsi_rule_cell_text(ctx, HOLD_UPS, 0, "steps");
	int64_t count = tsi_rule_cell(ctx, HOLD_UPS, 0, "step_count").integer;
	int64_t of = tsi_rule_cell(ctx, HOLD_UPS, 0, "of").integer;

	if (of == 1)
		snprintf(text, room, "the one step, by");
	else if (count == 1)
		snprintf(text, room, "step %.20s, one of %" PRId64 " steps, by", steps, of);
	else
		snprintf(text, room, "%" PRId64 " of %" PRId64 " steps (%.40s), by up to", count,
			 of, steps);
}

/* "rank 2 held the others up in 2 of 4 steps (3, 5), by up to 60.27 ms (injected_delay)" */
static void fire_hold_up(struct rule_context *ctx)
{
	const char *place = tsi_rule_cell_text(ctx, HOLD_UPS, 0, "place");
	int64_t of = tsi_rule_cell(ctx, HOLD_UPS, 0, "of").integer;
	int64_t rank = tsi_rule_cell(ctx, HOLD_UPS, 0, "rank").integer;
	char steps[100], text[MAX_PLACE_TEXT];

	describe_steps(steps, sizeof(steps), ctx);
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "rank %" PRId64 " held the others up in %s %s%s%s%s", rank, steps,
		      tsi_time_text(tsi_rule_cell_real(ctx, HOLD_UPS, 0, "most_ns")).chars,
		      *place ? " (" : "", tsi_short_place(text, place), *place ? ")" : "");
	tsi_rule_detail(ctx,
			"%" PRId64 " step%s of %" PRId64
			" ranks cannot show whether it is slow for good",
			of, of == 1 ? "" : "s", tsi_rule_int(ctx, "distributed.world_size"));
	if (*place)
		tsi_describe_longest(ctx, HOLD_UPS, 0);
	if (*place)
		tsi_rule_advice(ctx, tsi_place_advice);
	else if (2 * tsi_rule_cell(ctx, HOLD_UPS, 0, "step_count").integer <= of)
		tsi_rule_advice(ctx, tsi_stall_advice);
	tsi_rule_subject(ctx)->rank = rank;
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_rule_evidence(ctx, WITHOUT);
	tsi_rule_simulated(ctx, GAIN_COMM_WAIT, tsi_rule_int(ctx, WITHOUT));
	if (!is_bound(ctx))
		return;
	tsi_rule_detail(ctx, "%.140s", tsi_rule_doubt(ctx, WITHOUT));
	tsi_rule_bound(ctx);
}

static void evaluate_dist_skew(struct rule_context *ctx)
{
	int64_t skew_ns;
	double wall_ns, share = skew_share(ctx, &skew_ns, &wall_ns);

	if (has_hold_up(ctx)) {
		fire_hold_up(ctx);
		return;
	}
	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_MED,
		      "the slowest rank arrives %s (%.1f %% of the step) after the median rank",
		      tsi_time_text((double)skew_ns).chars, 100 * share);
	if (tsi_rule_knows(ctx, "arrivals.mean_skew_ns"))
		tsi_rule_detail(ctx, "the last rank reaches a collective %s after the first",
				tsi_rule_time(ctx, "arrivals.mean_skew_ns").chars);
	tsi_gain_simulated(ctx, skew_ns);
}

const struct rule tsi_rule_dist_skew = {
	.def = {
		.id = "DIST.SKEW",
		.summary = "ranks wait for the slowest one of each step",
		.trigger = "Fires where the compute of the slowest rank exceeds that of the median "
			   "rank by at least threshold of the step, in the median of the steps; "
			   "med. With traces it takes not only compute but all the time in "
			   "which a rank does not wait for others. Where DIST.STRAGGLER names "
			   "nobody, but a step would win threshold without the delays of one rank, "
			   "alone times what it would without those of any other, it names that "
			   "rank and the steps.",
		.meaning = "Half of the ranks or more are ready and wait for one. Noise makes the "
			   "slowest of many ranks a per cent or two late; a twentieth of the step "
			   "is a rank, or a batch, that differs.",
		.advice = "if one rank is slowest most times (stragglers.heat), compare its "
			  "clocks, power limit, PCIe and other jobs with those of the others; "
			  "if it changes give all ranks batches of equal cost (bucket or pack by "
			  "length) and collect Python's garbage on all ranks at the same step",
		.example = "In steps of 100 ms the median rank computes for 80 ms and the slowest "
			   "for 88 ms: 0.08, a finding of severity med with 8 ms a step to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "alone", 2, "times the gain of any other rank that one must have" },
		},
		.facts = { "distributed.sync_skew_ns", "distributed.mean_step_wall_ns" },
	},
	.evidence = { "stragglers.skew_ns", "arrivals.mean_skew_ns", "distributed.sync_skew_ns",
		      "distributed.mean_step_wall_ns" },
	.cause = CAUSE_comm_wait,
	.evaluate = evaluate_dist_skew,
};
