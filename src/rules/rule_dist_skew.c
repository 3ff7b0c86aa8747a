/* SPDX-License-Identifier: MIT */
/*
 * DIST.SKEW: in a typical step the slowest rank joins the collectives late, whether always the same
 * rank or not.
 */
#include "rules/rank_figures.h"

#include <inttypes.h>

#define RANKS "stragglers.ranks"
#define LEAST "distributed.least_waiting_rank"

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

/* The row with most time of its own, where it stands out and waits least as well; or SIZE_MAX. */
static size_t find_last(const struct rule_context *ctx)
{
	double most = tsi_rule_parameter(ctx, "late");
	size_t last = SIZE_MAX;

	for (size_t row = 0; row < tsi_rule_rows(ctx, RANKS); row++) {
		double excess = tsi_value_real(tsi_rule_cell(ctx, RANKS, row, "excess_ratio"));
		if (!(excess >= most))
			continue;
		most = excess;
		last = row;
	}
	if (last == SIZE_MAX || !tsi_rule_has(ctx, LEAST) ||
	    tsi_rule_int(ctx, LEAST) != tsi_rule_cell(ctx, RANKS, last, "rank").integer)
		return SIZE_MAX;
	return last;
}

static void name_last(struct rule_context *ctx)
{
	size_t last = find_last(ctx);

	if (last == SIZE_MAX || tsi_names_slow_rank(ctx))
		return;
	tsi_rule_detail(ctx,
			"rank %" PRId64
			" spends %.1fx the others' local time and waits least; %" PRId64
			" steps are too few to be certain",
			tsi_rule_cell(ctx, RANKS, last, "rank").integer,
			1 + tsi_value_real(tsi_rule_cell(ctx, RANKS, last, "excess_ratio")),
			tsi_rule_int(ctx, "distributed.n_steps"));
}

static void evaluate_dist_skew(struct rule_context *ctx)
{
	int64_t skew_ns;
	double wall_ns, share = skew_share(ctx, &skew_ns, &wall_ns);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	tsi_rule_fire(
		ctx, TSCOPE_SEVERITY_MED,
		"the slowest rank arrives %.2f ms (%.1f %% of the step) after the median rank",
		tsi_ms(skew_ns), 100 * share);
	if (tsi_rule_knows(ctx, "arrivals.mean_skew_ns"))
		tsi_rule_detail(ctx, "the last rank reaches a collective %.2f ms after the first",
				tsi_ms(tsi_rule_int(ctx, "arrivals.mean_skew_ns")));
	name_last(ctx);
	tsi_gain_simulated(ctx, "what_if.balanced_gain_ns", skew_ns);
}

const struct rule tsi_rule_dist_skew = {
	.def = {
		.id = "DIST.SKEW",
		.summary = "ranks wait for the slowest one of each step",
		.trigger = "Fires where the compute of the slowest rank exceeds that of the median "
			   "rank by at least threshold of the step, in the median of the steps; "
			   "med. With traces it takes not only compute but all the time in "
			   "which a rank does not wait for others; then a rank is named that has "
			   "late more of it than the others and also waits least.",
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
			{ "late", 0.25,
			  "excess over the others from which a rank is named that few steps cannot "
			  "prove to be slow, if it waits least as well" },
		},
		.facts = { "distributed.sync_skew_ns", "distributed.mean_step_wall_ns" },
	},
	.evidence = { "stragglers.skew_ns", "arrivals.mean_skew_ns", "distributed.sync_skew_ns",
		      "distributed.mean_step_wall_ns" },
	.cause = CAUSE_comm_wait,
	.evaluate = evaluate_dist_skew,
};
