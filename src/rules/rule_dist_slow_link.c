/* SPDX-License-Identifier: MIT */
/*
 * DIST.SLOW_LINK: the ranks of one process group, or of one pair that sends and receives, exchange
 * the same messages slower than other groups of their kind, step after step. All ranks wait for
 * them in the end, so that nothing else shows where it comes from.
 */
#include "rules/rule.h"

#include <math.h>
#include <string.h>

#include "base/scaled_text.h"

#define LINKS "transfers.links"
#define SLOW "transfers.slow_links"

enum { MAX_RANKS_CHARS = 80, MAX_NODES_CHARS = 100 };

static double cell(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_real(ctx, SLOW, row, column);
}

static const char *text(const struct rule_context *ctx, size_t row, const char *column)
{
	return tsi_rule_cell_text(ctx, SLOW, row, column);
}

/* Whether any link has two others to be compared with. */
static bool can_compare(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, LINKS); row++)
		if (!isnan(tsi_rule_cell_real(ctx, LINKS, row, "slowdown_ratio")))
			return true;
	return false;
}

/* The slow links: the one with most recoverable time, and the total. */
struct slow {
	size_t link_count, worst;
	double worst_ns, ranks_ns;
};

static double excess_ns(const struct rule_context *ctx, size_t row)
{
	double excess = cell(ctx, row, "excess_ns_per_step");

	return excess > 0 ? excess : 0;
}

static struct slow find_slow(const struct rule_context *ctx)
{
	double threshold = tsi_rule_parameter(ctx, "threshold");
	struct slow slow = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, SLOW); row++) {
		if (!(cell(ctx, row, "slowdown_ratio") >= threshold))
			continue;
		if (slow.link_count++ == 0 || excess_ns(ctx, row) > slow.worst_ns) {
			slow.worst = row;
			slow.worst_ns = excess_ns(ctx, row);
		}
	}
	for (size_t row = 0; slow.link_count > 0 && row < tsi_rule_rows(ctx, SLOW); row++)
		if (strcmp(text(ctx, row, "ranks"), text(ctx, slow.worst, "ranks")) == 0)
			slow.ranks_ns += excess_ns(ctx, row);
	return slow;
}

static void describe(struct rule_context *ctx, const struct slow *slow)
{
	double slowdown = cell(ctx, slow->worst, "slowdown_ratio");
	double own = cell(ctx, slow->worst, "bus_bytes_per_second") / 1e9;
	const char *group = text(ctx, slow->worst, "group");
	const char *span = text(ctx, slow->worst, "span");
	const char *nodes = text(ctx, slow->worst, "nodes");

	if (isfinite(own))
		tsi_rule_detail(ctx, "bus bandwidth %.1f GB/s, comparable links %.1f GB/s", own,
				own * (1 + slowdown));
	if (group[0])
		tsi_rule_detail(ctx, "process group %s", group);
	if (strcmp(span, "intra_node") == 0)
		tsi_rule_detail(ctx, "all on %.*s, like the links compared", MAX_NODES_CHARS,
				*nodes ? nodes : "one node");
	else if (strcmp(span, "inter_node") == 0)
		tsi_rule_detail(ctx, "on %.*s, like the links compared", MAX_NODES_CHARS,
				*nodes ? nodes : "several nodes");
	else
		tsi_rule_detail(ctx, "which ranks share a node is unknown: it may be the only link "
				     "between nodes");
	if (slow->link_count > 1)
		tsi_rule_detail(ctx, "%zu slow links and sizes in total", slow->link_count);
}

/* Links within a node and between nodes are other machines; unknown, it may be either. */
static void advise(struct rule_context *ctx, const char *span)
{
	if (strcmp(span, "intra_node") == 0)
		tsi_rule_advice(ctx,
				"look at NVLink and PCIe between these devices (nvidia-smi nvlink "
				"-e, nvidia-smi topo -m), run nccl-tests on that node alone, and "
				"take it out of service where it is slow, too");
	else if (strcmp(span, "inter_node") == 0)
		tsi_rule_advice(ctx,
				"look at the cables, ports and switches between these ranks' nodes "
				"(ibqueryerrors, error counters of the ports), run nccl-tests "
				"between them, and see whether the slowness moves with the host");
}

/* Only transfer that nothing hides makes steps longer. */
static void put_recoverable(struct rule_context *ctx, const struct slow *slow)
{
	double exposed_ns = tsi_rule_real(ctx, "transfers.mean_exposed_transfer_ns");

	if (slow->ranks_ns > 0 && exposed_ns >= 0)
		tsi_rule_gain(ctx, GAIN_COMM_TRANSFER, llround(fmin(slow->ranks_ns, exposed_ns)));
}

static void evaluate_dist_slow_link(struct rule_context *ctx)
{
	struct slow slow = find_slow(ctx);

	if (!can_compare(ctx)) {
		tsi_rule_skip(ctx, "no process group or pair has two others that exchange messages "
				   "of the same kind and size");
		return;
	}
	if (slow.link_count == 0)
		return;
	double slowdown = cell(ctx, slow.worst, "slowdown_ratio");
	const char *ranks = text(ctx, slow.worst, "ranks");
	tsi_rule_fire(ctx, tsi_rule_grade(ctx, slowdown),
		      "%s of %s between ranks %.*s%s takes %.0f %% longer than between other ranks",
		      text(ctx, slow.worst, "kind"),
		      tsi_scaled_text(cell(ctx, slow.worst, "message_bytes"), QUANTITY_SIZE).chars,
		      MAX_RANKS_CHARS, ranks, strlen(ranks) > MAX_RANKS_CHARS ? "..." : "",
		      100 * slowdown);
	describe(ctx, &slow);
	advise(ctx, text(ctx, slow.worst, "span"));
	put_recoverable(ctx, &slow);
}

const struct rule tsi_rule_dist_slow_link = {
	.def = {
		.id = "DIST.SLOW_LINK",
		.summary = "some ranks exchange data slower than others do",
		.trigger = "Fires where transfers.slow_links names a process group or a pair whose "
			   "transfers take at least threshold longer than those of its likes, "
			   "which have the same kind, size and number of ranks and, where nodes "
			   "are known, cross them or not as it does; high from high on, else "
			   "med. Needs three such links.",
		.meaning = "Waiting for late ranks is taken out of a transfer: a slow rank makes "
			   "others wait, but no transfer long. What is left is the link, or what "
			   "runs beside the transfer on the devices of these ranks alone.",
		.advice = "look at the cables, ports and switches between these ranks' nodes, or "
			  "at NVLink and PCIe between their devices (nvidia-smi nvlink -e, "
			  "nvidia-smi topo -m, ibqueryerrors, error counters of the ports), run "
			  "nccl-tests between them, and see whether the slowness moves with the "
			  "host",
		.example = "Of 4 data-parallel groups that reduce 64 MiB 3 take 10 ms, and ranks "
			   "1, 5, 9, 13 need 15 ms in each of 30 steps: the slowdown is 0.5, a "
			   "finding of severity high that names these ranks.",
		.parameters = {
			{ "threshold", 0.10, "slowdown at which it fires; no less than 0.1" },
			{ "high", 0.50, "slowdown from which it is severe" },
		},
		.facts = { "transfers.count" },
	},
	.evidence = { "transfers.count", "transfers.transfer_ns",
		      "transfers.mean_exposed_transfer_ns" },
	.cause = CAUSE_slow_link,
	.evaluate = evaluate_dist_slow_link,
};
