/* SPDX-License-Identifier: MIT */
/*
 * Exposed communication is divided in the budget of the devices or, without any, in that of the
 * main threads.
 */
#include "rules/rank_figures.h"

#include "base/scaled_text.h"
#include "base/sum.h"
#include "rules/budget_share.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define RANKS "distributed.ranks"

/* The parts of one kind of budget. */
struct comm_parts {
	const char *wait, *transfer, *unsplit;
};

static const struct comm_parts device_parts = {
	"budget.exposed_wait_total_ns",
	"budget.exposed_transfer_total_ns",
	"budget.exposed_unsplit_total_ns",
};
static const struct comm_parts host_parts = {
	"budget.host.comm_wait_total_ns",
	"budget.host.comm_transfer_total_ns",
	"budget.host.comm_unsplit_total_ns",
};

/* NULL: neither is known. */
static const struct comm_parts *known_parts(const struct rule_context *ctx)
{
	if (tsi_rule_knows(ctx, device_parts.wait))
		return &device_parts;
	return tsi_rule_knows(ctx, host_parts.wait) ? &host_parts : NULL;
}

bool tsi_rule_knows(const struct rule_context *ctx, const char *fact)
{
	return tsi_rule_has(ctx, fact) && !tsi_rule_doubt(ctx, fact);
}

bool tsi_names_slow_rank(const struct rule_context *ctx)
{
	return tsi_rule_rows(ctx, "distributed.slow_ranks") > 0;
}

int64_t tsi_named_slow_rank(const struct rule_context *ctx)
{
	static const char table[] = "distributed.slow_ranks";
	int64_t rank = -1, most_ns = -1;

	for (size_t row = 0; row < tsi_rule_rows(ctx, table); row++) {
		int64_t gain_ns = tsi_rule_cell(ctx, table, row, "gain_ns").integer;

		if (gain_ns <= most_ns)
			continue;
		most_ns = gain_ns;
		rank = tsi_rule_cell(ctx, table, row, "rank").integer;
	}
	return rank;
}

bool tsi_has_busiest_experts(const struct rule_context *ctx, int64_t rank)
{
	static const char table[] = "experts.ranks";

	if (!tsi_rule_has(ctx, "experts.busiest_rank") ||
	    tsi_rule_int(ctx, "experts.busiest_rank") != rank)
		return false;
	for (size_t row = 0; row < tsi_rule_rows(ctx, table); row++)
		if (tsi_rule_cell(ctx, table, row, "rank").integer == rank)
			return tsi_rule_cell_real(ctx, table, row, "load_ratio") >= 1.1;
	return false;
}

bool tsi_is_of_late_loaders(const struct rule_context *ctx, int64_t ns)
{
	static const char table[] = "stragglers.causes";
	int64_t excess_ns = 0, ranks = tsi_rule_int(ctx, "distributed.world_size");

	for (size_t row = 0; tsi_names_slow_rank(ctx) && row < tsi_rule_rows(ctx, table); row++)
		if (strcmp(tsi_rule_cell_text(ctx, table, row, "cause"), "slow_loader") == 0)
			tsi_sum(&excess_ns,
				tsi_rule_cell(ctx, table, row, "excess_ns_per_step").integer);
	return ranks > 1 && excess_ns / ranks > ns / 2;
}

void tsi_gain_simulated(struct rule_context *ctx, int64_t estimate_ns)
{
	static const char gain[] = "what_if.balanced_gain_ns";
	int64_t gain_ns = tsi_rule_int(ctx, gain);

	if (!tsi_rule_knows(ctx, gain)) {
		tsi_rule_gain(ctx, GAIN_COMM_WAIT, estimate_ns);
		return;
	}
	tsi_rule_evidence(ctx, gain);
	tsi_rule_simulated(ctx, GAIN_COMM_WAIT, gain_ns > 0 ? gain_ns : 0);
}

/* Communication without waiting that a rank has exposed, as a share of the mean step. */
static double own_share(const struct rule_context *ctx, size_t row)
{
	double step_ns = tsi_rule_real(ctx, "budget.wall_total_ns") /
			 tsi_rule_real(ctx, "budget.step_count");

	return (tsi_rule_cell_real(ctx, RANKS, row, "mean_comm_ns") -
		tsi_rule_cell_real(ctx, RANKS, row, "mean_wait_ns")) /
	       step_ns;
}

/*
 * All members of a collective end together, when the last has come and the data have moved. A rank
 * that is late computes until then and after, and hides the transfer; those that waited have
 * nothing left to compute.
 */
static double share_made_late(const struct rule_context *ctx, double moving)
{
	int64_t late = tsi_named_slow_rank(ctx);
	size_t count = tsi_rule_rows(ctx, RANKS), late_row = count;
	double wait_ns = 0;

	for (size_t row = 0; late >= 0 && row < count; row++) {
		wait_ns += tsi_rule_cell_real(ctx, RANKS, row, "mean_wait_ns");
		if (tsi_rule_cell(ctx, RANKS, row, "rank").integer == late)
			late_row = row;
	}
	if (late_row == count || !(tsi_rule_cell_real(ctx, RANKS, late_row, "mean_wait_ns") <=
				   wait_ns / (double)count / 2))
		return 0; /* it is not the one that the others wait for */
	return fmax(0, moving - own_share(ctx, late_row));
}

struct comm_shares tsi_comm_shares(const struct rule_context *ctx)
{
	const struct comm_parts *parts = known_parts(ctx);

	if (!parts || !(tsi_rule_real(ctx, "budget.wall_total_ns") > 0))
		return (struct comm_shares){ .is_known = false };
	double unsplit = tsi_budget_share(ctx, parts->unsplit);
	bool is_between_stages = tsi_rule_has(ctx, "pipeline.stall_ratio");
	double moving = tsi_budget_share(ctx, parts->transfer) + (is_between_stages ? 0 : unsplit);
	double made_late = is_between_stages ? 0 : share_made_late(ctx, moving);

	return (struct comm_shares){
		.is_known = true,
		.waiting = tsi_budget_share(ctx, parts->wait),
		.moving = moving - made_late,
		.made_late = made_late,
		.between_stages = is_between_stages ? unsplit : 0,
	};
}

/* The part of communication that moves data; 1 where it is not known. */
static double transfer_part(const struct rule_context *ctx)
{
	double transfer = tsi_rule_real(ctx, "distributed.mean_transfer_fraction");
	double comm = tsi_rule_real(ctx, "distributed.mean_comm_fraction");

	return tsi_rule_knows(ctx, "distributed.mean_transfer_fraction") && comm > 0 &&
			       transfer >= 0 && transfer < comm
		       ? transfer / comm
		       : 1;
}

struct comm_shares tsi_divide_comm(const struct rule_context *ctx, double share)
{
	struct comm_shares comm = tsi_comm_shares(ctx);

	if (comm.is_known)
		return comm;
	comm.moving = share * transfer_part(ctx);
	comm.waiting = share - comm.moving;
	return comm;
}

double tsi_comm_percent(const struct comm_shares *comm, double share)
{
	return 100 * share /
	       (comm->waiting + comm->moving + comm->made_late + comm->between_stages);
}

void tsi_describe_made_late(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (tsi_is_worth_naming(comm->made_late))
		tsi_rule_detail(ctx,
				"another %.1f %% of transfer would be hidden if rank %" PRId64
				" were on time",
				100 * comm->made_late, tsi_named_slow_rank(ctx));
}

void tsi_describe_waiting(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (tsi_is_worth_naming(comm->waiting))
		tsi_rule_detail(ctx,
				"waiting for slower ranks takes another %.1f %% of the step (%.0f "
				"%% of communication)",
				100 * comm->waiting, tsi_comm_percent(comm, comm->waiting));
}

#define READ_TOGETHER "read all ranks together (tscope report DIR) to see who waits for whom"

#define SIZES "collectives.by_size"

/* Over the slowest of links: 1 GB/s, each byte twice (all-reduce), and 0.5 ms a message. */
static double longest_transfer_ns(double bytes)
{
	return 500000 + 2 * bytes;
}

/*
 * A message of devices that takes ten times as long has waited; those of the host (gloo) may lack a
 * core. Less time may be that of several messages which NCCL joins: the trace has the size of one.
 */
static double sure_wait_ns(const struct rule_context *ctx, size_t row)
{
	struct tscope_value on_host = tsi_rule_cell(ctx, SIZES, row, "on_host");
	double transfer_ns =
		longest_transfer_ns(tsi_rule_cell_real(ctx, SIZES, row, "message_bytes"));
	double longest_ns = tsi_rule_cell_real(ctx, SIZES, row, "max_ns");
	double all_ns = transfer_ns * tsi_rule_cell_real(ctx, SIZES, row, "count");

	if ((on_host.kind == TSCOPE_VALUE_FLAG && on_host.flag) ||
	    !(longest_ns >= 10 * transfer_ns))
		return 0;
	return fmax(longest_ns - transfer_ns,
		    tsi_rule_cell_real(ctx, SIZES, row, "total_ns") - all_ns);
}

struct sure_wait tsi_sure_wait(const struct rule_context *ctx, const struct comm_shares *comm)
{
	struct sure_wait wait = { 0 };
	double most_ns = 0, sum_ns = 0;

	if (comm->is_known || tsi_rule_has(ctx, "distributed.mean_comm_fraction"))
		return wait;
	for (size_t row = 0; row < tsi_rule_rows(ctx, SIZES); row++) {
		double wait_ns = sure_wait_ns(ctx, row);
		sum_ns += wait_ns;
		if (wait_ns > most_ns) {
			most_ns = wait_ns;
			wait.row = row;
		}
	}
	wait.part = sum_ns / tsi_rule_real(ctx, "collectives.total_ns");
	wait.is_most = wait.part >= 0.5;
	return wait;
}

static void describe_sure_wait(struct rule_context *ctx, const struct sure_wait *wait)
{
	double bytes = tsi_rule_cell_real(ctx, SIZES, wait->row, "message_bytes");
	double longest_ns = tsi_rule_cell_real(ctx, SIZES, wait->row, "max_ns");

	tsi_rule_detail(
		ctx, "at least %.0f %% of it waits for other ranks: %s of %s takes up to %s",
		floor(100 * wait->part), tsi_rule_cell_text(ctx, SIZES, wait->row, "kind"),
		tsi_scaled_text(bytes, QUANTITY_SIZE).chars, tsi_time_text(longest_ns).chars);
}

void tsi_advise_all_ranks(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (comm->is_known || tsi_rule_has(ctx, "distributed.mean_comm_fraction"))
		return;
	struct sure_wait wait = tsi_sure_wait(ctx, comm);
	if (wait.is_most)
		describe_sure_wait(ctx, &wait);
	else
		tsi_rule_detail(ctx, "one rank's trace cannot separate waiting for slower ranks "
				     "from transfer");
	tsi_rule_advice_for(ctx, ADVICE_TRAINING,
			    READ_TOGETHER "; what remains is transfer: overlap it with backward, "
					  "send less (bf16, no_sync between accumulated batches), "
					  "enlarge the batch per rank");
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE,
			    READ_TOGETHER "; what remains is transfer: shard over fewer devices "
					  "and run more replicas");
}

/* Time that all collectives of the kind, or of any (NULL), move data. */
static double moving_in(const struct rule_context *ctx, const char *kind)
{
	static const char table[] = "transfers.by_kind";
	double sum_ns = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, table); row++)
		if (!kind || strcmp(tsi_rule_cell_text(ctx, table, row, "kind"), kind) == 0)
			sum_ns += (double)tsi_rule_cell(ctx, table, row, "transfer_ns").integer;
	return sum_ns;
}

void tsi_advise_hiding(struct rule_context *ctx)
{
	double half_ns = moving_in(ctx, NULL) / 2;

	if (moving_in(ctx, "all_to_all") > half_ns)
		tsi_rule_advice(ctx, "overlap what experts exchange with other work (shared "
				     "experts, another microbatch), place experts so that most "
				     "tokens stay on their node, send them in fp8");
	else if (moving_in(ctx, "all_gather") + moving_in(ctx, "reduce_scatter") > half_ns)
		tsi_rule_advice_for(ctx, ADVICE_TRAINING,
				    "with FSDP prefetch (forward_prefetch, backward_prefetch), "
				    "wrap larger units, shard within a node only (HYBRID_SHARD) or "
				    "keep parameters gathered where memory allows; with sequence "
				    "parallelism overlap them with the matrix products");
	else if (moving_in(ctx, "send_recv") > half_ns &&
		 !tsi_rule_has(ctx, "pipeline.stall_ratio"))
		tsi_rule_advice(ctx, "post receives early and send while the stage computes the "
				     "next microbatch (batch_isend_irecv; Megatron: "
				     "--overlap-p2p-communication), send in bf16, keep "
				     "neighbouring stages on one node");
	else if (tsi_rule_has(ctx, "pipeline.bubble_ratio"))
		tsi_rule_advice_for(ctx, ADVICE_TRAINING,
				    "reduce gradients behind the backward of the last microbatch "
				    "(Megatron: --overlap-grad-reduce) and not before (no_sync), "
				    "send them in bf16, use more microbatches per step");
}

void tsi_describe_stages(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (tsi_is_worth_naming(comm->between_stages))
		tsi_rule_detail(ctx,
				"pipeline stages exchange data or wait for it for another %.1f %%",
				100 * comm->between_stages);
}

/* Share of late ranks. Waits between stages are not split: the late one explains what it costs. */
static double late_share(const struct rule_context *ctx, const struct comm_shares *comm)
{
	double late = tsi_rule_has(ctx, "distributed.slow_gain_ratio")
			      ? tsi_rule_real(ctx, "distributed.slow_gain_ratio")
			      : 0;

	return comm->waiting + comm->made_late + fmin(late, comm->between_stages);
}

void tsi_after_straggler(struct rule_context *ctx, const struct comm_shares *comm)
{
	if (tsi_names_slow_rank(ctx) && late_share(ctx, comm) >= comm->moving)
		tsi_rule_after(ctx, CAUSE_straggler);
}

void tsi_comm_evidence(struct rule_context *ctx)
{
	const struct comm_parts *parts = known_parts(ctx);

	if (!parts)
		return;
	tsi_rule_evidence(ctx, parts->wait);
	tsi_rule_evidence(ctx, parts->transfer);
	tsi_rule_evidence(ctx, parts->unsplit);
	tsi_rule_evidence(ctx, "budget.wall_total_ns");
}

/* Whoever waits for a rank that was not read seems to transfer. */
static void doubt_transfer(struct rule_context *ctx)
{
	int64_t missing = tsi_rule_has(ctx, "distributed.missing_rank_count")
				  ? tsi_rule_int(ctx, "distributed.missing_rank_count")
				  : 0;

	if (missing == 0)
		return;
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_LOW);
	tsi_rule_detail(ctx, "waiting for the %" PRId64 " missing rank%s counts as transfer",
			missing, missing == 1 ? "" : "s");
	tsi_rule_after(ctx, CAUSE_missing_rank);
}

/* Is the simulation right, and its gain too large at worst, for ranks that were not read? */
static bool is_overlap_bounded(const struct rule_context *ctx)
{
	return tsi_rule_knows(ctx, "what_if.step_ns") &&
	       tsi_rule_has(ctx, "what_if.ideal_overlap_gain_ns");
}

static void claim_simulated(struct rule_context *ctx, const char *gain, int64_t moving_ns)
{
	int64_t gain_ns = tsi_rule_int(ctx, gain);

	tsi_rule_evidence(ctx, gain);
	/* Whoever waits for nobody before its step ends wins more: that is not this one's. */
	tsi_rule_simulated(ctx, GAIN_COMM_TRANSFER, gain_ns < moving_ns ? gain_ns : moving_ns);
}

/* Where the ends of collectives decide on the gain. */
static void claim_least(struct rule_context *ctx, int64_t moving_ns)
{
	claim_simulated(ctx, "what_if.ideal_overlap_least_ns", moving_ns);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
	tsi_rule_detail(ctx,
			"ideal overlap alone saves at least that: members of collectives end "
			"%.0f %% of the step apart, which may change as well",
			100 * tsi_rule_real(ctx, "what_if.end_spread_ratio"));
}

void tsi_gain_overlap(struct rule_context *ctx, int64_t moving_ns)
{
	const char *gain = "what_if.ideal_overlap_gain_ns";
	bool is_known = tsi_rule_knows(ctx, gain);

	if (!is_known && tsi_rule_knows(ctx, "what_if.ideal_overlap_least_ns")) {
		claim_least(ctx, moving_ns);
		return;
	}
	if (is_known || is_overlap_bounded(ctx))
		claim_simulated(ctx, gain, moving_ns);
	else
		tsi_rule_gain(ctx, GAIN_COMM_TRANSFER, moving_ns);
	tsi_rule_bound(ctx); /* work may need at once what is sent (tensor parallelism) */
	if (!is_known)
		doubt_transfer(ctx);
}

void tsi_gain_network(struct rule_context *ctx, int64_t moving_ns)
{
	const char *gain = "what_if.ideal_network_gain_ns";

	if (!tsi_rule_knows(ctx, gain)) {
		tsi_gain_overlap(ctx, moving_ns);
		return;
	}
	claim_simulated(ctx, gain, moving_ns);
	tsi_rule_bound(ctx); /* something has to be sent */
}

int64_t tsi_share_ns(const struct rule_context *ctx, double share)
{
	double ns = share * tsi_rule_real(ctx, "step_time.mean_ns");

	return isfinite(ns) ? llround(ns) : 0;
}
