/* SPDX-License-Identifier: MIT */
/*
 * DIST.STRAGGLER: some ranks are persistently slower than the others, which
 * wait for them. Either pytscope's one straggler, or the ranks that the exact
 * test of the analyzer distributed found; the latter sees several, and small
 * excesses.
 */
#include "rules/rule.h"

#include <inttypes.h>

#define STRAGGLER "distributed.straggler"
#define SLOW_RANKS "distributed.slow_ranks"

/* The slowest of the slow ranks with an excess of at least `least`, and how many there are. */
struct slow {
	size_t count;
	int64_t rank;
	double excess;
};

static struct slow find_slow(const struct rule_context *ctx, double least)
{
	struct slow slow = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, SLOW_RANKS); row++) {
		double excess = tsi_value_real(tsi_rule_cell(ctx, SLOW_RANKS, row, "excess_ratio"));
		if (!(excess >= least))
			continue;
		if (slow.count == 0 || excess > slow.excess) {
			slow.rank = tsi_rule_cell(ctx, SLOW_RANKS, row, "rank").integer;
			slow.excess = excess;
		}
		slow.count++;
	}
	return slow;
}

static double straggler_cell(const struct rule_context *ctx, const char *column)
{
	return tsi_value_real(tsi_rule_cell(ctx, STRAGGLER, 0, column));
}

static void fire(struct rule_context *ctx, enum tscope_severity severity, const struct slow *slow)
{
	if (slow->count == 0)
		tsi_rule_fire(ctx, severity,
			      "rank %" PRId64 " is %.1f %% slower than the median rank",
			      tsi_rule_cell(ctx, STRAGGLER, 0, "rank").integer,
			      100 * straggler_cell(ctx, "rel_slowdown"));
	else if (slow->count == 1)
		tsi_rule_fire(ctx, severity, "rank %" PRId64 " is %.1f %% slower than the others",
			      slow->rank, 100 * slow->excess);
	else
		tsi_rule_fire(ctx, severity,
			      "%zu ranks are slower than the others, rank %" PRId64
			      " most: by %.1f %%",
			      slow->count, slow->rank, 100 * slow->excess);
}

static void evaluate(struct rule_context *ctx)
{
	bool has_straggler = tsi_rule_rows(ctx, STRAGGLER) > 0;
	struct slow slow = find_slow(ctx, tsi_rule_parameter(ctx, "threshold"));
	double lost = tsi_rule_real(ctx, "distributed.wall_frac_lost_to_imbalance");
	double excess = has_straggler ? straggler_cell(ctx, "rel_slowdown") : slow.excess;

	if (!has_straggler && slow.count == 0)
		return;
	bool is_severe = lost >= tsi_rule_parameter(ctx, "lost") ||
			 excess >= tsi_rule_parameter(ctx, "high");
	fire(ctx, is_severe ? TSCOPE_SEVERITY_HIGH : TSCOPE_SEVERITY_MED, &slow);
	if (has_straggler)
		tsi_rule_detail(ctx,
				"the slowest in %.1f %% of %" PRId64
				" steps, by chance %.1f %% (z %.1f)",
				100 * straggler_cell(ctx, "slowest_fraction"),
				tsi_rule_int(ctx, "distributed.n_steps"),
				100 / tsi_rule_real(ctx, "distributed.world_size"),
				straggler_cell(ctx, "straggler_z"));
	tsi_rule_detail(ctx, "%.1f %% of the slowest rank's compute is waited for by the others",
			100 * lost);
	tsi_rule_evidence(ctx, "distributed.wall_frac_lost_to_imbalance");
	tsi_rule_evidence(ctx, "distributed.wall_lost_ns_per_step");
	tsi_rule_evidence(ctx, "distributed.n_steps");
	tsi_rule_recoverable(ctx, tsi_rule_int(ctx, "distributed.wall_lost_ns_per_step"));
	tsi_rule_cause(ctx, CAUSE_SLOW_RANK);
}

const struct rule tsi_rule_dist_straggler = {
	.def = {
		.id = "DIST.STRAGGLER",
		.summary = "some ranks are slower than the others, step after step",
		.trigger = "Fires where distributed.straggler names a rank, or "
			   "distributed.slow_ranks one with an excess of at least threshold; "
			   "high where the slowdown is at least high or the share lost at least "
			   "lost, else med.",
		.meaning = "Ranks meet in every collective, so that all of them run at the pace "
			   "of the slowest one.",
		.advice = "on the host of that rank compare clocks, temperature and power limit "
			  "(nvidia-smi -q), PCIe link and NUMA binding, and look for other "
			  "jobs; run it on another host: if the same data is slow there, it is "
			  "the shard",
		.example = "Of 8 ranks 7 compute for 100 ms and rank 3 for 112 ms in each step: "
			   "its slowdown is 0.12 and 10.5 ms a step are lost, 9.4 % of it; a "
			   "finding of severity med that names rank 3.",
		.parameters = {
			{ "threshold", 0.01, "excess over the others of a rank in slow_ranks" },
			{ "high", 0.25, "slowdown from which it is severe" },
			{ "lost", 0.10, "wall_frac_lost_to_imbalance from which it is severe" },
		},
		.facts = { "distributed.n_steps", "distributed.wall_frac_lost_to_imbalance" },
	},
	.evaluate = evaluate,
};
