/* SPDX-License-Identifier: MIT */
/* DIST.*: what many ranks do to each other. */
#include "rule_check.h"

#include "check.h"

#define LOST(ratio)                                                                                \
	"distributed.n_steps 60\n"                                                                 \
	"distributed.world_size 4\n"                                                               \
	"distributed.wall_lost_ns_per_step 9000000\n"                                              \
	"distributed.wall_frac_lost_to_imbalance " ratio "\n"
#define STRAGGLER_3(slowdown)                                                                      \
	"distributed.straggler rank=3 slowest_fraction=0.95 straggler_z=12.5 "                     \
	"rel_slowdown=" slowdown "\n"
#define STEPS "distributed.n_steps 60\n"
#define SLOW(rank, excess, gain_ns)                                                                \
	"distributed.slow_ranks rank=" rank " excess_ratio=" excess " gain_ns=" gain_ns "\n"
#define COST(gain_ns, ratio)                                                                       \
	"distributed.slow_gain_ns " gain_ns "\ndistributed.slow_gain_ratio " ratio "\n"
#define DOUBT(text) "distributed.slow_rank_doubt " text "\n"
#define UNEVEN(cv)                                                                                 \
	"distributed.sync_skew_ns 4000000\n"                                                       \
	"distributed.imbalance_cv " cv "\n"
#define COMM(ratio)                                                                                \
	"distributed.mean_step_wall_ns 200000000\n"                                                \
	"distributed.mean_comm_fraction " ratio "\n"
#define EXPOSED(ratio)                                                                             \
	"overlap.comm_ns 40000000\n"                                                               \
	"overlap.exposed_ns 10000000\n"                                                            \
	"overlap.overlap_ratio 0.75\n"                                                             \
	"overlap.exposed_comm_ratio " ratio "\n"
#define BUBBLE(ratio)                                                                              \
	"pipeline.idlest_stage 2\n"                                                                \
	"pipeline.bubble_ratio " ratio "\n"
#define EXCESS(ratio)                                                                              \
	"pipeline.ideal_bubble_ratio 0.24\n"                                                       \
	"pipeline.excess_ratio " ratio "\n"

#define CAUSE(rank, cause, detail)                                                                 \
	"stragglers.causes rank=" rank " cause=" cause " detail='" detail "'\n"
/* In steps of 100 ms. */
#define GAINS(even)                                                                                \
	"what_if.step_ns 100000000\n"                                                              \
	"what_if.balanced_gain_ns " even "\n"
/* Exposed communication of 1000: waiting, transfer, neither. */
#define SPLIT(wait, transfer, unsplit)                                                             \
	"budget.wall_total_ns 1000\n"                                                              \
	"budget.exposed_wait_total_ns " wait "\n"                                                  \
	"budget.exposed_transfer_total_ns " transfer "\n"                                          \
	"budget.exposed_unsplit_total_ns " unsplit "\n"
#define HOST_SPLIT(wait, transfer, unsplit)                                                        \
	"budget.wall_total_ns 1000\n"                                                              \
	"budget.host.comm_wait_total_ns " wait "\n"                                                \
	"budget.host.comm_transfer_total_ns " transfer "\n"                                        \
	"budget.host.comm_unsplit_total_ns " unsplit "\n"
/* Two ranks of which 1 is slow, in steps of 100 ns: its communication, and the wait in it. */
#define LATE_RANK(comm, wait)                                                                      \
	"budget.step_count 10\n"                                                                   \
	"distributed.slow_ranks rank=1 excess_ratio=1 gain_ns=1\n"                                 \
	"distributed.ranks rank=0 mean_comm_ns=50 mean_wait_ns=30\n"                               \
	"distributed.ranks rank=1 mean_comm_ns=" comm " mean_wait_ns=" wait "\n"
#define NETWORK(overlap, network)                                                                  \
	"what_if.step_ns 50000000\n"                                                               \
	"what_if.ideal_overlap_gain_ns " overlap "\n"                                              \
	"what_if.ideal_network_gain_ns " network "\n"
#define STEP_50_MS "step_time.mean_ns 50000000\n"

#define MESSAGES(max_ns, total_ns, all_ns)                                                         \
	"collectives.total_ns " all_ns "\ncollectives.by_size kind=all_reduce "                    \
	"message_bytes=1000000 count=2 max_ns=" max_ns " total_ns=" total_ns "\n"

static const struct rule_case cases[] = {
	{ "DIST.STRAGGLER", FIRES, STEPS SLOW("5", "0.04", "4000000") COST("4000000", "0.04"), NULL,
	  "med: rank 5 computes 4.0 % longer than the others; fixing it saves 4.000 ms per step "
	  "[4000000 ns]" },
	/* The worst costs most, whatever its excess. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("2", "0.09", "6000000") SLOW("5", "0.08", "8000000") COST("9000000", "0.09"),
	  NULL,
	  "med: 2 ranks are late, most of all rank 5, which computes 8.0 % longer than the others; "
	  "fixing them saves 9.000 ms per step (ranks 2, 5) [9000000 ns]" },
	/* Most of it before one collective. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("17", "4.3", "68000000")
		  COST("68000000", "0.14") "stragglers.causes rank=17 cause=slow_host "
					   "late_ns=383000000 before='all_reduce #2'\n",
	  NULL,
	  "high: rank 17 arrives 383.0 ms late (host, before all_reduce #2); fixing it saves 68.00 "
	  "ms per step [68000000 ns]" },
	/* Its experts receive 1.1 times the mean. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("5", "0.5", "2000000") COST("2000000", "0.02")
		  CAUSE("5", "more_work",
			"a") "experts.busiest_rank 5\nexperts.ranks rank=5 load_ratio=1.1\n",
	  NULL,
	  "med: rank 5 computes 50.0 % longer than the others (busier experts); fixing it saves "
	  "2.000 ms per step (a) [2000000 ns]" },
	{ "DIST.STRAGGLER", AT,
	  STEPS SLOW("5", "0.5", "2000000") COST("2000000", "0.02")
		  CAUSE("5", "more_work",
			"a") "experts.busiest_rank 5\nexperts.ranks rank=5 load_ratio=1.09\n",
	  NULL, "med: rank 5 computes 50.0 % longer than the others (more work)" },
	/* Now and then only. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS "distributed.slow_ranks rank=5 excess_ratio=3 basis=stalls gain_ns=18600000 "
		"stall_count=3 stall_steps='7, 21, 40' stall_ns=310000000 stall_of=50\n" COST(
			"18600000", "0.11") CAUSE("5", "slow_loader", "a"),
	  NULL,
	  "high: rank 5 stalls in 3 of 50 steps (7, 21, 40), up to 310.0 ms (data loader); fixing "
	  "these saves 18.60 ms per step (a) [18600000 ns]" },
	/* pytscope's rule names a rank, which chance may have made: it is a fact, no finding. */
	{ "DIST.STRAGGLER", QUIET, STEPS LOST("0.5") STRAGGLER_3("0.3"), NULL, "" },
	{ "DIST.STRAGGLER", QUIET, STEPS LOST("0.5"), NULL, "" },
	/* Of the step 10 %, 1 %. */
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.04", "1") COST("1", "0.1"), NULL,
	  "high: rank 5" },
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.9", "1") COST("1", "0.0999"), NULL,
	  "med: rank" },
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.04", "1") COST("1", "0.01"), NULL,
	  "med: rank 5" },
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.04", "1") COST("1", "0.0099"), NULL,
	  "low: rank" },
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.03", "1") COST("1", "0.02"), NULL,
	  "med: rank 5" },
	{ "DIST.STRAGGLER", AT, STEPS SLOW("5", "0.0299", "1") COST("1", "0.02"), NULL, "" },
	{ "DIST.STRAGGLER", CHANGED,
	  STEPS SLOW("5", "0.04", "2") SLOW("6", "0.06", "1") COST("1", "0.02"),
	  "DIST.STRAGGLER.threshold=0.05", "med: rank 6 computes 6.0 % longer" },
	{ "DIST.STRAGGLER", CHANGED, STEPS SLOW("5", "0.04", "1") COST("1", "0.05"),
	  "DIST.STRAGGLER.high=0.02", "high: rank 5" },
	{ "DIST.STRAGGLER", CHANGED, STEPS SLOW("5", "0.04", "1") COST("1", "0.05"),
	  "DIST.STRAGGLER.med=0.06", "low: rank 5" },
	/* Its own time of another kind, and why; what late ranks share. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS
	  "distributed.slow_ranks rank=5 excess_ratio=0.04 basis=local_time gain_ns=7\n" CAUSE(
		  "2", "slow_host", "a") CAUSE("5", "slow_loader", "1.20 ms more in its loader")
		  COST("2000000", "0.02") "stragglers.groups kind=node name=h2 late_count=2 "
					  "rank_count=2\n",
	  NULL,
	  "med: rank 5 is 4.0 % slower than the others (data loader); fixing it saves 2.000 ms per "
	  "step (1.20 ms more in its loader; node h2: 2 of its 2 ranks are slow) [2000000 ns]" },
	/* Where to go: its host, or that which all of them share. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("5", "0.04", "1") "stragglers.causes rank=5 node=h2 cause=slow_clock\n" COST(
		  "2000000", "0.02"),
	  NULL,
	  "med: rank 5 on h2 computes 4.0 % longer than the others (lower clocks); fixing it saves "
	  "2.000 ms per step [2000000 ns]" },
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("5", "0.04", "2") SLOW("6", "0.06", "1") COST("2000000", "0.02")
		  CAUSE("5", "slow_clock", "a") "stragglers.groups kind=node name=h2 late_count=2 "
						"rank_count=2\n",
	  NULL,
	  "med: all 2 ranks on h2 are late, most of all rank 5, which computes 4.0 % longer than "
	  "the others (lower clocks); fixing them saves 2.000 ms per step (ranks 5-6; that one: a) "
	  "[2000000 ns]" },
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("5", "0.04", "2") SLOW("6", "0.06", "1") COST("2000000", "0.02")
		  CAUSE("5", "slow_clock",
			"a") "stragglers.groups kind=node name=h2 late_count=2 rank_count=4\n"
			     "stragglers.groups kind=device name=A100 late_count=2 rank_count=4\n",
	  NULL,
	  "med: 2 of 4 ranks on h2 are late, most of all rank 5, which computes 4.0 % longer than "
	  "the others (lower clocks); fixing them saves 2.000 ms per step (ranks 5-6; that one: a; "
	  "device A100: 2 of its 4 ranks are slow) [2000000 ns]" },
	/* What could not be seen: said with a finding, and instead of none. */
	{ "DIST.STRAGGLER", FIRES,
	  STEPS SLOW("5", "0.04", "1") COST("4000000", "0.04") DOUBT("3 steps are too few"), NULL,
	  "med: rank 5 computes 4.0 % longer than the others; fixing it saves 4.000 ms per step (3 "
	  "steps are too few) [4000000 ns]" },
	{ "DIST.STRAGGLER", SKIPPED, STEPS DOUBT("3 steps are too few to be certain"), NULL,
	  "skipped: 3 steps are too few to be certain" },
	{ "DIST.LOAD_IMBALANCE", FIRES, LOST("0.08") UNEVEN("0.2"), NULL,
	  "med: load imbalance: 8.0 % of compute time is lost waiting for the slowest rank "
	  "(compute varies by 20.0 % across ranks (standard deviation); the slowest is 4.000 ms "
	  "behind the median) [9000000 ns]" },
	{ "DIST.LOAD_IMBALANCE", QUIET, LOST("0.2") UNEVEN("0.1"), NULL, "" },
	/* A straggler explains it. */
	{ "DIST.LOAD_IMBALANCE", QUIET, LOST("0.2") UNEVEN("0.5") SLOW("3", "0.5", "1"), NULL, "" },
	/* Stages of a pipeline are no batches. */
	{ "DIST.LOAD_IMBALANCE", QUIET, LOST("0.2") UNEVEN("0.5") "pipeline.bubble_ratio 0.3\n",
	  NULL, "" },
	/* Half of what ranks differ by, 8 ms, is compute; or it is less. */
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.08") UNEVEN("0.2") "stragglers.skew_ns 8000000\n",
	  NULL, "med: load imbalance" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.08") UNEVEN("0.2") "stragglers.skew_ns 8000001\n",
	  NULL, "" },
	{ "DIST.LOAD_IMBALANCE", FIRES, LOST("0.08") UNEVEN("0.2") GAINS("700000"), NULL,
	  "med: load imbalance: 8.0 % of compute time is lost waiting for the slowest rank "
	  "(compute varies by 20.0 % across ranks (standard deviation); the slowest is 4.000 ms "
	  "behind the median) [700000 ns]" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.05") UNEVEN("0.15"), NULL, "med: load imbalance" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.05") UNEVEN("0.1499"), NULL, "" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.0499") UNEVEN("0.15"), NULL, "" },
	{ "DIST.LOAD_IMBALANCE", CHANGED, LOST("0.05") UNEVEN("0.15"),
	  "DIST.LOAD_IMBALANCE.threshold=0.2", "" },
	{ "DIST.LOAD_IMBALANCE", CHANGED, LOST("0.05") UNEVEN("0.15"),
	  "DIST.LOAD_IMBALANCE.lost=0.06", "" },
	/* Without traces: what the rank with the least spends. */
	{ "DIST.COMM_BOUND", FIRES, COMM("0.5") "distributed.mean_transfer_fraction 0.3\n", NULL,
	  "med: transfer takes 30.0 % of the step (60 % of communication) (waiting for slower "
	  "ranks takes another 20.0 % of the step (40 % of communication)) [60000000 ns]" },
	{ "DIST.COMM_BOUND", QUIET, COMM("0.5") "distributed.mean_transfer_fraction 0.2\n", NULL,
	  "" },
	{ "DIST.COMM_BOUND", QUIET, COMM("0.1"), NULL, "" },
	/* Traces: the wait does not count, and an overlap wins no more than the rest. */
	{ "DIST.COMM_BOUND", FIRES, COMM("0.8") SPLIT("400", "200", "100") STEP_50_MS, NULL,
	  "med: transfer takes 30.0 % of the step (43 % of communication) (waiting for slower "
	  "ranks takes another 40.0 % of the step (57 % of communication)) [15000000 ns]" },
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS "what_if.ideal_overlap_gain_ns 14000000\n",
	  NULL, "med: communication takes 30.0 % of the step [14000000 ns]" },
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS "what_if.ideal_overlap_gain_ns 16000000\n",
	  NULL, "med: communication takes 30.0 % of the step [15000000 ns]" },
	/* Where the ends of collectives decide on the gain, the least of it; else all is a bound. */
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS
	  "what_if.ideal_overlap_gain_ns 14000000\n"
	  "what_if.ideal_overlap_least_ns 4000000\nwhat_if.end_spread_ratio 0.14\n"
	  "! what_if.ideal_overlap_gain_ns apart\n",
	  NULL,
	  "med: communication takes 30.0 % of the step (ideal overlap alone saves at least that: "
	  "members of collectives end 14 % of the step apart, which may change as well) "
	  "[4000000 ns]" },
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS "distributed.missing_rank_count 2\n", NULL,
	  "med: communication takes 30.0 % of the step (waiting for the 2 missing ranks counts as "
	  "transfer) [15000000 ns]" },
	/* The simulation with missing ranks: at most what it wins. */
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS
	  "distributed.missing_rank_count 2\nwhat_if.step_ns 50000000\n"
	  "what_if.ideal_overlap_gain_ns 3000000\nwhat_if.ideal_overlap_least_ns 3000000\n"
	  "! what_if.ideal_overlap_gain_ns bound\n! what_if.ideal_overlap_least_ns bound\n",
	  NULL,
	  "low: communication takes 30.0 % of the step (waiting for the 2 missing ranks counts as "
	  "transfer) [3000000 ns]" },
	{ "DIST.COMM_BOUND", AT, COMM("0.8") HOST_SPLIT("700", "200", "50"), NULL,
	  "med: transfer takes 25.0 % of the step" },
	{ "DIST.COMM_BOUND", AT, COMM("0.8") HOST_SPLIT("700", "200", "49"), NULL, "" },
	{ "DIST.COMM_BOUND", AT, COMM("0.25"), NULL,
	  "med: communication takes 25.0 % of the step [50000000 ns]" },
	{ "DIST.COMM_BOUND", AT, COMM("0.2499"), NULL, "" },
	{ "DIST.COMM_BOUND", AT, COMM("0.45"), NULL, "high: communication" },
	{ "DIST.COMM_BOUND", AT, COMM("0.4499"), NULL, "med: communication" },
	{ "DIST.COMM_BOUND", CHANGED, COMM("0.25"), "DIST.COMM_BOUND.threshold=0.3", "" },
	/* 0.3 of a step of 50 ms. */
	{ "DIST.EXPOSED_COMM", FIRES, EXPOSED("0.3") "step_time.mean_ns 50000000\n", NULL,
	  "high: 30.0 % of device time is exposed communication (40.00 ms of communication in the "
	  "trace, 75.0 % of it overlapped; one rank's trace cannot separate waiting for slower "
	  "ranks from transfer) [15000000 ns]" },
	/* 2 x 1,000,000 ns and 0.5 ms a message: from 25 ms on one has waited. */
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") MESSAGES("25000000", "26000000", "42000000"),
	  NULL,
	  "high: 30.0 % of device time is exposed communication, mostly waiting for other ranks "
	  "(40.00 ms of communication in the trace, 75.0 % of it overlapped; at least 53 % of it "
	  "waits for other ranks: all_reduce of 977 KiB takes up to 25.00 ms)" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") MESSAGES("24999999", "26000000", "42000000"),
	  NULL, "high: 30.0 % of device time is exposed communication (" },
	/* The others are faster than that: 27 less 2 x 2.5 ms, or 22.5 of the longest. */
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") MESSAGES("25000000", "27000000", "45000000"),
	  NULL, "high: 30.0 % of device time is exposed communication, mostly" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") MESSAGES("25000000", "27000000", "45000001"),
	  NULL, "high: 30.0 % of device time is exposed communication (" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") MESSAGES("25000000", "28000000", "45000001"),
	  NULL, "high: 30.0 % of device time is exposed communication, mostly" },
	/* gloo's may lack a core. */
	{ "DIST.EXPOSED_COMM", AT,
	  EXPOSED("0.3") MESSAGES("25000000", "26000000 on_host=yes", "42000000"), NULL,
	  "high: 30.0 % of device time is exposed communication (" },
	{ "DIST.EXPOSED_COMM", FIRES, EXPOSED("0.3"), NULL,
	  "high: 30.0 % of device time is exposed communication (40.00 ms of communication in the "
	  "trace, 75.0 % of it overlapped; one rank's trace cannot separate waiting for slower "
	  "ranks from transfer)" },
	/* The budget beside it says 0.25 of the steps: 0.3 counts from the first device event. */
	{ "DIST.EXPOSED_COMM", FIRES,
	  EXPOSED("0.3") "budget.exposed_comm_total_ns 25\nbudget.wall_total_ns 100\n" STEP_50_MS,
	  NULL,
	  "med: 25.0 % of device time is exposed communication (40.00 ms of communication in the "
	  "trace, 75.0 % of it overlapped; one rank's trace cannot separate waiting for slower "
	  "ranks from transfer) [12500000 ns]" },
	/* Of several ranks a fifth of the communication moves data: 0.3 × 0.2 is 0.06. */
	{ "DIST.EXPOSED_COMM", FIRES,
	  EXPOSED("0.3") COMM("0.5") "distributed.mean_transfer_fraction 0.1\n", NULL,
	  "med: 6.0 % of device time is exposed transfer (40.00 ms of communication in the trace, "
	  "75.0 % of it overlapped; another 24.0 % (80 % of exposed communication) is waiting for "
	  "slower ranks)" },
	/* Traces of all ranks: 2 of 100 wait, 6 do not. */
	{ "DIST.EXPOSED_COMM", FIRES, EXPOSED("0.3") SPLIT("20", "50", "10") STEP_50_MS, NULL,
	  "med: 6.0 % of device time is exposed transfer (40.00 ms of communication in the trace, "
	  "75.0 % of it overlapped; another 2.0 % (25 % of exposed communication) is waiting for "
	  "slower ranks) [3000000 ns]" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") SPLIT("900", "50", "0"), NULL, "med: 5.0 %" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.3") SPLIT("900", "49", "0"), NULL, "" },
	/*
	 * Rank 1 is late: of 100 ns it has 6 of communication exposed and waits for none of it. The
	 * others' 30 of transfer are 24 more. A rank that waits as others do is no reason.
	 */
	{ "DIST.EXPOSED_COMM", FIRES,
	  EXPOSED("0.4") SPLIT("200", "300", "0") STEP_50_MS LATE_RANK("6", "0"), NULL,
	  "med: 6.0 % of device time is exposed transfer (40.00 ms of communication in the trace, "
	  "75.0 % of it overlapped; another 20.0 % (40 % of exposed communication) is waiting for "
	  "slower ranks; another 24.0 % of transfer would be hidden if rank 1 were on time) "
	  "[3000000 ns]" },
	{ "DIST.EXPOSED_COMM", AT,
	  EXPOSED("0.4") SPLIT("200", "300", "0") STEP_50_MS LATE_RANK("4", "0"), NULL, "" },
	{ "DIST.EXPOSED_COMM", AT,
	  EXPOSED("0.4") SPLIT("200", "300", "0") STEP_50_MS LATE_RANK("22", "15"), NULL,
	  "high: 30.0 % of device time is exposed transfer" },
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("200", "700", "0") STEP_50_MS LATE_RANK("30", "0"), NULL,
	  "med: transfer takes 30.0 % of the step (33 % of communication) (waiting for slower "
	  "ranks takes another 20.0 % of the step (22 % of communication); another "
	  "40.0 % of transfer would be hidden if rank 1 were on time) [15000000 ns]" },
	/* In steps of 50 ms overlap wins 1 ms, sending nothing 24; with waiting, that comes first. */
	{ "DIST.COMM_BOUND", FIRES,
	  COMM("0.8") SPLIT("0", "500", "0") STEP_50_MS NETWORK("1000000", "24000000"), NULL,
	  "high: communication takes 50.0 % of the step [24000000 ns]" },
	{ "DIST.COMM_BOUND", AT,
	  COMM("0.8") SPLIT("200", "500", "0") STEP_50_MS NETWORK("1000000", "24000000"), NULL,
	  "low: transfer takes 50.0 % of the step (71 % of communication) (waiting for slower "
	  "ranks "
	  "takes another 20.0 % of the step (29 % of communication)) [1000000 ns]" },
	/* Stages of a pipeline: what they send is another rule's. */
	{ "DIST.EXPOSED_COMM", FIRES,
	  EXPOSED("0.3") SPLIT("0", "60", "300") "pipeline.stall_ratio 0.3\n" STEP_50_MS, NULL,
	  "med: 6.0 % of device time is exposed communication (40.00 ms of communication in the "
	  "trace, 75.0 % of it overlapped; pipeline stages exchange data or wait for it for "
	  "another 30.0 %) [3000000 ns]" },
	{ "DIST.EXPOSED_COMM", AT,
	  EXPOSED("0.3") SPLIT("0", "49", "300") "pipeline.stall_ratio 0.3\n" STEP_50_MS, NULL,
	  "" },
	{ "DIST.EXPOSED_COMM", QUIET, EXPOSED("0.0") "step_time.mean_ns 50000000\n", NULL, "" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.05") "step_time.mean_ns 50000000\n", NULL,
	  "low: 5.0 %" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.0499") "step_time.mean_ns 50000000\n", NULL, "" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.2") "step_time.mean_ns 50000000\n", NULL,
	  "med: 20.0 %" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.1999") "step_time.mean_ns 50000000\n", NULL,
	  "med: 20.0 %" },
	{ "DIST.EXPOSED_COMM", CHANGED, EXPOSED("0.05") "step_time.mean_ns 50000000\n",
	  "DIST.EXPOSED_COMM.threshold=0.1", "" },
	{ "DIST.PIPELINE_BUBBLE", FIRES, BUBBLE("0.45") EXCESS("0.2"), NULL,
	  "high: pipeline stages idle for 45.0 % of the step (20.0 points above the ideal 24.0 %; "
	  "stage 2 idles most)" },
	{ "DIST.PIPELINE_BUBBLE", FIRES, BUBBLE("0.6"), NULL,
	  "high: pipeline stages idle for 60.0 % of the step (stage 2 idles most)" },
	/* Most of it is what filling and draining cost. */
	{ "DIST.PIPELINE_BUBBLE", QUIET, BUBBLE("0.27") EXCESS("0.02"), NULL, "" },
	/* 4 stages with 2 microbatches; 4 of them: 3/7. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  BUBBLE("0.61") "pipeline.ideal_bubble_ratio 0.6\npipeline.excess_ratio 0.01\n", NULL,
	  "med: too few microbatches: pipeline stages idle for 61.0 % of the step, 60.0 % even at "
	  "best (twice as many, half the size: 42.9 % at best)" },
	{ "DIST.PIPELINE_BUBBLE", AT,
	  BUBBLE("0.25") "pipeline.ideal_bubble_ratio 0.2499\npipeline.excess_ratio 0.0\n", NULL,
	  "" },
	{ "DIST.PIPELINE_BUBBLE", AT,
	  BUBBLE("0.25") "pipeline.ideal_bubble_ratio 0.25\npipeline.excess_ratio 0.0\n", NULL,
	  "med: too few microbatches" },
	/* Twice as many: 0.4 of 100 ms are work, then 0.4 of 70. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  BUBBLE("0.61") "pipeline.ideal_bubble_ratio 0.6\npipeline.excess_ratio 0.01\n"
			 "step_time.mean_ns 100000000\n",
	  NULL,
	  "med: too few microbatches: pipeline stages idle for 61.0 % of the step, 60.0 % even at "
	  "best (twice as many, half the size: 42.9 % at best) [30000000 ns]" },
	/* A late rank stands first, and what it costs is its own: of 9 ms 5 are. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  BUBBLE("0.45") EXCESS("0.2") SLOW("5", "0.08", "1")
		  COST("5000000", "0.05") "pipeline.excess_ns_per_step 9000000\n",
	  NULL,
	  "high: pipeline stages idle for 45.0 % of the step (20.0 points above the ideal 24.0 %; "
	  "stage 2 idles most) [4000000 ns]" },
	/* Stages with equal work: none of them is to blame. */
	{ "DIST.PIPELINE_BUBBLE", FIRES,
	  BUBBLE("0.45") EXCESS("0.2") "pipeline.stage_imbalance_ratio 0.009\n", NULL,
	  "high: pipeline stages idle for 45.0 % of the step (20.0 points above the ideal 24.0 "
	  "%)" },
	{ "DIST.PIPELINE_BUBBLE", QUIET, BUBBLE("0.1"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.3") EXCESS("0.05"), NULL, "med: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.3") EXCESS("0.0499"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4") EXCESS("0.15"), NULL, "high: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4") EXCESS("0.1499"), NULL,
	  "med: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.25"), NULL, "med: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.2499"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.45"), NULL, "high: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4499"), NULL, "med: pipeline stages" },
	{ "DIST.PIPELINE_BUBBLE", CHANGED, BUBBLE("0.3") EXCESS("0.05"),
	  "DIST.PIPELINE_BUBBLE.threshold=0.1", "" },
	{ "DIST.PIPELINE_BUBBLE", CHANGED, BUBBLE("0.25"), "DIST.PIPELINE_BUBBLE.bubble=0.3", "" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

#define LATE(cause) STEPS SLOW("5", "0.08", "1") COST("1", "0.02") CAUSE("5", cause, "x")

TEST(advice_is_about_the_cause)
{
	static const struct advice_case advised[] = {
		{ "DIST.STRAGGLER", LATE("slow_clock"), "temperature and power limit" },
		{ "DIST.STRAGGLER", LATE("slow_kernels"), "kernels.by_name" },
		{ "DIST.STRAGGLER", LATE("more_work"), "count tokens instead of samples" },
		{ "DIST.STRAGGLER", LATE("slow_host"), "NUMA binding" },
		{ "DIST.STRAGGLER", LATE("slow_loader"), "what its data loader reads" },
		{ "DIST.STRAGGLER", LATE("sync"), ".item()" },
		{ "DIST.STRAGGLER", LATE("copies"), "pin_memory" },
		{ "DIST.STRAGGLER", LATE("unknown"), "run it on another host" },
		{ "DIST.STRAGGLER", STEPS SLOW("5", "0.08", "1") COST("1", "0.02"),
		  "run it on another host" },
		{ "DIST.EXPOSED_COMM",
		  EXPOSED("0.3") SPLIT("20", "50",
				       "10") "transfers.by_kind kind=all_reduce transfer_ns=50\n"
					     "transfers.by_kind kind=all_to_all transfer_ns=50\n",
		  "with DDP tune bucket_cap_mb" },
		{ "DIST.EXPOSED_COMM",
		  EXPOSED("0.3") SPLIT("20", "50",
				       "10") "transfers.by_kind kind=all_reduce transfer_ns=50\n"
					     "transfers.by_kind kind=all_to_all transfer_ns=51\n",
		  "overlap what experts exchange" },
		{ "DIST.COMM_BOUND",
		  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS
		  "transfers.by_kind kind=all_reduce transfer_ns=50\n"
		  "transfers.by_kind kind=all_gather transfer_ns=26\n"
		  "transfers.by_kind kind=reduce_scatter transfer_ns=26\n",
		  "with FSDP prefetch" },
		/* Sends that nobody divides; those of a known pipeline are not transfer. */
		{ "DIST.COMM_BOUND",
		  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS
		  "transfers.by_kind kind=all_reduce transfer_ns=50\n"
		  "transfers.by_kind kind=send_recv transfer_ns=51\n",
		  "post receives early" },
		{ "DIST.COMM_BOUND",
		  COMM("0.8") SPLIT("0", "300", "0") STEP_50_MS
		  "pipeline.stall_ratio 0.3\npipeline.bubble_ratio 0.4\n"
		  "transfers.by_kind kind=all_reduce transfer_ns=50\n"
		  "transfers.by_kind kind=send_recv transfer_ns=51\n",
		  "reduce gradients behind the backward of the last microbatch" },
		{ "DIST.PIPELINE_BUBBLE", BUBBLE("0.45") EXCESS("0.2"), "move layers" },
		{ "DIST.PIPELINE_BUBBLE",
		  BUBBLE("0.45") EXCESS("0.2") "pipeline.stage_imbalance_ratio 0.01\n",
		  "move layers" },
		{ "DIST.PIPELINE_BUBBLE",
		  BUBBLE("0.45") EXCESS("0.2") "pipeline.stage_imbalance_ratio 0.009\n",
		  "raise the number of microbatches, use 1F1B" },
	};

	check_rule_advice(advised, sizeof(advised) / sizeof(advised[0]));
}
