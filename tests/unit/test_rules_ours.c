/* SPDX-License-Identifier: MIT */
/* Rules of ours on ranks: slow links, missing ranks, skew, waits. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

#define COLLECTIVES "collectives.total_ns 1000000000\ncollectives.bytes 1\n"

/*
 * 10 all-reduces of so many bytes take 600 of the 1000 ms: 60 ms each and the fastest 50,
 * so that the fastest has 1.2 times their bus bandwidth.
 */
#define SIZE(bytes, bus)                                                                           \
	"collectives.by_size kind=all_reduce on_host=no count=10 total_ns=600000000 "              \
	"mean_ns=60000000 min_ns=50000000 message_bytes=" #bytes " bus_bytes_per_second=" #bus     \
	"\n"

#define MISSING(missing, declared)                                                                 \
	"distributed.missing_rank_count " #missing "\n"                                            \
	"distributed.declared_world_size " #declared "\n"

/* The median of the slowest rank's delay in steps of 100 ms. */
#define SKEW(ns) "distributed.mean_step_wall_ns 100000000\ndistributed.sync_skew_ns " #ns "\n"

#define WAIT(comm)                                                                                 \
	"distributed.mean_step_wall_ns 10000000\n"                                                 \
	"distributed.mean_transfer_fraction 0.05\n"                                                \
	"distributed.mean_comm_fraction " comm "\n"
#define WAITS(rank, ns) "distributed.ranks rank=" rank " mean_wait_ns=" ns "\n"

/* Rank 1 held the others up: what steps of 100 ms win without it, and without rank 0. */
#define HELD_UP(gain_ms, other_ms, which, count, all, place)                                       \
	SKEW(0)                                                                                    \
	"stragglers.skew_ns 0\nstep_time.mean_ns 100000000\nwhat_if.step_ns 100000000\n"           \
	"distributed.world_size 2\n"                                                               \
	"what_if.no_straggler_gain_ns " gain_ms "000000\nwhat_if.ranks rank=1 gain_ns=" gain_ms    \
	"000000\nwhat_if.ranks rank=0 gain_ns=" other_ms                                           \
	"000000\nstragglers.hold_ups rank=1 most_ns=58000000 steps=" which " step_count=" #count   \
	" of=" #all place "\n"
#define PLACE " place=save longest_ns=60000000 longest_start_ns=9007"

/* Exposed waiting of 1000, in steps of 10 ms. */
#define WAITED(ns)                                                                                 \
	"budget.wall_total_ns 1000\nbudget.exposed_wait_total_ns " ns                              \
	"\nbudget.exposed_transfer_total_ns 7\n"                                                   \
	"budget.exposed_unsplit_total_ns 0\nstep_time.mean_ns 10000000\n"

static const struct rule_case cases[] = {
	{ "NCCL.LOW_BANDWIDTH", FIRES, COLLECTIVES SIZE(67108864, 2000000000.0), NULL,
	  "low: large collectives reach only 2.4 GB/s even at their fastest (bus bandwidth of the "
	  "fastest "
	  "all_reduce of 64.0 MiB; at least, as it may have waited; such messages take 60 % of the "
	  "collectives' time)" },
	/* The larger share tells; both are slow. */
	{ "NCCL.LOW_BANDWIDTH", FIRES,
	  COLLECTIVES "collectives.by_size kind=all_gather on_host=no count=1 total_ns=100000000 "
		      "mean_ns=100000000 min_ns=100000000 message_bytes=33554432 "
		      "bus_bytes_per_second=300000000.0\n" SIZE(67108864, 5000000000.0),
	  NULL,
	  "low: large collectives reach only 6.0 GB/s even at their fastest (bus bandwidth of the "
	  "fastest "
	  "all_reduce of 64.0 MiB; at least, as it may have waited; such messages take 70 % of the "
	  "collectives' time)" },
	{ "NCCL.LOW_BANDWIDTH", QUIET, COLLECTIVES SIZE(67108864, 200000000000.0), NULL, "" },
	{ "NCCL.LOW_BANDWIDTH", QUIET, COLLECTIVES, NULL, "" },
	/* Gloo on the host is not slow for want of a link. */
	{ "NCCL.LOW_BANDWIDTH", QUIET,
	  COLLECTIVES
	  "collectives.by_size kind=all_reduce on_host=yes total_ns=600000000 mean_ns=60000000 "
	  "min_ns=50000000 message_bytes=67108864 bus_bytes_per_second=1000000000.0\n",
	  NULL, "" },
	/* A group of one rank uses no link. */
	{ "NCCL.LOW_BANDWIDTH", QUIET, COLLECTIVES SIZE(67108864, 0.0), NULL, "" },
	/* Neither size nor bandwidth is known. */
	{ "NCCL.LOW_BANDWIDTH", QUIET,
	  COLLECTIVES "collectives.by_size kind=all_reduce total_ns=600000000 mean_ns=60000000 "
		      "min_ns=50000000\n",
	  NULL, "" },
	/* 8.333… × 1.2 is 10: not less. */
	{ "NCCL.LOW_BANDWIDTH", AT, COLLECTIVES SIZE(16777216, 8333333334.0), NULL, "" },
	{ "NCCL.LOW_BANDWIDTH", AT, COLLECTIVES SIZE(16777216, 8333333332.0), NULL, "low" },
	{ "NCCL.LOW_BANDWIDTH", AT, COLLECTIVES SIZE(16777215, 8333333332.0), NULL, "" },
	/* One rank may have waited for the others, however slow they seem. */
	{ "NCCL.LOW_BANDWIDTH", AT, COLLECTIVES SIZE(16777216, 1666666666.0), NULL, "low" },
	/* 600 ms of 6 s are 0.1. */
	{ "NCCL.LOW_BANDWIDTH", AT,
	  "collectives.total_ns 6000000000\ncollectives.bytes 1\n" SIZE(16777216, 5000000000.0),
	  NULL, "low" },
	{ "NCCL.LOW_BANDWIDTH", AT,
	  "collectives.total_ns 6000000001\ncollectives.bytes 1\n" SIZE(16777216, 5000000000.0),
	  NULL, "" },
	{ "NCCL.LOW_BANDWIDTH", CHANGED, COLLECTIVES SIZE(67108864, 2000000000.0),
	  "NCCL.LOW_BANDWIDTH.threshold=2.4", "" },

	{ "DIST.MISSING_RANK", FIRES,
	  MISSING(2, 8) "distributed.missing_ranks rank=3\ndistributed.missing_ranks rank=5\n",
	  NULL, "med: 2 of 8 ranks are missing (ranks 3, 5)" },
	/* The table holds no more than some. */
	{ "DIST.MISSING_RANK", FIRES,
	  MISSING(10, 64) "distributed.missing_ranks rank=0\ndistributed.missing_ranks rank=1\n"
			  "distributed.missing_ranks rank=2\ndistributed.missing_ranks rank=3\n"
			  "distributed.missing_ranks rank=4\ndistributed.missing_ranks rank=5\n"
			  "distributed.missing_ranks rank=6\ndistributed.missing_ranks rank=7\n"
			  "distributed.missing_ranks rank=8\n",
	  NULL, "med: 10 of 64 ranks are missing (ranks 0-8 and more)" },
	{ "DIST.MISSING_RANK", QUIET, MISSING(0, 8), NULL, "" },
	{ "DIST.MISSING_RANK", AT, MISSING(1, 8), NULL, "med: 1 of 8 ranks are missing" },
	{ "DIST.MISSING_RANK", FIRES, MISSING(1, 8) "distributed.missing_ranks rank=3\n", NULL,
	  "med: rank 3 of 8 is missing" },
	{ "DIST.MISSING_RANK", AT, MISSING(1, 8), "DIST.MISSING_RANK.threshold=2", "" },
	{ "DIST.MISSING_RANK", AT, MISSING(4, 8), NULL, "high" },
	{ "DIST.MISSING_RANK", AT, MISSING(3, 8), NULL, "med" },

	{ "DIST.SKEW", FIRES, SKEW(8000000), NULL,
	  "med: the slowest rank arrives 8.000 ms (8.0 % of the step) after the median rank "
	  "[8000000 ns]" },
	{ "DIST.SKEW", QUIET, SKEW(1000000), NULL, "" },
	{ "DIST.SKEW", QUIET, "distributed.mean_step_wall_ns 0\ndistributed.sync_skew_ns 0\n", NULL,
	  "" },
	{ "DIST.SKEW", AT, SKEW(5000000), NULL, "med" },
	{ "DIST.SKEW", AT, SKEW(4999999), NULL, "" },

	/* By all that ranks do beside waiting, where traces tell it. */
	{ "DIST.SKEW", FIRES,
	  SKEW(1000000) "stragglers.skew_ns 9000000\nstep_time.mean_ns 90000000\n"
			"arrivals.mean_skew_ns 2000000\nwhat_if.balanced_gain_ns 4000000\n",
	  NULL,
	  "low: the slowest rank arrives 9.000 ms (10.0 % of the step) after the median rank (the "
	  "last rank reaches a collective 2.000 ms after the first) [4000000 ns]" },
	{ "DIST.SKEW", QUIET,
	  SKEW(9000000) "stragglers.skew_ns 1000000\nstep_time.mean_ns 90000000\n", NULL, "" },
	{ "DIST.SKEW", AT, SKEW(0) "stragglers.skew_ns 5\nstep_time.mean_ns 100\n", NULL, "med" },
	{ "DIST.SKEW", AT, SKEW(0) "stragglers.skew_ns 4\nstep_time.mean_ns 100\n", NULL, "" },
	/* Without rank 1 a step takes a tenth less, without any other a twentieth at most. */
	{ "DIST.SKEW", FIRES, HELD_UP("10", "5", "3-4", 2, 4, PLACE), NULL,
	  "med: rank 1 held the others up in 2 of 4 steps (3-4), by up to 58.00 ms (save) (4 steps "
	  "of "
	  "2 ranks cannot show whether it is slow for good; the longest at ts 9.007 of rank 1's "
	  "trace, "
	  "60.00 ms) [10000000 ns]" },
	{ "DIST.SKEW", FIRES, HELD_UP("10", "5", "3", 1, 4, ""), NULL,
	  "med: rank 1 held the others up in step 3, one of 4 steps, by 58.00 ms (4 steps of 2 "
	  "ranks cannot "
	  "show whether it is slow for good) [10000000 ns]" },
	{ "DIST.SKEW", FIRES, HELD_UP("10", "5", "3", 1, 1, ""), NULL,
	  "med: rank 1 held the others up in the one step, by 58.00 ms (1 step of 2 ranks cannot" },
	{ "DIST.SKEW", AT, HELD_UP("5", "0", "3", 1, 4, ""), NULL, "low: rank 1" },
	{ "DIST.SKEW", AT, HELD_UP("4", "0", "3", 1, 4, ""), NULL, "" },
	{ "DIST.SKEW", AT, HELD_UP("10", "6", "3", 1, 4, ""), NULL, "" },
	/* Of ranks that were not read nobody knows whether they were later still. */
	{ "DIST.SKEW", FIRES,
	  HELD_UP("10", "5", "3", 1, 4, "") "! what_if.no_straggler_gain_ns ranks are missing\n",
	  NULL,
	  "med: rank 1 held the others up in step 3, one of 4 steps, by 58.00 ms (4 steps of 2 "
	  "ranks cannot "
	  "show whether it is slow for good; ranks are missing) [10000000 ns]" },
	/* DIST.STRAGGLER names it. */
	{ "DIST.SKEW", QUIET,
	  HELD_UP("10", "5", "3", 1, 4, "") "distributed.slow_ranks rank=1 excess_ratio=0.05\n",
	  NULL, "" },

	/* 0.35 of the step in communication, 0.05 of it moves data. */
	{ "DIST.WAIT", FIRES,
	  WAIT("0.35") WAITS("0", "3000000") WAITS("1", "0") WAITS("2", "2000000"), NULL,
	  "med: ranks wait for one another for 30.0 % of the step (86 % of communication) (rank 1 "
	  "waits least (0 ns per step, the others 2.500 ms): they wait for it) [3000000 ns]" },
	/* Everybody waits alike: nobody is named. */
	{ "DIST.WAIT", FIRES, WAIT("0.35") WAITS("0", "3000000") WAITS("1", "2000000"), NULL,
	  "med: ranks wait for one another for 30.0 % of the step (86 % of communication) [3000000 "
	  "ns]" },
	/* Ranks that were not read: whom all wait for is not known. */
	{ "DIST.WAIT", FIRES,
	  WAIT("0.35") WAITS("0", "3000000") WAITS("1", "0") "! transfers.wait_ns unread\n", NULL,
	  "med: ranks wait for one another for at least 30.0 % of the step (86 % of communication) "
	  "(waiting for ranks that were not read counts as transfer) [3000000 ns]" },
	{ "DIST.WAIT", QUIET, WAIT("0.06") WAITS("0", "3000000") WAITS("1", "0"), NULL, "" },
	/* DIST.STRAGGLER tells it. */
	{ "DIST.WAIT", QUIET, WAIT("0.35") "distributed.slow_ranks rank=1 excess_ratio=0.05\n",
	  NULL, "" },
	/* Traces tell the wait: 0.1 of the step. The rank that waits least has most to do, or not. */
	{ "DIST.WAIT", FIRES,
	  WAIT("0.9") WAITED("100") WAITS("0", "1500000")
		  WAITS("1", "500000") "stragglers.ranks rank=0 excess_ratio=0.0\nstragglers.ranks "
				       "rank=1 excess_ratio=0.1\n",
	  NULL,
	  "med: ranks wait for one another for 10.0 % of the step (93 % of communication) (rank 1 "
	  "waits least (500.0 µs per step, the others 1.500 ms): they wait for it) [1000000 ns]" },
	{ "DIST.WAIT", FIRES,
	  WAIT("0.9") WAITED("100") WAITS("0", "1500000")
		  WAITS("1", "500000") "stragglers.ranks rank=0 excess_ratio=0.1\nstragglers.ranks "
				       "rank=1 excess_ratio=0.0\n"
				       "what_if.balanced_gain_ns 60\n",
	  NULL,
	  "low: ranks wait for one another for 10.0 % of the step (93 % of communication) [60 "
	  "ns]" },
	{ "DIST.WAIT", AT, WAIT("0.9") WAITED("50"), NULL, "med" },
	/* A pipeline's stages wait for its schedule where equal work would win nothing. */
	{ "DIST.WAIT", QUIET,
	  WAIT("0.9") WAITED("50") "pipeline.bubble_ratio 0.4\nwhat_if.balanced_gain_ns 3000\n",
	  NULL, "" },
	{ "DIST.WAIT", FIRES,
	  WAIT("0.9") WAITED("50") "pipeline.bubble_ratio 0.4\nwhat_if.balanced_gain_ns 9000000\n",
	  NULL, "med" },
	{ "DIST.WAIT", AT, WAIT("0.9") WAITED("49"), NULL, "" },
	/* pytscope's rule names a rank in few steps: no reason to be quiet. */
	{ "DIST.WAIT", FIRES, WAIT("0.35") "distributed.straggler rank=1 rel_slowdown=0.3\n", NULL,
	  "med: ranks wait" },
	{ "DIST.WAIT", AT, WAIT("0.1001"), NULL, "med" },
	{ "DIST.WAIT", AT, WAIT("0.0999"), NULL, "" },
	{ "DIST.WAIT", CHANGED, WAIT("0.35"), "DIST.WAIT.threshold=0.31", "" },
};

TEST(rules_of_ours)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}
