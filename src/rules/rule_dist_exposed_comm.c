/* SPDX-License-Identifier: MIT */
/* DIST.EXPOSED_COMM: the device communicates while it could compute. */
#include "rules/budget_share.h"
#include "rules/rank_figures.h"

#include <math.h>

/* The share that stands in the budget; the other one counts from the first device event on. */
static double exposed_share(const struct rule_context *ctx)
{
	double share = tsi_budget_share(ctx, "budget.exposed_comm_total_ns");

	return isfinite(share) ? share : tsi_rule_real(ctx, "overlap.exposed_comm_ratio");
}

static void evaluate_dist_exposed_comm(struct rule_context *ctx)
{
	struct comm_shares comm = tsi_divide_comm(ctx, exposed_share(ctx));

	if (comm.moving < tsi_rule_parameter(ctx, "threshold"))
		return;
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, comm.moving),
		      "%.1f %% of device time is exposed %s%s", 100 * comm.moving,
		      tsi_is_worth_naming(comm.waiting) ? "transfer" : "communication",
		      tsi_sure_wait(ctx, &comm).is_most ? ", mostly waiting for other ranks" : "");
	tsi_rule_detail(ctx, "%s of communication in the trace, %.1f %% of it overlapped",
			tsi_rule_time(ctx, "overlap.comm_ns").chars,
			100 * tsi_rule_real(ctx, "overlap.overlap_ratio"));
	if (tsi_is_worth_naming(comm.waiting))
		tsi_rule_detail(ctx,
				"another %.1f %% (%.0f %% of exposed communication) is waiting for "
				"slower ranks",
				100 * comm.waiting, tsi_comm_percent(&comm, comm.waiting));
	tsi_describe_made_late(ctx, &comm);
	tsi_advise_hiding(ctx);
	tsi_advise_all_ranks(ctx, &comm);
	tsi_after_straggler(ctx, &comm);
	for (size_t row = 0; row < tsi_rule_rows(ctx, "overlap.exposed"); row++)
		tsi_rule_longest(ctx, "overlap.exposed", row);
	tsi_describe_stages(ctx, &comm);
	tsi_comm_evidence(ctx);
	tsi_rule_evidence(ctx, "overlap.exposed_comm_ratio");
	tsi_rule_evidence(ctx, "overlap.exposed_ns");
	tsi_rule_evidence(ctx, "overlap.comm_ns");
	tsi_rule_evidence(ctx, "overlap.overlap_ratio");
	if (!tsi_comm_shares(ctx).is_known) /* one rank cannot distinguish waiting from transfer */
		tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	if (tsi_rule_has(ctx, "step_time.mean_ns"))
		tsi_gain_overlap(ctx, tsi_share_ns(ctx, comm.moving));
}

const struct rule tsi_rule_dist_exposed_comm = {
	.def = {
		.id = "DIST.EXPOSED_COMM",
		.summary = "communication is not hidden behind compute",
		.trigger = "Fires where communication that no compute kernel overlaps takes at "
			   "least threshold of the steps' device time; high from high on, else "
			   "med. Where several ranks were read, their mean share of the steps "
			   "counts, without the wait for slower ranks: no overlap wins that back. "
			   "Where one rank is known to be late, only as much counts as that rank "
			   "has: what the others have more would be hidden if it were on time. "
			   "What stages of a pipeline send each other is left to "
			   "DIST.PIPELINE_BUBBLE. In one rank's trace, NCCL's collectives that "
			   "take ten times what 1 GB/s and 0.5 ms a message allow have waited for "
			   "others; the title says so where it is most of them.",
		.meaning = "Communication behind compute is free; the rest makes each step "
			   "longer.",
		.advice = "with DDP tune bucket_cap_mb, set gradient_as_bucket_view=True and "
			  "drop find_unused_parameters where no parameter is unused; with FSDP "
			  "prefetch (forward_prefetch, backward_prefetch); enlarge the batch "
			  "per rank. If the bandwidth reached is that of the link, only sending "
			  "less helps: bf16, accumulation",
		.serving_advice = "fuse and shorten the all-reduces of tensor parallelism: vLLM "
			  "without --disable-custom-all-reduce, SGLang "
			  "--enable-flashinfer-allreduce-fusion; a lower --tensor-parallel-size "
			  "with more replicas",
		.inference_advice = "shard over fewer devices and run more replicas; "
			  "overlap the exchange of one part with the computation of the next",
		.example = "In 100 ms all-reduces run for 40 ms, 30 ms of these while a matrix "
			   "product runs: 10 ms are exposed, 0.10, a finding of severity med.",
		.parameters = {
			{ "threshold", 0.05, "share of the device time at which it fires" },
			{ "high", 0.20, "share of the device time from which it is severe" },
		},
		.facts = { "overlap.exposed_comm_ratio" },
	},
	.cause = CAUSE_comm_exposed,
	.is_summary = true,
	.evaluate = evaluate_dist_exposed_comm,
};
