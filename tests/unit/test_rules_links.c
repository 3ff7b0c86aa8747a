/* SPDX-License-Identifier: MIT */
/* Rules on what traces of all ranks say of links, experts and pipelines. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

#define COLLECTIVES "collectives.total_ns 1000000000\ncollectives.bytes 1\n"
#define TRANSFERS "transfers.count 40\ntransfers.transfer_ns 4000000000\n"

/* 10 all-reduces of so many bytes: median 60 ms, the fastest 50 ms. */
#define MESSAGES(bytes, bus, more)                                                                 \
	"transfers.by_size kind=all_reduce count=10 transfer_ns=60000000 "                         \
	"min_transfer_ns=50000000 message_bytes=" #bytes " bus_bytes_per_second=" #bus " " more    \
	"\n"

/* 540 ms of others: 40 each, of a size that is not judged. */
#define SMALL_ONES                                                                                 \
	"transfers.by_size kind=all_gather count=10 transfer_ns=54000000 "                         \
	"min_transfer_ns=54000000 message_bytes=1024 bus_bytes_per_second=1000000.0 on_host=no\n"

/* Links of four groups, of which the last is slow. */
#define LIKES "transfers.links ranks='0, 4' slowdown_ratio=0.0 p_value=1.0\n"
#define SLOW(ranks, slowdown, excess)                                                              \
	"transfers.slow_links group=dp ranks='" ranks "' kind=all_reduce span=inter_node "         \
	"message_bytes=67108864 bus_bytes_per_second=20000000000.0 slowdown_ratio=" slowdown " "   \
	"p_value=0.00001 excess_ns_per_step=" excess "\n"
#define EXPOSED(ns) "transfers.mean_exposed_transfer_ns " #ns "\n"

#define EXPERTS(ratio) "experts.busiest_rank 5\nexperts.imbalance_ratio " ratio "\n"
#define LOADS(load)                                                                                \
	"experts.ranks rank=4 load_ratio=0.9\nexperts.ranks rank=5 load_ratio=" load "\n"

#define INFERRED                                                                                   \
	"pipeline.bubble_ratio 0.4\npipeline.ideal_bubble_ratio 0.2\n"                             \
	"pipeline.excess_ratio 0.2\npipeline.stage_count 4\npipeline.is_inferred yes\n"            \
	"pipeline.busiest_stage 3\n"

static const struct rule_case cases[] = {
	/* Of transfers it is the median that counts, though another source is slower still. */
	{ "NCCL.LOW_BANDWIDTH", FIRES,
	  COLLECTIVES TRANSFERS MESSAGES(67108864, 2500000000.0, "on_host=no") SMALL_ONES
	  "collectives.by_size kind=all_reduce on_host=no total_ns=900000000 "
	  "mean_ns=60000000 min_ns=50000000 message_bytes=67108864 "
	  "bus_bytes_per_second=1000000.0\n",
	  NULL,
	  /* 600 ms of 600 + 540. */
	  "med: large collectives reach only 2.5 GB/s without waiting (bus bandwidth of the median "
	  "all_reduce of 64.0 MiB; waiting for other ranks is taken out; such messages take 53 % "
	  "of the transfers' time)" },
	/* 2.5 × 60 ÷ 50. */
	{ "NCCL.LOW_BANDWIDTH", FIRES,
	  COLLECTIVES TRANSFERS
	  "! transfers.transfer_ns unread\n" MESSAGES(67108864, 2500000000.0, "on_host=no"),
	  NULL,
	  "low: large collectives reach only 3.0 GB/s even at their fastest (bus bandwidth of the "
	  "fastest all_reduce of 64.0 MiB; at least, as it may have waited for ranks that were not "
	  "read; such messages take 100 % of the transfers' time)" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(67108864, 2000000000.0, "on_host=no"), NULL, "med" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(67108864, 1999999999.0, "on_host=no"), NULL, "high" },
	{ "NCCL.LOW_BANDWIDTH", CHANGED,
	  COLLECTIVES TRANSFERS MESSAGES(67108864, 2000000000.0, "on_host=no"),
	  "NCCL.LOW_BANDWIDTH.high=2.1", "high" },
	/* Faster than any link: reduced in the switch. */
	{ "NCCL.LOW_BANDWIDTH", QUIET,
	  COLLECTIVES TRANSFERS MESSAGES(67108864, 2000000000000.0, "on_host=no"), NULL, "" },
	/* Where waiting made the collectives of one rank slow. */
	{ "NCCL.LOW_BANDWIDTH", QUIET,
	  COLLECTIVES TRANSFERS MESSAGES(
		  67108864, 200000000000.0,
		  "on_host=no") "collectives.by_size kind=all_reduce on_host=no total_ns=900000000 "
				"mean_ns=60000000 min_ns=50000000 message_bytes=67108864 "
				"bus_bytes_per_second=1000000.0\n",
	  NULL, "" },
	/* Those of the host are no source: this is today's finding. */
	{ "NCCL.LOW_BANDWIDTH", FIRES,
	  COLLECTIVES TRANSFERS MESSAGES(
		  67108864, 1000000.0,
		  "on_host=yes") "collectives.by_size kind=all_reduce on_host=no "
				 "total_ns=900000000 "
				 "mean_ns=60000000 min_ns=60000000 message_bytes=67108864 "
				 "bus_bytes_per_second=3000000000.0\n",
	  NULL,
	  "low: large collectives reach only 3.0 GB/s even at their fastest (bus bandwidth of the "
	  "fastest all_reduce of 64.0 MiB; at least, as it may have waited; such messages take 90 "
	  "% of the collectives' time)" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(16777216, 10000000000.0, "on_host=no"), NULL, "" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(16777216, 9999999999.0, "on_host=no"), NULL, "med" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(16777216, 1999999999.0, "on_host=no"), NULL, "high" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  COLLECTIVES TRANSFERS MESSAGES(16777215, 1999999999.0, "on_host=no"), NULL, "" },

	/* 30 MB a step of excess, of which the steps feel no more than 20 ms. */
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES EXPOSED(20000000) SLOW("1, 5", "0.35", "10000000")
		  SLOW("3, 7", "0.25", "12000000") SLOW("3, 7", "0.2", "18000000"),
	  NULL,
	  "med: all_reduce of 64.0 MiB between ranks 3, 7 takes 20 % longer than between other "
	  "ranks (bus bandwidth 20.0 GB/s, comparable links 24.0 GB/s; process group dp; on "
	  "several nodes, like the links compared; 3 slow links and sizes in total) [20000000 "
	  "ns]" },
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES EXPOSED(20000000) SLOW("1, 5", "0.35", "10000000")
		  SLOW("3, 7", "0.25", "5000000"),
	  NULL,
	  "med: all_reduce of 64.0 MiB between ranks 1, 5 takes 35 % longer than between other "
	  "ranks (bus bandwidth 20.0 GB/s, comparable links 27.0 GB/s; process group dp; on "
	  "several nodes, like the links compared; 2 slow links and sizes in total) [10000000 "
	  "ns]" },
	/* Where to look depends on what it crosses. */
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES
	  "transfers.slow_links ranks='64-71' nodes='node8' kind=all_reduce "
	  "span=intra_node message_bytes=1048576 slowdown_ratio=0.6 p_value=0.0001\n",
	  NULL,
	  "high: all_reduce of 1.00 MiB between ranks 64-71 takes 60 % longer than between other "
	  "ranks (all on node8, like the links compared)" },
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES
	  "transfers.slow_links ranks='7, 8' nodes='node0 and node1' kind=all_reduce "
	  "span=inter_node message_bytes=1048576 slowdown_ratio=0.6 p_value=0.0001\n",
	  NULL,
	  "high: all_reduce of 1.00 MiB between ranks 7, 8 takes 60 % longer than between other "
	  "ranks (on node0 and node1, like the links compared)" },
	/* However many ranks it has, the title says what is wrong. */
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES
	  "transfers.slow_links ranks='1, 2, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, "
	  "59, 61, 67, 71, 73, 79, 83, 89, 97' kind=all_reduce message_bytes=1048576 "
	  "slowdown_ratio=0.6 p_value=0.0001\n",
	  NULL,
	  "high: all_reduce of 1.00 MiB between ranks 1, 2, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, "
	  "41, 43, 47, 53, 59, 61, 67, 71, 73, ... takes 60 % longer than between other ranks "
	  "(which "
	  "ranks share a node is unknown: it may be the only link between nodes)" },
	/* Neither nodes nor steps are known. */
	{ "DIST.SLOW_LINK", FIRES,
	  TRANSFERS LIKES "transfers.slow_links ranks='2, 3' kind=send_recv message_bytes=1048576 "
			  "bus_bytes_per_second=1000000000.0 slowdown_ratio=0.6 p_value=0.0001\n",
	  NULL,
	  "high: send_recv of 1.00 MiB between ranks 2, 3 takes 60 % longer than between other "
	  "ranks (bus bandwidth 1.0 GB/s, comparable links 1.6 GB/s; which ranks share a node is "
	  "unknown: it may be the only link between nodes)" },
	{ "DIST.SLOW_LINK", QUIET, TRANSFERS LIKES, NULL, "" },
	{ "DIST.SLOW_LINK", SKIPPED, TRANSFERS "transfers.links ranks='0, 4' p_value=1.0\n", NULL,
	  "skipped: no process group or pair has two others that exchange messages of the same "
	  "kind and size" },
	{ "DIST.SLOW_LINK", AT, TRANSFERS LIKES SLOW("1, 5", "0.1", "1"), NULL, "med" },
	{ "DIST.SLOW_LINK", AT, TRANSFERS LIKES SLOW("1, 5", "0.0999", "1"), NULL, "" },
	{ "DIST.SLOW_LINK", AT, TRANSFERS LIKES SLOW("1, 5", "0.5", "1"), NULL, "high" },
	{ "DIST.SLOW_LINK", AT, TRANSFERS LIKES SLOW("1, 5", "0.4999", "1"), NULL, "med" },
	{ "DIST.SLOW_LINK", CHANGED, TRANSFERS LIKES SLOW("1, 5", "0.2", "1"),
	  "DIST.SLOW_LINK.threshold=0.3", "" },

	{ "DIST.EXPERT_IMBALANCE", FIRES, EXPERTS("1.5") LOADS("1.45"), NULL,
	  "med: unbalanced experts: the busiest rank of an all-to-all receives 1.50 times the mean "
	  "(rank 5 receives most over the whole capture: 1.45 times its group's mean)" },
	/* 1.1 is less than half as much above 1 as 1.5. */
	{ "DIST.EXPERT_IMBALANCE", FIRES, EXPERTS("1.5") LOADS("1.1"), NULL,
	  "med: unbalanced experts: the busiest rank of an all-to-all receives 1.50 times the mean "
	  "(rank 5 receives most over the whole capture: 1.10 times its group's mean; the busiest "
	  "rank keeps changing)" },
	{ "DIST.EXPERT_IMBALANCE", QUIET, EXPERTS("1.05") LOADS("1.05"), NULL, "" },
	{ "DIST.EXPERT_IMBALANCE", AT, EXPERTS("1.3") LOADS("1.3"), NULL, "med" },
	{ "DIST.EXPERT_IMBALANCE", AT, EXPERTS("1.2999") LOADS("1.3"), NULL, "" },
	{ "DIST.EXPERT_IMBALANCE", AT, EXPERTS("2.0") LOADS("1.3"), NULL, "high" },
	{ "DIST.EXPERT_IMBALANCE", AT, EXPERTS("1.9999") LOADS("1.3"), NULL, "med" },
	{ "DIST.EXPERT_IMBALANCE", CHANGED, EXPERTS("1.5") LOADS("1.3"),
	  "DIST.EXPERT_IMBALANCE.threshold=1.6", "" },

	/* What it was taken for is said only where nobody else did. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  INFERRED "pipeline.microbatch_count 6\npipeline.virtual_stage_count 2\n"
		   "pipeline.stage_imbalance_ratio 0.1\n",
	  NULL,
	  "high: pipeline stages idle for 40.0 % of the step (20.0 points above the ideal 20.0 %; "
	  "6 microbatches, 4 stages; 2 virtual stages per rank; stage 3 computes 10.0 % more than "
	  "the mean)" },
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  INFERRED "pipeline.microbatch_count 12\npipeline.virtual_stage_count 1\n"
		   "pipeline.stage_imbalance_ratio 0.001\n",
	  NULL,
	  "high: pipeline stages idle for 40.0 % of the step (20.0 points above the ideal 20.0 %; "
	  "12 microbatches, 4 stages)" },
	/* Where it is known, waiting is judged, with or without an ideal to hold it against. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  INFERRED "pipeline.stall_ratio 0.35\npipeline.excess_ns_per_step 7000000\n", NULL,
	  "high: pipeline stages idle for 40.0 % of the step (bubble fraction 35.0 % without other "
	  "stalls, ideal 20.0 %) [7000000 ns]" },
	{ "DIST.PIPELINE_BUBBLE", AT, "pipeline.bubble_ratio 0.6\npipeline.stall_ratio 0.2499\n",
	  NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, "pipeline.bubble_ratio 0.6\npipeline.stall_ratio 0.25\n",
	  NULL, "med" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

TEST(advice_depends_on_where_links_are)
{
	static const struct advice_case advised[] = {
		{ "NCCL.LOW_BANDWIDTH",
		  COLLECTIVES TRANSFERS MESSAGES(67108864, 2500000000.0, "span=intra_node"),
		  "the ranks share a node" },
		{ "NCCL.LOW_BANDWIDTH",
		  COLLECTIVES TRANSFERS MESSAGES(67108864, 2500000000.0, "span=inter_node"),
		  "the ranks are on several nodes" },
		{ "NCCL.LOW_BANDWIDTH",
		  COLLECTIVES TRANSFERS MESSAGES(67108864, 2500000000.0, "on_host=no"),
		  "NET/Socket where there is InfiniBand" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}
