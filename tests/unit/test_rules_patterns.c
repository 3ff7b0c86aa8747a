/* SPDX-License-Identifier: MIT */
/* Rules on patterns of operators. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

/* Two steps of 100 ms, in which the device idles for 30 ms each: n ms in all are n ÷ 200. */
#define STEPS                                                                                      \
	"step_time.mean_ns 100000000\nidle.total_ns 30000000\n"                                    \
	"patterns.step_count 2\npatterns.wall_total_ns 200000000\n"
#define BIASES(count) STEPS "patterns.conv_bias_count " #count "\n"
#define TENSORS(ms)                                                                                \
	STEPS "patterns.host_tensor_count 6\npatterns.host_tensor_total_ns " #ms "000000\n"
#define LOOPS(ms) STEPS "patterns.loop_count 2000\npatterns.loop_total_ns " #ms "000000\n"
#define COPIES(count, ms)                                                                          \
	STEPS "patterns.data_parallel_count " #count "\npatterns.data_parallel_total_ns " #ms      \
	      "000000\n"

static const struct rule_case cases[] = {
	{ "KERNEL.CONV_BIAS", FIRES, BIASES(40), NULL,
	  "low: 20 convolutions per step add a bias right before a batch norm" },
	{ "KERNEL.CONV_BIAS", QUIET, BIASES(0), NULL, "" },
	{ "KERNEL.CONV_BIAS", AT, BIASES(2), NULL, "low" },
	{ "KERNEL.CONV_BIAS", AT, BIASES(1), NULL, "" },

	{ "COPY.HOST_TENSOR", FIRES, TENSORS(16), NULL,
	  "med: filling tensors on the host and copying them takes 8.0 % of the step (3.0 tensors "
	  "per step) [8000000 ns]" },
	{ "COPY.HOST_TENSOR", QUIET, TENSORS(0), NULL, "" },
	{ "COPY.HOST_TENSOR", AT, TENSORS(2), NULL, "low" },
	{ "COPY.HOST_TENSOR", AT, TENSORS(1), NULL, "" },
	{ "COPY.HOST_TENSOR", AT, TENSORS(40), NULL, "high" },
	{ "COPY.HOST_TENSOR", AT, TENSORS(39), NULL, "med" },

	/* The device waits for 30 ms of 40: no more is won. */
	{ "HOST.LOOP_INDEXING", FIRES, LOOPS(80), NULL,
	  "high: loops that index a tensor take 40.0 % of the step on the host (1000 iterations "
	  "per step) [30000000 ns]" },
	{ "HOST.LOOP_INDEXING", QUIET, LOOPS(0), NULL, "" },
	{ "HOST.LOOP_INDEXING", AT, LOOPS(10), NULL, "low" },
	{ "HOST.LOOP_INDEXING", AT, LOOPS(9), NULL, "" },
	{ "HOST.LOOP_INDEXING", AT, LOOPS(58), NULL, "high" },
	{ "HOST.LOOP_INDEXING", AT, LOOPS(40), "HOST.LOOP_INDEXING.high=0.21", "med" },

	{ "DIST.DATA_PARALLEL", FIRES, COPIES(16, 50), NULL,
	  "high: torch.nn.DataParallel: one process drives several devices (it scatters, "
	  "broadcasts and gathers 8 times per step, which takes the host 25.0 % of it) [25000000 "
	  "ns]" },
	{ "DIST.DATA_PARALLEL", QUIET, COPIES(0, 0), NULL, "" },
	{ "DIST.DATA_PARALLEL", AT, COPIES(2, 12), NULL, "med" },
	{ "DIST.DATA_PARALLEL", AT, COPIES(1, 12), NULL, "" },
};

TEST(rules_on_patterns)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}
