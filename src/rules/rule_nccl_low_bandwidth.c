/* SPDX-License-Identifier: MIT */
/*
 * NCCL.LOW_BANDWIDTH: large messages move far slower than any link that is made for training.
 * Where collectives match across ranks, their transfers are judged, from which waiting is taken
 * out. Seen from one rank the time of a collective holds its wait for the others: there the fastest
 * of each size is judged, which waited least.
 */
#include "rules/rule.h"

#include <math.h>
#include <string.h>

#include "base/scaled_text.h"

#define SIZES "collectives.by_size"
#define TRANSFERS "transfers.by_size"

/* Messages of one size. */
struct size {
	const char *kind, *span;
	bool is_on_host;
	double bytes, total_ns;
	double gb_per_second; /* of the bus; NaN: not known, or no link is used */
};

/* The source of the sizes, and the words for them. */
struct source {
	const char *table;
	struct size (*read)(const struct rule_context *ctx, size_t row);
	const char *title, *which, *remark, *whole;
};

struct slow_size { /* the large messages below the threshold */
	double total_ns;
	struct size most; /* of these, with most time */
};

static double cell(const struct rule_context *ctx, const char *table, size_t row,
		   const char *column)
{
	return tsi_rule_cell_real(ctx, table, row, column);
}

static struct size read_labels(const struct rule_context *ctx, const char *table, size_t row)
{
	struct tscope_value on_host = tsi_rule_cell(ctx, table, row, "on_host");

	return (struct size){
		.kind = tsi_rule_cell_text(ctx, table, row, "kind"),
		.span = "",
		.is_on_host = on_host.kind == TSCOPE_VALUE_FLAG && on_host.flag,
		.bytes = cell(ctx, table, row, "message_bytes"),
		.gb_per_second = NAN,
	};
}

/* The fastest message of the size, by one rank. */
static struct size read_collective(const struct rule_context *ctx, size_t row)
{
	struct size size = read_labels(ctx, SIZES, row);
	double bus = cell(ctx, SIZES, row, "bus_bytes_per_second");
	double mean_ns = cell(ctx, SIZES, row, "mean_ns");
	double min_ns = cell(ctx, SIZES, row, "min_ns");

	size.total_ns = cell(ctx, SIZES, row, "total_ns");
	if (min_ns > 0 && bus > 0)
		size.gb_per_second = bus * mean_ns / min_ns / 1e9;
	return size;
}

static struct size read_transfer(const struct rule_context *ctx, size_t row)
{
	struct size size = read_labels(ctx, TRANSFERS, row);
	double bus = cell(ctx, TRANSFERS, row, "bus_bytes_per_second");

	size.span = tsi_rule_cell_text(ctx, TRANSFERS, row, "span");
	size.total_ns =
		cell(ctx, TRANSFERS, row, "transfer_ns") * cell(ctx, TRANSFERS, row, "count");
	if (bus > 0)
		size.gb_per_second = bus / 1e9;
	return size;
}

/* As above, but the fastest: unread ranks may have been waited for. */
static struct size read_fastest_transfer(const struct rule_context *ctx, size_t row)
{
	struct size size = read_transfer(ctx, row);

	size.gb_per_second *= cell(ctx, TRANSFERS, row, "transfer_ns") /
			      cell(ctx, TRANSFERS, row, "min_transfer_ns");
	return size;
}

static const struct source one_rank = {
	SIZES,
	read_collective,
	"even at their fastest",
	"fastest",
	"at least, as it may have waited",
	"collectives",
};
static const struct source all_ranks = {
	TRANSFERS,
	read_transfer,
	"without waiting",
	"median",
	"waiting for other ranks is taken out",
	"transfers",
};
static const struct source some_ranks = {
	TRANSFERS,
	read_fastest_transfer,
	"even at their fastest",
	"fastest",
	"at least, as it may have waited for ranks that were not read",
	"transfers",
};

static bool has_device_transfers(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, TRANSFERS); row++)
		if (!read_labels(ctx, TRANSFERS, row).is_on_host)
			return true;
	return false;
}

static const struct source *choose_source(const struct rule_context *ctx)
{
	if (!has_device_transfers(ctx))
		return &one_rank;
	return tsi_rule_doubt(ctx, "transfers.transfer_ns") ? &some_ranks : &all_ranks;
}

static struct slow_size find_slow(const struct rule_context *ctx, const struct source *source)
{
	double threshold = tsi_rule_parameter(ctx, "threshold");
	double bytes = tsi_rule_parameter(ctx, "bytes");
	struct slow_size slow = { 0 };

	for (size_t row = 0; row < tsi_rule_rows(ctx, source->table); row++) {
		struct size size = source->read(ctx, row);

		if (size.is_on_host || !(size.bytes >= bytes) || !(size.gb_per_second < threshold))
			continue;
		slow.total_ns += size.total_ns;
		if (size.total_ns > slow.most.total_ns)
			slow.most = size;
	}
	return slow;
}

static double time_of_all(const struct rule_context *ctx, const struct source *source)
{
	double total_ns = 0;

	if (source == &one_rank)
		return tsi_rule_real(ctx, "collectives.total_ns");
	for (size_t row = 0; row < tsi_rule_rows(ctx, source->table); row++)
		total_ns += source->read(ctx, row).total_ns;
	return total_ns;
}

/* The usual reasons differ inside and between nodes. */
static void advise(struct rule_context *ctx, const char *span)
{
	if (strcmp(span, "intra_node") == 0)
		tsi_rule_advice(ctx, "the ranks share a node: look for devices that do not reach "
				     "each other by P2P (nvidia-smi topo -m, ACS of the PCIe "
				     "switches, NCCL_P2P_DISABLE, containers without /dev/shm) "
				     "in the output of NCCL_DEBUG=INFO; compare with nccl-tests "
				     "on the same host, and set threshold to what these reach");
	else if (strcmp(span, "inter_node") == 0)
		tsi_rule_advice(ctx, "the ranks are on several nodes: run with NCCL_DEBUG=INFO "
				     "and look for NET/Socket where there is InfiniBand (set "
				     "NCCL_IB_HCA, NCCL_SOCKET_IFNAME) and for GPU Direct RDMA; "
				     "compare with nccl-tests on the same hosts, and set "
				     "threshold to what these reach");
}

/* Where ranks are unread those that were read may have waited for them each time. */
static enum tscope_severity grade(const struct rule_context *ctx, const struct source *source,
				  double speed)
{
	if (source != &all_ranks)
		return TSCOPE_SEVERITY_LOW;
	return speed < tsi_rule_parameter(ctx, "high") ? TSCOPE_SEVERITY_HIGH : TSCOPE_SEVERITY_MED;
}

static void evaluate_nccl_low_bandwidth(struct rule_context *ctx)
{
	const struct source *source = choose_source(ctx);
	struct slow_size slow = find_slow(ctx, source);
	double share = slow.total_ns / time_of_all(ctx, source);
	double speed = slow.most.gb_per_second;

	if (slow.total_ns <= 0 || !(share >= tsi_rule_parameter(ctx, "share")))
		return;
	tsi_rule_fire(ctx, grade(ctx, source, speed), "large collectives reach only %.1f GB/s %s",
		      speed, source->title);
	tsi_rule_detail(ctx, "bus bandwidth of the %s %s of %s; %s", source->which, slow.most.kind,
			tsi_scaled_text(slow.most.bytes, QUANTITY_SIZE).chars, source->remark);
	tsi_rule_detail(ctx, "such messages take %.0f %% of the %s' time", 100 * share,
			source->whole);
	advise(ctx, slow.most.span);
	if (source != &all_ranks) /* what seems slow may be waiting */
		tsi_rule_confidence(ctx, TSCOPE_CONFIDENCE_MED);
}

const struct rule tsi_rule_nccl_low_bandwidth = {
	.def = {
		.id = "NCCL.LOW_BANDWIDTH",
		.summary = "large collectives are slower than the links should be",
		.trigger = "Fires where collectives of at least bytes bytes, the fastest of whose "
			   "size reaches less than threshold GB/s of bus bandwidth, take at least "
			   "share of all collectives' time; high below high GB/s, else med. "
			   "Seen from one rank, or from some of a run's, it is low: waiting for "
			   "the others counts as time, and ranks that always come late make links "
			   "look slow. Where collectives match across all ranks of a run, waiting "
			   "is taken out, and the median of each size is judged.",
		.meaning = "Messages of this size are as fast as their link: 12 GB/s for PCIe 3 or "
			   "100 Gbit/s, 50 for 400 Gbit/s, hundreds for NVLink. Less than 10 GB/s "
			   "means that another path is taken; less than 2 mostly means TCP.",
		.advice = "run with NCCL_DEBUG=INFO and read which transport it takes: NET/Socket "
			  "where there is InfiniBand (set NCCL_IB_HCA, NCCL_SOCKET_IFNAME), no P2P "
			  "between devices (nvidia-smi topo -m, ACS of the PCIe switches); compare "
			  "with nccl-tests on the same hosts, and set threshold to what these "
			  "reach",
		.example = "20 all-reduces of 64 MiB among 8 ranks, the fastest in 50 ms: 67.1 MB "
			   "\xc3\x97 14/8 \xc3\xb7 50 ms are 2.3 GB/s, a finding of severity med "
			   "where the ranks match, else low.",
		.parameters = {
			{ "threshold", 10, "GB/s of bus bandwidth below which it fires" },
			{ "high", 2, "GB/s below which it is severe" },
			{ "bytes", 16777216, "least size of a message (16 MiB)" },
			{ "share", 0.10, "least share of the collectives' time" },
		},
		.facts = { "collectives.total_ns", "collectives.bytes" },
	},
	.evidence = { "collectives.total_ns", "collectives.bytes", "collectives.count",
		      "transfers.transfer_ns" },
	.cause = CAUSE_slow_link,
	.evaluate = evaluate_nccl_low_bandwidth,
};
