/* SPDX-License-Identifier: MIT */
/*
 * DIST.STRAGGLER: some ranks are persistently slower than the others, which wait for them. If
 * traces show why (stragglers), the advice is specific.
 */
#include "base/scaled_text.h"
#include "rules/late_place.h"
#include "rules/rank_figures.h"

#include "base/rank_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SLOW_RANKS "distributed.slow_ranks"
#define CAUSES "stragglers.causes"
#define GROUPS "stragglers.groups"

enum { MAX_STEPS_TEXT = 40, MAX_NODE_CHARS = 40 };

/* Words for a title and advice by stragglers.causes; for other causes the definition's advice. */
static const struct cause {
	const char *cause, *words, *advice;
} causes[] = {
	{ "slow_clock", "lower clocks",
	  "compare clocks, temperature and power limit of its device with another's (nvidia-smi -q "
	  "-d CLOCK,POWER,TEMPERATURE,PERFORMANCE), and look for other jobs on it; where it stays "
	  "slow take it out of service" },
	{ "slow_kernels", "slow kernels",
	  "compare these kernels with another rank's (kernels.by_name of both traces): a different "
	  "algorithm is chosen on each rank by itself (autotuning, cudnn.benchmark); equal ones "
	  "point at the device's memory (nvidia-smi -q: ECC errors, remapped rows, other jobs)" },
	{ "more_work", "more work",
	  "give all ranks equal work: bucket or pack by length, count tokens instead of samples, "
	  "divide layers and experts evenly; let other ranks, or none, do what only this one does "
	  "(logging, evaluation)" },
	{ "slow_host", "host",
	  "look at its host: other jobs, CPU frequency, NUMA binding (numactl, cpusets), "
	  "OMP_NUM_THREADS; move Python work of this rank only (logging, checkpoints) out of the "
	  "step; CUDA graphs make launches cheap" },
	{ "slow_loader", "data loader",
	  "look at what its data loader reads: the storage and network of that host, its CPU cores "
	  "and num_workers, the samples of its shard; raise prefetch_factor" },
	{ "sync", "synchronising calls",
	  "remove .item(), .cpu(), print of tensors and torch.cuda.synchronize() that this rank "
	  "alone runs (logging); launches.syncs of its trace says who waits" },
	{ "copies", "copies",
	  "pin_memory=True and non_blocking=True; compare its PCIe link (nvidia-smi -q: "
	  "generation, "
	  "width) and NUMA binding with another rank's" },
};

static const struct cause busy_experts = {
	"more_work", "busier experts",
	"raise the weight of the load-balancing loss or use a bias for each expert, lower the "
	"capacity factor, place experts that are busy together on different ranks or twice"
};

static const char node_advice[] =
	"look at the node, whose ranks are slow together: its power cap, supply and cooling "
	"(nvidia-smi -q -d CLOCK,POWER,TEMPERATURE,PERFORMANCE for each device), other jobs on it; "
	"where it stays slow take it out of service";

/* The slow ranks with an excess of at least the threshold; the worst costs most. */
struct slow {
	size_t count;
	size_t row; /* in SLOW_RANKS, of the worst; so are the next */
	int64_t rank, cost_ns;
	double excess;
	bool is_stalling;   /* it is slow in a few steps only */
	bool is_by_compute; /* it computes longer; else its local time of any kind is longer */
	struct rank_text numbers; /* of all */
};

static bool has_basis(const struct rule_context *ctx, size_t row, const char *basis)
{
	return strcmp(tsi_rule_cell_text(ctx, SLOW_RANKS, row, "basis"), basis) == 0;
}

static void find_slow(struct slow *slow, const struct rule_context *ctx)
{
	double least = tsi_rule_parameter(ctx, "threshold");

	*slow = (struct slow){ .count = 0 };
	for (size_t row = 0; row < tsi_rule_rows(ctx, SLOW_RANKS); row++) {
		double excess = tsi_rule_cell_real(ctx, SLOW_RANKS, row, "excess_ratio");
		int64_t cost_ns = tsi_rule_cell(ctx, SLOW_RANKS, row, "gain_ns").integer;
		int64_t rank = tsi_rule_cell(ctx, SLOW_RANKS, row, "rank").integer;

		if (!(excess >= least))
			continue;
		tsi_rank_text_add(&slow->numbers, rank);
		if (slow->count++ > 0 && cost_ns <= slow->cost_ns)
			continue;
		slow->row = row;
		slow->rank = rank;
		slow->cost_ns = cost_ns;
		slow->excess = excess;
		slow->is_stalling = has_basis(ctx, row, "stalls");
		slow->is_by_compute = !has_basis(ctx, row, "local_time");
	}
	tsi_rank_text_end(&slow->numbers);
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

/* NULL: not known, or without words. */
static const struct cause *cause_of(const struct rule_context *ctx, size_t row)
{
	const char *cause = "";

	if (row == SIZE_MAX)
		return NULL;
	cause = tsi_rule_cell_text(ctx, CAUSES, row, "cause");
	if (strcmp(cause, busy_experts.cause) == 0 &&
	    tsi_has_busiest_experts(ctx, tsi_rule_cell(ctx, CAUSES, row, "rank").integer))
		return &busy_experts;
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (strcmp(causes[i].cause, cause) == 0)
			return &causes[i];
	return NULL;
}

/* "stalls in 3 of 50 steps (7, 21, 40), up to 310.00 ms (data loader)" */
static void describe_stalls(char *text, size_t room, const struct rule_context *ctx,
			    const struct slow *slow, const char *words)
{
	const char *steps = tsi_rule_cell_text(ctx, SLOW_RANKS, slow->row, "stall_steps");
	bool is_short = strlen(steps) <= MAX_STEPS_TEXT; /* else they are in the table */

	snprintf(text, room, "stalls in %" PRId64 " of %" PRId64 " steps%s%s%s, up to %s%s%s%s",
		 tsi_rule_cell(ctx, SLOW_RANKS, slow->row, "stall_count").integer,
		 tsi_rule_cell(ctx, SLOW_RANKS, slow->row, "stall_of").integer,
		 is_short ? " (" : "", is_short ? steps : "", is_short ? ")" : "",
		 tsi_time_text(tsi_rule_cell_real(ctx, SLOW_RANKS, slow->row, "stall_ns")).chars,
		 *words ? " (" : "", words, *words ? ")" : "");
}

/* "arrives 383.00 ms late (host, before all_reduce #2)" or "is 4.0 % slower than the others" */
static void describe_lateness(char *text, size_t room, const struct rule_context *ctx,
			      const struct slow *slow)
{
	size_t row = find_cause(ctx, slow->rank);
	const struct cause *cause = cause_of(ctx, row);
	const char *words = cause ? cause->words : "", *before = "", *place = "";
	char short_place[MAX_PLACE_TEXT];

	if (row != SIZE_MAX) {
		before = tsi_rule_cell_text(ctx, CAUSES, row, "before");
		place = tsi_rule_cell_text(ctx, CAUSES, row, "place");
	}
	if (*place)
		words = tsi_short_place(short_place, place);
	if (slow->is_stalling)
		describe_stalls(text, room, ctx, slow, words);
	else if (*before)
		snprintf(text, room, "arrives %s late (%s%sbefore %.40s)",
			 tsi_time_text(tsi_rule_cell_real(ctx, CAUSES, row, "late_ns")).chars,
			 words, *words ? ", " : "", before);
	else
		snprintf(text, room, "%s %.1f %% %s than the others%s%s%s",
			 slow->is_by_compute ? "computes" : "is", 100 * slow->excess,
			 slow->is_by_compute ? "longer" : "slower", *words ? " (" : "", words,
			 *words ? ")" : "");
}

/* The row in GROUPS of the node that all slow ranks are on, and no other; or SIZE_MAX. */
static size_t find_node(const struct rule_context *ctx, const struct slow *slow)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, GROUPS); row++)
		if (strcmp(tsi_rule_cell_text(ctx, GROUPS, row, "kind"), "node") == 0 &&
		    tsi_rule_cell(ctx, GROUPS, row, "late_count").integer == (int64_t)slow->count)
			return row;
	return SIZE_MAX;
}

/* "8 ranks", "7 of 8 ranks on node3", "all 8 ranks on node3" */
static void describe_ranks(char *text, size_t room, const struct rule_context *ctx,
			   const struct slow *slow)
{
	size_t node = find_node(ctx, slow);

	if (node == SIZE_MAX) {
		snprintf(text, room, "%zu ranks", slow->count);
		return;
	}
	int64_t of = tsi_rule_cell(ctx, GROUPS, node, "rank_count").integer;
	const char *name = tsi_rule_cell_text(ctx, GROUPS, node, "name");
	if (of == (int64_t)slow->count)
		snprintf(text, room, "all %zu ranks on %.*s", slow->count, MAX_NODE_CHARS, name);
	else
		snprintf(text, room, "%zu of %" PRId64 " ranks on %.*s", slow->count, of,
			 MAX_NODE_CHARS, name);
}

static void fire(struct rule_context *ctx, enum tscope_severity severity, const struct slow *slow,
		 double gain_ns)
{
	size_t row = find_cause(ctx, slow->rank);
	const char *node = row == SIZE_MAX ? "" : tsi_rule_cell_text(ctx, CAUSES, row, "node");
	char lateness[160], ranks[96];

	describe_lateness(lateness, sizeof(lateness), ctx, slow);
	describe_ranks(ranks, sizeof(ranks), ctx, slow);
	if (slow->count == 1)
		tsi_rule_fire(ctx, severity,
			      "rank %" PRId64 "%s%.*s %s; fixing %s saves %s per step", slow->rank,
			      *node ? " on " : "", MAX_NODE_CHARS, node, lateness,
			      slow->is_stalling ? "these" : "it", tsi_time_text(gain_ns).chars);
	else
		tsi_rule_fire(ctx, severity,
			      "%s are late, most of all rank %" PRId64
			      ", which %s; fixing them saves %s per step",
			      ranks, slow->rank, lateness, tsi_time_text(gain_ns).chars);
}

static void explain(struct rule_context *ctx, const struct slow *slow)
{
	size_t row = find_cause(ctx, slow->rank);
	const struct cause *cause = cause_of(ctx, row);

	if (row == SIZE_MAX)
		return;
	const char *detail = tsi_rule_cell_text(ctx, CAUSES, row, "detail");
	if (*detail)
		tsi_rule_detail(ctx, "%s%s", slow->count > 1 ? "that one: " : "", detail);
	if (cause)
		tsi_rule_advice(ctx, strcmp(cause->cause, "slow_clock") == 0 &&
						     find_node(ctx, slow) != SIZE_MAX
					     ? node_advice
					     : cause->advice);
	if (!*tsi_rule_cell_text(ctx, CAUSES, row, "place"))
		return;
	tsi_describe_longest(ctx, CAUSES, row);
	if (cause && strcmp(cause->cause, "slow_host") == 0)
		tsi_rule_advice(ctx, tsi_place_advice);
}

/* But the one that the title is about. */
static void name_groups(struct rule_context *ctx, const struct slow *slow)
{
	size_t named = find_node(ctx, slow);

	for (size_t row = 0; row < tsi_rule_rows(ctx, GROUPS); row++)
		if (row != named)
			tsi_rule_detail(ctx, "%s %s: %" PRId64 " of its %" PRId64 " ranks are slow",
					tsi_rule_cell_text(ctx, GROUPS, row, "kind"),
					tsi_rule_cell_text(ctx, GROUPS, row, "name"),
					tsi_rule_cell(ctx, GROUPS, row, "late_count").integer,
					tsi_rule_cell(ctx, GROUPS, row, "rank_count").integer);
}

/* ---- what it costs ---- */

static enum tscope_severity severity_of(const struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "distributed.slow_gain_ratio");

	if (share >= tsi_rule_parameter(ctx, "high"))
		return TSCOPE_SEVERITY_HIGH;
	return share >= tsi_rule_parameter(ctx, "med") ? TSCOPE_SEVERITY_MED : TSCOPE_SEVERITY_LOW;
}

static void describe(struct rule_context *ctx, const struct slow *slow, const char *doubt)
{
	if (slow->count > 1)
		tsi_rule_detail(ctx, "ranks %.200s", slow->numbers.text);
	explain(ctx, slow);
	if (slow->is_stalling)
		tsi_rule_advice(ctx, tsi_stall_advice);
	name_groups(ctx, slow);
	if (!*doubt)
		return;
	tsi_rule_detail(ctx, "%s", doubt);
	tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

/* Is a rank as far above the others as a slow one would be? */
static bool looks_slow(struct rule_context *ctx)
{
	bool looks_slow = false;

	for (size_t i = 0; i < tsi_rule_rows(ctx, "distributed.ranks"); i++)
		looks_slow |= tsi_rule_cell_real(ctx, "distributed.ranks", i, "excess_ratio") >=
			      tsi_rule_parameter(ctx, "threshold");
	return looks_slow;
}

static void evaluate_dist_straggler(struct rule_context *ctx)
{
	const char *doubt = tsi_rule_text(ctx, "distributed.slow_rank_doubt");
	int64_t gain_ns = tsi_rule_int(ctx, "distributed.slow_gain_ns");
	struct slow slow;

	find_slow(&slow, ctx);
	if (slow.count == 0 && *doubt)
		tsi_rule_undecided(ctx, looks_slow(ctx), "%s", doubt);
	if (slow.count == 0)
		return;
	fire(ctx, severity_of(ctx), &slow, (double)gain_ns);
	describe(ctx, &slow, doubt);
	if (tsi_rule_flag(ctx, "distributed.slow_gain_is_simulated"))
		tsi_rule_simulated(ctx, GAIN_COMM_WAIT, gain_ns);
	else
		tsi_rule_gain(ctx, GAIN_COMM_WAIT, gain_ns);
	tsi_rule_subject(ctx)->rank = slow.rank;
}

const struct rule tsi_rule_dist_straggler = {
	.def = {
		.id = "DIST.STRAGGLER",
		.summary = "some ranks are slower than the others, step after step",
		.trigger = "Fires where distributed.slow_ranks names a rank with an excess of at "
			   "least threshold, or one that stalls now and then; high where all "
			   "of these cost at least high of the step, med from med on, else "
			   "low. Where it names nobody and "
			   "distributed.slow_rank_doubt says that somebody may be slow all the "
			   "same, the rule is undecided.",
		.meaning = "Ranks meet in every collective, so that all of them run at the pace "
			   "of the slowest one. With traces it names what a rank is slower in: "
			   "the time in "
			   "which it does not wait for others is compared line by line. What it "
			   "costs is simulated: the steps of all ranks are replayed with that rank "
			   "like the median of the others. Step records give the same without "
			   "replay, from the slowest rank of each step. A rank that only stalls "
			   "now and then is named where at least 3 stalls, far outside of every "
			   "rank's usual spread, are nearly all its own, and cost at least 1 % of "
			   "the mean step.",
		.advice = "on the host of that rank compare clocks, temperature and power limit "
			  "(nvidia-smi -q), PCIe link and NUMA binding, and look for other "
			  "jobs; run it on another host: if the same data is slow there, it is "
			  "the shard",
		.example = "Of 8 ranks 7 compute for 100 ms and rank 3 for 112 ms in each step of "
			   "140 ms: its excess is 0.12, and fixing it saves 12 ms per step, 0.086 "
			   "of it; a finding of severity med that names rank 3.",
		.parameters = {
			{ "threshold", 0.03, "excess over the others of a rank in slow_ranks" },
			{ "high", 0.10, "share of the step to win from which it is severe" },
			{ "med", 0.01, "share from which it is worth the while" },
		},
		.facts = { "distributed.n_steps" },
	},
	.evidence = { "distributed.slow_gain_ns", "distributed.slow_gain_ratio",
		      "distributed.n_steps", "stragglers.cause",
		      "stragglers.excess_ns_per_step" },
	.cause = CAUSE_straggler,
	.is_gain_in_title = true,
	.evaluate = evaluate_dist_straggler,
};
