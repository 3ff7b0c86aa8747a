/* SPDX-License-Identifier: MIT */
/*
 * DIST.STRAGGLER: some ranks are persistently slower than the others, which wait for them. Either
 * pytscope's one straggler, or the ranks found by the exact test of the analyzer distributed, which
 * finds several and small excesses. If traces show why (stragglers), the advice is specific.
 */
#include "rules/rank_figures.h"

#include <inttypes.h>
#include <string.h>

#define STRAGGLER "distributed.straggler"
#define SLOW_RANKS "distributed.slow_ranks"
#define CAUSES "stragglers.causes"
#define GROUPS "stragglers.groups"
#define GAINS "what_if.ranks"

/* Advice by stragglers.causes; for other causes the definition's advice. */
static const struct {
	const char *cause, *advice;
} advices[] = {
	{ "slow_clock",
	  "compare clocks, temperature and power limit of its device with another's (nvidia-smi -q "
	  "-d CLOCK,POWER,TEMPERATURE,PERFORMANCE), and look for other jobs on it; where it stays "
	  "slow take it out of service" },
	{ "slow_kernels",
	  "compare these kernels with another rank's (kernels.by_name of both traces): a different "
	  "algorithm is chosen on each rank by itself (autotuning, cudnn.benchmark); equal ones "
	  "point at the device's memory (nvidia-smi -q: ECC errors, remapped rows, other jobs)" },
	{ "more_work",
	  "give all ranks equal work: bucket or pack by length, count tokens instead of samples, "
	  "divide layers and experts evenly; let other ranks, or none, do what only this one does "
	  "(logging, evaluation)" },
	{ "slow_host",
	  "look at its host: other jobs, CPU frequency, NUMA binding (numactl, cpusets), "
	  "OMP_NUM_THREADS; move Python work of this rank only (logging, checkpoints) out of the "
	  "step; CUDA graphs make launches cheap" },
	{ "slow_loader",
	  "look at what its data loader reads: the storage and network of that host, its CPU cores "
	  "and num_workers, the samples of its shard; raise prefetch_factor" },
	{ "sync",
	  "remove .item(), .cpu(), print of tensors and torch.cuda.synchronize() that this rank "
	  "alone runs (logging); launches.syncs of its trace says who waits" },
	{ "copies", "pin_memory=True and non_blocking=True; compare its PCIe link (nvidia-smi -q: "
		    "generation, "
		    "width) and NUMA binding with another rank's" },
};

/* The slowest of the slow ranks with an excess of at least `least`, and how many there are. */
struct slow {
	size_t count;
	int64_t rank;
	double excess;
	bool is_by_compute; /* it computes longer; else its local time of any kind is longer */
};

static bool is_by_compute(const struct rule_context *ctx, size_t row)
{
	return strcmp(tsi_value_text(tsi_rule_cell(ctx, SLOW_RANKS, row, "basis")), "local_time") !=
	       0;
}

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
			slow.is_by_compute = is_by_compute(ctx, row);
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
		tsi_rule_fire(ctx, severity, "rank %" PRId64 " %s %.1f %% %s than the others",
			      slow->rank, slow->is_by_compute ? "computes" : "is",
			      100 * slow->excess, slow->is_by_compute ? "longer" : "slower");
	else
		tsi_rule_fire(ctx, severity,
			      "%zu ranks are slower than the others, rank %" PRId64
			      " most: it %s %.1f %% %s",
			      slow->count, slow->rank, slow->is_by_compute ? "computes" : "is",
			      100 * slow->excess, slow->is_by_compute ? "longer" : "slower");
}

/* ---- why ---- */

/* The row of stragglers.causes about a rank, or SIZE_MAX. */
static size_t find_cause(const struct rule_context *ctx, int64_t rank)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, CAUSES); row++) {
		struct tscope_value cell = tsi_rule_cell(ctx, CAUSES, row, "rank");
		if (cell.kind == TSCOPE_VALUE_INT && cell.integer == rank)
			return row;
	}
	return SIZE_MAX;
}

static void explain(struct rule_context *ctx, const struct slow *slow)
{
	size_t row = slow->count > 0 ? find_cause(ctx, slow->rank) : SIZE_MAX;

	if (row == SIZE_MAX)
		return;
	const char *cause = tsi_value_text(tsi_rule_cell(ctx, CAUSES, row, "cause"));
	const char *detail = tsi_value_text(tsi_rule_cell(ctx, CAUSES, row, "detail"));
	if (*detail)
		tsi_rule_detail(ctx, "%s%s", slow->count > 1 ? "that one: " : "", detail);
	for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++)
		if (strcmp(advices[i].cause, cause) == 0)
			tsi_rule_advice(ctx, advices[i].advice);
}

static void name_groups(struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, GROUPS); row++)
		tsi_rule_detail(ctx, "%s %s: %" PRId64 " of its %" PRId64 " ranks are slow",
				tsi_value_text(tsi_rule_cell(ctx, GROUPS, row, "kind")),
				tsi_value_text(tsi_rule_cell(ctx, GROUPS, row, "name")),
				tsi_rule_cell(ctx, GROUPS, row, "late_count").integer,
				tsi_rule_cell(ctx, GROUPS, row, "rank_count").integer);
}

/* ---- what it costs ---- */

/* What the run would gain if this rank were like the others; -1: unknown. */
static int64_t gain_of_rank(const struct rule_context *ctx, int64_t rank)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, GAINS); row++) {
		struct tscope_value gain = tsi_rule_cell(ctx, GAINS, row, "gain_ns");
		if (tsi_rule_cell(ctx, GAINS, row, "rank").integer == rank &&
		    gain.kind == TSCOPE_VALUE_INT)
			return gain.integer > 0 ? gain.integer : 0;
	}
	return -1;
}

/*
 * By simulation; -1: there is none. Where several are slow, one of them made fast wins little,
 * but an even share for all does.
 */
static int64_t simulated_gain(const struct rule_context *ctx, const struct slow *slow)
{
	int64_t even_ns = tsi_rule_int(ctx, "what_if.balanced_gain_ns");

	if (!tsi_rule_knows(ctx, "what_if.balanced_gain_ns"))
		return -1;
	if (slow->count > 1)
		return even_ns > 0 ? even_ns : 0;
	return gain_of_rank(ctx, slow->count == 1
					 ? slow->rank
					 : tsi_rule_cell(ctx, STRAGGLER, 0, "rank").integer);
}

/* Lost share: of the step if simulated, else of the slowest rank's compute. */
static double lost_share(const struct rule_context *ctx, int64_t gain_ns)
{
	double step_ns = tsi_rule_real(ctx, "what_if.step_ns");

	if (gain_ns >= 0 && step_ns > 0)
		return (double)gain_ns / step_ns;
	return tsi_rule_real(ctx, "distributed.wall_frac_lost_to_imbalance");
}

static void describe(struct rule_context *ctx, const struct slow *slow)
{
	double lost = tsi_rule_real(ctx, "distributed.wall_frac_lost_to_imbalance");

	if (tsi_names_straggler(ctx))
		tsi_rule_detail(ctx,
				"the slowest in %.1f %% of %" PRId64
				" steps, by chance %.1f %% (z %.1f)",
				100 * straggler_cell(ctx, "slowest_fraction"),
				tsi_rule_int(ctx, "distributed.n_steps"),
				100 / tsi_rule_real(ctx, "distributed.world_size"),
				straggler_cell(ctx, "straggler_z"));
	explain(ctx, slow);
	name_groups(ctx);
	if (slow->count == 0 || slow->is_by_compute)
		tsi_rule_detail(ctx,
				"%.1f %% of the slowest rank's compute is waited for by the others",
				100 * lost);
}

static void evaluate_dist_straggler(struct rule_context *ctx)
{
	bool is_straggler = tsi_names_straggler(ctx);
	struct slow slow = find_slow(ctx, tsi_rule_parameter(ctx, "threshold"));
	double excess = is_straggler ? straggler_cell(ctx, "rel_slowdown") : slow.excess;

	if (!is_straggler && slow.count == 0)
		return;
	int64_t gain_ns = simulated_gain(ctx, &slow);
	bool is_severe = lost_share(ctx, gain_ns) >= tsi_rule_parameter(ctx, "lost") ||
			 excess >= tsi_rule_parameter(ctx, "high");
	fire(ctx, is_severe ? TSCOPE_SEVERITY_HIGH : TSCOPE_SEVERITY_MED, &slow);
	describe(ctx, &slow);
	if (gain_ns >= 0)
		tsi_rule_simulated(ctx, GAIN_COMM_WAIT, gain_ns);
	else
		tsi_rule_gain(ctx, GAIN_COMM_WAIT,
			      tsi_rule_int(ctx, "distributed.wall_lost_ns_per_step"));
}

const struct rule tsi_rule_dist_straggler = {
	.def = {
		.id = "DIST.STRAGGLER",
		.summary = "some ranks are slower than the others, step after step",
		.trigger = "Fires where distributed.slow_ranks names a rank with an excess of at "
			   "least threshold or, without traces of all ranks, "
			   "distributed.straggler one; high where the slowdown is at least high "
			   "or the share lost at least lost, else med.",
		.meaning = "Ranks meet in every collective, so that all of them run at the pace "
			   "of the slowest one. Traces tell what a rank is slower in: the time in "
			   "which it does not wait for others is compared line by line.",
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
			{ "lost", 0.10,
			  "share of the step to win, or without traces "
			  "wall_frac_lost_to_imbalance, from which it is severe" },
		},
		.facts = { "distributed.n_steps", "distributed.wall_frac_lost_to_imbalance" },
	},
	.evidence = { "distributed.wall_frac_lost_to_imbalance",
		      "distributed.wall_lost_ns_per_step", "distributed.n_steps",
		      "stragglers.cause", "stragglers.excess_ns_per_step",
		      "what_if.no_straggler_gain_ns" },
	.cause = CAUSE_straggler,
	.evaluate = evaluate_dist_straggler,
};
