/* SPDX-License-Identifier: MIT */
/*
 * DIST.WAIT: in communication ranks wait for one that is late for another reason
 * than slower compute: its loader, its script, its host. Whoever waits least is
 * whom the others wait for.
 */
#include "base/scaled_text.h"
#include "rules/rank_figures.h"

#include <inttypes.h>
#include <math.h>

#define RANKS "distributed.ranks"
#define LOCAL "stragglers.ranks"

/* The rank that waits least, and the mean wait of the others. */
struct late {
	size_t row;
	int64_t rank;
	double wait_ns, others_ns;
};

static struct late find_late(const struct rule_context *ctx)
{
	size_t count = tsi_rule_rows(ctx, RANKS);
	struct late late = { .wait_ns = INFINITY };
	double sum_ns = 0;

	for (size_t row = 0; row < count; row++) {
		double wait_ns = tsi_rule_cell_real(ctx, RANKS, row, "mean_wait_ns");

		sum_ns += wait_ns;
		if (wait_ns < late.wait_ns) {
			late.wait_ns = wait_ns;
			late.row = row;
			late.rank = tsi_rule_cell(ctx, RANKS, row, "rank").integer;
		}
	}
	late.others_ns = count > 1 ? (sum_ns - late.wait_ns) / (double)(count - 1) : 0;
	return late;
}

/* Whether no rank has more local time. True if traces do not show it. */
static bool is_busiest(const struct rule_context *ctx, size_t row)
{
	size_t count = tsi_rule_rows(ctx, LOCAL);
	double own = tsi_rule_cell_real(ctx, LOCAL, row, "excess_ratio");

	if (count != tsi_rule_rows(ctx, RANKS))
		return true;
	for (size_t i = 0; i < count; i++)
		if (!(tsi_rule_cell_real(ctx, LOCAL, i, "excess_ratio") <= own))
			return false;
	return true;
}

static const char unread_advice[] =
	"read the traces of the missing ranks, too: the one that all wait for may be among them";

/* Shares of the step, and what waiting is in ns. */
static struct comm_shares find_shares(const struct rule_context *ctx, int64_t *wait_ns)
{
	struct comm_shares comm = tsi_comm_shares(ctx);

	if (comm.is_known) {
		*wait_ns = tsi_share_ns(ctx, comm.waiting);
		return comm;
	}
	comm.moving = tsi_rule_real(ctx, "distributed.mean_transfer_fraction");
	comm.waiting = tsi_rule_real(ctx, "distributed.mean_comm_fraction") - comm.moving;
	*wait_ns = llround(comm.waiting * tsi_rule_real(ctx, "distributed.mean_step_wall_ns"));
	return comm;
}

/* Do stages wait for the pipeline's schedule alone? Equal work wins nothing then. */
static bool is_of_schedule(const struct rule_context *ctx)
{
	static const double least = 0.005; /* of the step */
	const char *gain = "what_if.balanced_gain_ns";

	return tsi_rule_has(ctx, "pipeline.bubble_ratio") && tsi_rule_knows(ctx, gain) &&
	       (double)tsi_rule_int(ctx, gain) < least * tsi_rule_real(ctx, "step_time.mean_ns");
}

static void evaluate_dist_wait(struct rule_context *ctx)
{
	struct late late = find_late(ctx);
	int64_t wait_ns;
	struct comm_shares comm = find_shares(ctx, &wait_ns);
	double share = comm.waiting;

	/* DIST.STRAGGLER reports the awaited rank and why. */
	if (tsi_names_slow_rank(ctx) || is_of_schedule(ctx) ||
	    !(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	bool is_all = !tsi_rule_doubt(ctx, "transfers.wait_ns");
	tsi_rule_fire(
		ctx, TSCOPE_SEVERITY_MED,
		"ranks wait for one another for %s%.1f %% of the step (%.0f %% of communication)",
		is_all ? "" : "at least ", 100 * share, tsi_comm_percent(&comm, comm.waiting));
	if (!is_all) {
		tsi_rule_detail(ctx, "waiting for ranks that were not read counts as transfer");
		tsi_rule_advice(ctx, unread_advice);
	} else if (late.wait_ns <= tsi_rule_parameter(ctx, "late") * late.others_ns &&
		   is_busiest(ctx, late.row))
		tsi_rule_detail(ctx,
				"rank %" PRId64
				" waits least (%s per step, the others %s): they wait for it",
				late.rank, tsi_time_text(late.wait_ns).chars,
				tsi_time_text(late.others_ns).chars);
	tsi_comm_evidence(ctx);
	tsi_rule_evidence(ctx, "distributed.mean_comm_fraction");
	tsi_rule_evidence(ctx, "distributed.mean_transfer_fraction");
	tsi_rule_evidence(ctx, "distributed.least_waiting_rank");
	tsi_gain_simulated(ctx, wait_ns);
	if (tsi_rule_has(ctx, "pipeline.bubble_ratio")) /* its stages are not done together */
		tsi_rule_merge_with(ctx, CAUSE_pipeline_bubble);
}

const struct rule tsi_rule_dist_wait = {
	.def = {
		.id = "DIST.WAIT",
		.summary = "ranks wait for one another in communication",
		.trigger = "Fires where ranks wait for others in communication for at least "
			   "threshold of the step, and no rank is known to be slower step after "
			   "step (see DIST.STRAGGLER); med. Without traces of all ranks, "
			   "what communication takes beyond what its fastest rank needs is taken "
			   "for waiting. The rank that waits at most late times as long as the "
			   "others is named, unless traces show that another has more to do. "
			   "Stages of a pipeline that would wait as long if all had equal work are "
			   "DIST.PIPELINE_BUBBLE's.",
		.meaning = "A collective ends when the last rank has come. Faster links do not "
			   "help those who wait: somebody is late, through its data loader, its "
			   "script or its host.",
		.advice = "look at what the rank that waits least does before the collective: its "
			  "budget beside another rank's (data, launches, synchronisation), logging "
			  "or evaluation on one rank only, garbage collection",
		.example = "Of a step of 10 ms rank 1 spends 0.5 ms in all-reduces and the others "
			   "3.5 ms: they wait for 0.30 of the step, a finding with 3 ms a step to "
			   "win that names rank 1.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
			{ "late", 0.5, "of the others' wait: who waits no longer is named" },
		},
		.facts = { "distributed.mean_comm_fraction", "distributed.mean_transfer_fraction",
			   "distributed.mean_step_wall_ns" },
	},
	.cause = CAUSE_comm_wait,
	.evaluate = evaluate_dist_wait,
};
