/* SPDX-License-Identifier: MIT */
/* DIST.*: what many ranks do to each other. */
#include "rule_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define LOST(ratio)                                                                                \
	"distributed.n_steps 60\n"                                                                 \
	"distributed.world_size 4\n"                                                               \
	"distributed.wall_lost_ns_per_step 9000000\n"                                              \
	"distributed.wall_frac_lost_to_imbalance " ratio "\n"
#define STRAGGLER_3(slowdown)                                                                      \
	"distributed.straggler rank=3 slowest_fraction=0.95 straggler_z=12.5 "                     \
	"rel_slowdown=" slowdown "\n"
#define SLOW(rank, excess) "distributed.slow_ranks rank=" rank " excess_ratio=" excess "\n"
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
	"pipeline.ideal_bubble_ratio 0.25\n"                                                       \
	"pipeline.excess_ratio " ratio "\n"

static const struct rule_case cases[] = {
	{ "DIST.STRAGGLER", FIRES, LOST("0.05") STRAGGLER_3("0.3"), NULL,
	  "high: rank 3 is 30.0 % slower than the median rank (the slowest in 95.0 % of 60 steps, "
	  "by chance 25.0 % (z 12.5); 5.0 % of the slowest rank's compute is waited for by the "
	  "others) [9000000 ns]" },
	{ "DIST.STRAGGLER", FIRES, LOST("0.02") SLOW("5", "0.021"), NULL,
	  "med: rank 5 is 2.1 % slower than the others (2.0 % of the slowest rank's compute is "
	  "waited for by the others) [9000000 ns]" },
	{ "DIST.STRAGGLER", FIRES, LOST("0.05") SLOW("2", "0.06") SLOW("5", "0.08"), NULL,
	  "med: 2 ranks are slower than the others, rank 5 most: by 8.0 %" },
	{ "DIST.STRAGGLER", FIRES,
	  LOST("0.05") STRAGGLER_3("0.06") SLOW("2", "0.06") SLOW("3", "0.08"), NULL,
	  "med: 2 ranks are slower than the others, rank 3 most: by 8.0 % (the slowest in 95.0 %" },
	/* The same rank by either rule. */
	{ "DIST.STRAGGLER", FIRES, LOST("0.05") STRAGGLER_3("0.07") SLOW("3", "0.08"), NULL,
	  "med: rank 3 is 8.0 % slower than the others (the slowest in 95.0 %" },
	{ "DIST.STRAGGLER", QUIET, LOST("0.5"), NULL, "" },
	/* 0.10 of the wall is lost, or 0.25 slower. */
	{ "DIST.STRAGGLER", AT, LOST("0.1") STRAGGLER_3("0.05"), NULL, "high: rank 3" },
	{ "DIST.STRAGGLER", AT, LOST("0.0999") STRAGGLER_3("0.2499"), NULL, "med: rank 3" },
	{ "DIST.STRAGGLER", AT, LOST("0.0999") STRAGGLER_3("0.25"), NULL, "high: rank 3" },
	{ "DIST.STRAGGLER", AT, LOST("0.0999") SLOW("5", "0.25"), NULL, "high: rank 5" },
	{ "DIST.STRAGGLER", AT, LOST("0.02") SLOW("5", "0.01"), NULL,
	  "med: rank 5 is 1.0 % slower" },
	{ "DIST.STRAGGLER", AT, LOST("0.02") SLOW("5", "0.0099"), NULL, "" },
	{ "DIST.STRAGGLER", CHANGED, LOST("0.02") SLOW("5", "0.021") SLOW("6", "0.06"),
	  "DIST.STRAGGLER.threshold=0.05", "med: rank 6 is 6.0 % slower" },
	/* pytscope's own straggler is not subject to it. */
	{ "DIST.STRAGGLER", CHANGED, LOST("0.02") STRAGGLER_3("0.06"),
	  "DIST.STRAGGLER.threshold=0.5", "med: rank 3" },
	{ "DIST.STRAGGLER", CHANGED, LOST("0.02") STRAGGLER_3("0.06"), "DIST.STRAGGLER.lost=0.02",
	  "high: rank 3" },
	{ "DIST.LOAD_IMBALANCE", FIRES, LOST("0.08") UNEVEN("0.2"), NULL,
	  "med: uneven work among ranks costs 8.0 % of their compute (compute varies by 20.0 % of "
	  "its mean from rank to rank; the slowest is 4.00 ms behind the median) [9000000 ns]" },
	{ "DIST.LOAD_IMBALANCE", QUIET, LOST("0.2") UNEVEN("0.1"), NULL, "" },
	/* A straggler explains it. */
	{ "DIST.LOAD_IMBALANCE", QUIET, LOST("0.2") UNEVEN("0.5") STRAGGLER_3("0.5"), NULL, "" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.05") UNEVEN("0.15"), NULL, "med: uneven work" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.05") UNEVEN("0.1499"), NULL, "" },
	{ "DIST.LOAD_IMBALANCE", AT, LOST("0.0499") UNEVEN("0.15"), NULL, "" },
	{ "DIST.LOAD_IMBALANCE", CHANGED, LOST("0.05") UNEVEN("0.15"),
	  "DIST.LOAD_IMBALANCE.threshold=0.2", "" },
	{ "DIST.LOAD_IMBALANCE", CHANGED, LOST("0.05") UNEVEN("0.15"),
	  "DIST.LOAD_IMBALANCE.lost=0.06", "" },
	{ "DIST.COMM_BOUND", FIRES, COMM("0.5") "distributed.mean_transfer_fraction 0.3\n", NULL,
	  "high: communication takes 50.0 % of the step (100.00 ms of 200.00 ms; 30.0 % without "
	  "the wait for slower ranks) [60000000 ns]" },
	{ "DIST.COMM_BOUND", QUIET, COMM("0.1"), NULL, "" },
	{ "DIST.COMM_BOUND", AT, COMM("0.25"), NULL,
	  "med: communication takes 25.0 % of the step (50.00 ms of 200.00 ms) [50000000 ns]" },
	{ "DIST.COMM_BOUND", AT, COMM("0.2499"), NULL, "" },
	{ "DIST.COMM_BOUND", AT, COMM("0.45"), NULL, "high: communication" },
	{ "DIST.COMM_BOUND", AT, COMM("0.4499"), NULL, "med: communication" },
	{ "DIST.COMM_BOUND", CHANGED, COMM("0.25"), "DIST.COMM_BOUND.threshold=0.3", "" },
	/* 0.3 of a step of 50 ms. */
	{ "DIST.EXPOSED_COMM", FIRES, EXPOSED("0.3") "step_time.mean_ns 50000000\n", NULL,
	  "high: for 30.0 % of the time the device only communicates (40.00 ms of communication in "
	  "the trace, 75.0 % of it behind compute) [15000000 ns]" },
	{ "DIST.EXPOSED_COMM", FIRES, EXPOSED("0.3"), NULL,
	  "high: for 30.0 % of the time the device only communicates (40.00 ms of communication in "
	  "the trace, 75.0 % of it behind compute)" },
	/* Of several ranks a fifth of the communication moves data: 0.3 × 0.2 is 0.06. */
	{ "DIST.EXPOSED_COMM", FIRES,
	  EXPOSED("0.3") COMM("0.5") "distributed.mean_transfer_fraction 0.1\n", NULL,
	  "med: for 6.0 % of the time the device only communicates (40.00 ms of communication in "
	  "the "
	  "trace, 75.0 % of it behind compute; for a further 24.0 % it waits for slower ranks)" },
	{ "DIST.EXPOSED_COMM", QUIET, EXPOSED("0.0") "step_time.mean_ns 50000000\n", NULL, "" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.05") "step_time.mean_ns 50000000\n", NULL,
	  "med: for 5.0 %" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.0499") "step_time.mean_ns 50000000\n", NULL, "" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.2") "step_time.mean_ns 50000000\n", NULL,
	  "high: for 20.0 %" },
	{ "DIST.EXPOSED_COMM", AT, EXPOSED("0.1999") "step_time.mean_ns 50000000\n", NULL,
	  "med: for 20.0 %" },
	{ "DIST.EXPOSED_COMM", CHANGED, EXPOSED("0.05") "step_time.mean_ns 50000000\n",
	  "DIST.EXPOSED_COMM.threshold=0.1", "" },
	{ "DIST.PIPELINE_BUBBLE", FIRES, BUBBLE("0.45") EXCESS("0.2"), NULL,
	  "high: the stages of the pipeline idle for 45.0 % of the step (20.0 points more than the "
	  "ideal 25.0 %; most in stage 2)" },
	{ "DIST.PIPELINE_BUBBLE", FIRES, BUBBLE("0.6"), NULL,
	  "high: the stages of the pipeline idle for 60.0 % of the step (most in stage 2)" },
	/* Most of it is what filling and draining cost. */
	{ "DIST.PIPELINE_BUBBLE", QUIET, BUBBLE("0.27") EXCESS("0.02"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", QUIET, BUBBLE("0.1"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.3") EXCESS("0.05"), NULL, "med: the stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.3") EXCESS("0.0499"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4") EXCESS("0.15"), NULL, "high: the stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4") EXCESS("0.1499"), NULL, "med: the stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.25"), NULL, "med: the stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.2499"), NULL, "" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.45"), NULL, "high: the stages" },
	{ "DIST.PIPELINE_BUBBLE", AT, BUBBLE("0.4499"), NULL, "med: the stages" },
	{ "DIST.PIPELINE_BUBBLE", CHANGED, BUBBLE("0.3") EXCESS("0.05"),
	  "DIST.PIPELINE_BUBBLE.threshold=0.1", "" },
	{ "DIST.PIPELINE_BUBBLE", CHANGED, BUBBLE("0.25"), "DIST.PIPELINE_BUBBLE.bubble=0.3", "" },
};

static void rules_say_what_they_should(void **state)
{
	(void)state;
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_say_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
