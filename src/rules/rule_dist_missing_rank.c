/* SPDX-License-Identifier: MIT */
/* DIST.MISSING_RANK: the job had ranks whose files are not there. */
#include "base/rank_text.h"
#include "rules/rule.h"

#define MISSING "distributed.missing_ranks"

static struct rank_text list_ranks(const struct rule_context *ctx)
{
	struct rank_text ranks = { .text = "" };

	for (size_t row = 0; row < tsi_rule_rows(ctx, MISSING); row++)
		tsi_rank_text_add(&ranks, tsi_rule_cell(ctx, MISSING, row, "rank").integer);
	tsi_rank_text_end(&ranks);
	return ranks;
}

static void evaluate_dist_missing_rank(struct rule_context *ctx)
{
	double missing = tsi_rule_real(ctx, "distributed.missing_rank_count");
	double declared = tsi_rule_real(ctx, "distributed.declared_world_size");

	/* No fact of the definition's: those must be reliable, and this counts no time. */
	if (!tsi_rule_has(ctx, "distributed.missing_rank_count")) {
		tsi_rule_skip(ctx, "needs files of two or more ranks that record the world size");
		return;
	}
	if (missing < tsi_rule_parameter(ctx, "threshold"))
		return;
	struct rank_text ranks = list_ranks(ctx);
	if (missing == 1 && ranks.text[0]) {
		tsi_rule_fire(ctx, tsi_rule_grade(ctx, missing / declared),
			      "rank %s of %.0f is missing", ranks.text, declared);
		return;
	}
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, missing / declared),
		      "%.0f of %.0f ranks are missing", missing, declared);
	if (ranks.text[0])
		tsi_rule_detail(ctx, "ranks %.200s%s", ranks.text,
				(double)tsi_rule_rows(ctx, MISSING) < missing ? " and more" : "");
}

const struct rule tsi_rule_dist_missing_rank = {
	.def = {
		.id = "DIST.MISSING_RANK",
		.summary = "ranks of the job were not read",
		.trigger = "Fires where at least threshold ranks of those that the files declare "
			   "were not read; high where their share is at least high, else med.",
		.meaning = "A slow rank makes all others wait. If its files are missing, the "
			   "report shows the wait and not the reason; a rank that crashed leaves "
			   "none either. One missing rank is enough for that.",
		.advice = "collect whole files of all ranks into one directory (each host writes "
			  "its own), and read the log of the ranks that have none",
		.example = "The traces say that the job had 8 ranks, rank 3 and 5 have no file: 2 "
			   "of 8 are missing, a finding of severity med.",
		.parameters = {
			{ "threshold", 1, "missing ranks at which it fires" },
			{ "high", 0.50, "share of the ranks from which it is severe" },
		},
	},
	.evidence = { "distributed.missing_rank_count", "distributed.declared_world_size",
		      "distributed.world_size" },
	.cause = CAUSE_missing_rank,
	.evaluate = evaluate_dist_missing_rank,
};
