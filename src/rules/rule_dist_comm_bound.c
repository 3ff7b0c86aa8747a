/* SPDX-License-Identifier: MIT */
/*
 * DIST.COMM_BOUND: transfer, while which nothing is computed, takes much of the steps. The wait for
 * slower ranks is other rules'.
 */
#include "rules/budget_share.h"
#include "rules/rank_figures.h"

#include <math.h>

/* Transfer alone, where the rest is known to be waiting. */
static void fire(struct rule_context *ctx, const struct comm_shares *comm)
{
	enum tscope_severity severity = tsi_rule_grade(ctx, comm->moving);

	if (tsi_is_worth_naming(comm->waiting))
		tsi_rule_fire(ctx, severity,
			      "transfer takes %.1f %% of the step (%.0f %% of communication)",
			      100 * comm->moving, tsi_comm_percent(comm, comm->moving));
	else
		tsi_rule_fire(ctx, severity, "communication takes %.1f %% of the step",
			      100 * comm->moving);
	tsi_describe_waiting(ctx, comm);
	tsi_after_straggler(ctx, comm);
}

static void evaluate_moving(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (comm->moving < tsi_rule_parameter(ctx, "threshold"))
		return;
	fire(ctx, comm);
	tsi_describe_made_late(ctx, comm);
	tsi_describe_stages(ctx, comm);
	tsi_advise_hiding(ctx);
	tsi_comm_evidence(ctx);
	if (tsi_is_worth_naming(comm->waiting)) /* mend that first */
		tsi_gain_overlap(ctx, tsi_share_ns(ctx, comm->moving));
	else
		tsi_gain_network(ctx, tsi_share_ns(ctx, comm->moving));
}

/* Without traces: what communication takes on the rank with the least. */
static void evaluate_phase(struct rule_context *ctx)
{
	double ratio = tsi_rule_real(ctx, "distributed.mean_comm_fraction");
	double wall_ns = tsi_rule_real(ctx, "distributed.mean_step_wall_ns");
	double transfer = tsi_rule_real(ctx, "distributed.mean_transfer_fraction");
	double share = isfinite(transfer) ? transfer : ratio;
	const struct comm_shares comm = { .moving = share, .waiting = ratio - share };

	if (share < tsi_rule_parameter(ctx, "threshold"))
		return;
	fire(ctx, &comm);
	tsi_rule_evidence(ctx, "distributed.mean_comm_fraction");
	tsi_rule_evidence(ctx, "distributed.mean_transfer_fraction");
	tsi_rule_evidence(ctx, "distributed.mean_step_wall_ns");
	tsi_rule_gain(ctx, GAIN_COMM_TRANSFER, llround(share * wall_ns));
	tsi_rule_bound(ctx);
}

static void evaluate_dist_comm_bound(struct rule_context *ctx)
{
	struct comm_shares comm = tsi_comm_shares(ctx);

	if (comm.is_known)
		evaluate_moving(ctx, &comm);
	else
		evaluate_phase(ctx);
}

const struct rule tsi_rule_dist_comm_bound = {
	.def = {
		.id = "DIST.COMM_BOUND",
		.summary = "communication takes much of the step",
		.trigger = "Fires where communication without the wait for slower ranks takes at "
			   "least threshold of the step; high from high on, else med. Without "
			   "traces of all ranks, what the rank with the least communication spends "
			   "is taken for it. What stages of a pipeline send each other does not "
			   "count. Where no rank waits for others, the gain is that of sending "
			   "nothing, else that of ideal overlap.",
		.meaning = "While data is sent nothing is computed: the more ranks, the less each "
			   "of them adds. The wait for slower ranks is DIST.STRAGGLER's, "
			   "DIST.SKEW's or DIST.WAIT's.",
		.advice = "overlap gradients with backward (DDP buckets, bucket_cap_mb), skip "
			  "the exchange between accumulated batches (no_sync), send bf16, "
			  "enlarge the batch per rank; if the share without the wait is small, "
			  "fix the slow rank first",
		.serving_advice = "lower --tensor-parallel-size and run more replicas, or "
			  "parallelize over data and experts (--data-parallel-size; vLLM "
			  "--enable-expert-parallel, SGLang --ep-size)",
		.inference_advice = "shard over fewer devices and run more replicas",
		.example = "All ranks compute for 60 ms of each step and spend 40 ms in phase "
			   "comm: the share is 0.40, a finding of severity med with 40 ms a step "
			   "to win.",
		.parameters = {
			{ "threshold", 0.25, "share of the step at which it fires" },
			{ "high", 0.45, "share of the step from which it is severe" },
		},
		.facts = { "distributed.mean_comm_fraction", "distributed.mean_step_wall_ns" },
	},
	.cause = CAUSE_comm_exposed,
	.is_summary = true,
	.evaluate = evaluate_dist_comm_bound,
};
