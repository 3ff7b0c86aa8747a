/* SPDX-License-Identifier: MIT */
/*
 * NCCL.LOW_BANDWIDTH: large messages move far slower than any link that is made
 * for training. Seen from one rank the time of a collective holds its wait for
 * the others, so the fastest of each size is judged: it waited least.
 */
#include "rules/rule.h"

#include <math.h>

#define SIZES "collectives.by_size"

struct slow_size { /* the large messages below the threshold */
	double total_ns;
	size_t row; /* of these, with most time */
	double row_ns, row_gb_per_second;
};

/*
 * Bus bandwidth of the fastest message of a row in GB/s; NaN where it is not known,
 * or no link was used: a group of one rank.
 */
static double best_gb_per_second(const struct rule_context *ctx, size_t row)
{
	double bus = tsi_value_real(tsi_rule_cell(ctx, SIZES, row, "bus_bytes_per_second"));
	double mean_ns = tsi_value_real(tsi_rule_cell(ctx, SIZES, row, "mean_ns"));
	double min_ns = tsi_value_real(tsi_rule_cell(ctx, SIZES, row, "min_ns"));

	return min_ns > 0 && bus > 0 ? bus * mean_ns / min_ns / 1e9 : NAN;
}

static bool is_large(const struct rule_context *ctx, size_t row)
{
	struct tscope_value on_host = tsi_rule_cell(ctx, SIZES, row, "on_host");

	return !(on_host.kind == TSCOPE_VALUE_FLAG && on_host.flag) &&
	       tsi_value_real(tsi_rule_cell(ctx, SIZES, row, "message_bytes")) >=
		       tsi_rule_parameter(ctx, "bytes");
}

static struct slow_size find_slow(const struct rule_context *ctx)
{
	double threshold = tsi_rule_parameter(ctx, "threshold");
	struct slow_size slow = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, SIZES); row++) {
		double speed = best_gb_per_second(ctx, row);
		double total_ns = tsi_value_real(tsi_rule_cell(ctx, SIZES, row, "total_ns"));
		if (!is_large(ctx, row) || !(speed < threshold))
			continue;
		slow.total_ns += total_ns;
		if (total_ns > slow.row_ns) {
			slow.row = row;
			slow.row_ns = total_ns;
			slow.row_gb_per_second = speed;
		}
	}
	return slow;
}

static void evaluate(struct rule_context *ctx)
{
	struct slow_size slow = find_slow(ctx);
	double share = slow.total_ns / tsi_rule_real(ctx, "collectives.total_ns");
	double speed = slow.row_gb_per_second;

	if (slow.total_ns <= 0 || !(share >= tsi_rule_parameter(ctx, "share")))
		return;
	tsi_rule_fire(ctx,
		      speed < tsi_rule_parameter(ctx, "high") ? TSCOPE_SEVERITY_HIGH
							      : TSCOPE_SEVERITY_MED,
		      "large collectives show %.1f GB/s even at their fastest", speed);
	tsi_rule_detail(
		ctx, "bus bandwidth of the fastest %s of %.1f MiB; at least, as it may have waited",
		tsi_value_text(tsi_rule_cell(ctx, SIZES, slow.row, "kind")),
		tsi_value_real(tsi_rule_cell(ctx, SIZES, slow.row, "message_bytes")) / 0x1p20);
	tsi_rule_detail(ctx, "such messages take %.0f %% of the collectives' time", 100 * share);
	tsi_rule_evidence(ctx, "collectives.total_ns");
	tsi_rule_evidence(ctx, "collectives.bytes");
	tsi_rule_evidence(ctx, "collectives.count");
}

const struct rule tsi_rule_nccl_low_bandwidth = {
	.def = {
		.id = "NCCL.LOW_BANDWIDTH",
		.summary = "large collectives are slower than the links should be",
		.trigger = "Fires where collectives of at least bytes bytes, the fastest of whose "
			   "size reaches less than threshold GB/s of bus bandwidth, take at least "
			   "share of all collectives' time; high below high GB/s, else med. "
			   "Waiting for other ranks counts as time: ranks that always come late "
			   "make links look slow.",
		.meaning = "Messages of this size are as fast as their link: 12 GB/s for PCIe 3 or "
			   "100 Gbit/s, 50 for 400 Gbit/s, hundreds for NVLink. Less than 10 GB/s "
			   "means that another path is taken; less than 2 mostly means TCP.",
		.advice = "run with NCCL_DEBUG=INFO and read which transport it takes: NET/Socket "
			  "where there is InfiniBand (set NCCL_IB_HCA, NCCL_SOCKET_IFNAME), no P2P "
			  "between devices (nvidia-smi topo -m, ACS of the PCIe switches); compare "
			  "with nccl-tests on the same hosts, and set threshold to what these "
			  "reach",
		.example = "20 all-reduces of 64 MiB among 8 ranks, the fastest in 50 ms: 67.1 MB "
			   "\xc3\x97 14/8 \xc3\xb7 50 ms are 2.3 GB/s, a finding of severity med.",
		.parameters = {
			{ "threshold", 10, "GB/s of bus bandwidth below which it fires" },
			{ "high", 2, "GB/s below which it is severe" },
			{ "bytes", 16777216, "least size of a message (16 MiB)" },
			{ "share", 0.10, "least share of the collectives' time" },
		},
		.facts = { "collectives.total_ns", "collectives.bytes" },
	},
	.evaluate = evaluate,
};
