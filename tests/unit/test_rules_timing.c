/* SPDX-License-Identifier: MIT */
/* TIMING.*: what the times of steps and phases say. */
#include "rule_check.h"

#include "base/attributes.h"
#include "check.h"

#define WAIT(ratio, ns)                                                                            \
	"step_time.mean_ns 100000000\n"                                                            \
	"step_time.phase.data_ratio " ratio "\n"                                                   \
	"step_time.phase.data_ns " ns "\n"
#define PASSES(forward_ns, backward_ns)                                                            \
	"step_time.phase.forward_ns " forward_ns "\n"                                              \
	"step_time.phase.backward_ns " backward_ns "\n"
#define OPTIMIZER(ratio, ns)                                                                       \
	"step_time.mean_ns 100000000\n"                                                            \
	"step_time.phase.optimizer_ratio " ratio "\n"                                              \
	"step_time.phase.optimizer_ns " ns "\n"
#define SPREAD(count, cv, tail)                                                                    \
	"step_time.mean_ns 110000000\n"                                                            \
	"step_time.p50_ns 100000000\n"                                                             \
	"step_time.count " count "\n"                                                              \
	"step_time.cv " cv "\n"                                                                    \
	"step_time.p95_p50_ratio " tail "\n"
#define CHECKPOINTED "operators.by_name name=CheckpointFunctionBackward count=6\n"
#define UNSTEADY(ns)                                                                               \
	"budget.host.backward_total_ns 1\n"                                                        \
	"operators.by_name name=aten::mm step_deviation_ns=40000000\n"                             \
	"operators.by_name name=aten::sum step_deviation_ns=" ns "\n"
#define MEDIAN(ns) "step_time.p50_ns " ns "\n"

static const struct rule_case cases[] = {
	{ "TIMING.DATALOADER_BOUND", FIRES, WAIT("0.5", "50000000"), NULL,
	  "high: waiting for data takes 50.0 % of the step [50000000 ns]" },
	{ "TIMING.DATALOADER_BOUND", QUIET, WAIT("0.1", "10000000"), NULL, "" },
	/* A trace shows how long the device idles meanwhile: the phase does not count. */
	{ "TIMING.DATALOADER_BOUND", FIRES, WAIT("0.5", "50000000") "idle.data_ns 8000000\n", NULL,
	  "med: the device waits for the data loader for 8.0 % of the step "
	  "[8000000 ns]" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.5", "50000000") "idle.data_ns 5000000\n", NULL,
	  "med: the device" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.5", "50000000") "idle.data_ns 4999999\n", NULL,
	  "" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.25", "25000000"), NULL,
	  "med: waiting for data takes 25.0 % of the step" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.2499", "24990000"), NULL, "" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.4", "40000000"), NULL, "high: waiting" },
	{ "TIMING.DATALOADER_BOUND", AT, WAIT("0.3999", "39990000"), NULL, "med: waiting" },
	{ "TIMING.DATALOADER_BOUND", CHANGED, WAIT("0.25", "25000000"),
	  "TIMING.DATALOADER_BOUND.threshold=0.26", "" },
	{ "TIMING.DATALOADER_BOUND", CHANGED, WAIT("0.25", "25000000"),
	  "TIMING.DATALOADER_BOUND.high=0.25", "high: waiting" },
	{ "TIMING.DATALOADER_BOUND", CHANGED, WAIT("0.25", "25000000"),
	  "TIMING.DATALOADER_BOUND=low", "low: waiting" },
	{ "TIMING.BACKWARD_HEAVY", FIRES, PASSES("20000000", "80000000"), NULL,
	  "high: backward takes 4.0 times as long as forward (80.00 ms against 20.00 ms per step; "
	  "a ratio of about 2 is usual)" },
	{ "TIMING.BACKWARD_HEAVY", QUIET, PASSES("20000000", "40000000"), NULL, "" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "50000000"), NULL,
	  "med: backward takes 2.5 times" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "49999999"), NULL, "" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "70000000"), NULL,
	  "high: backward takes 3.5 times" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "69999999"), NULL,
	  "med: backward takes 3.5 times" },
	/* Checkpointing computes forward twice: 3 is usual, it fires from 3.5 on. */
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "69999999") CHECKPOINTED, NULL, "" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "70000000") CHECKPOINTED, NULL,
	  "high: backward takes 3.5 times as long as forward (70.00 ms against 20.00 ms per step; "
	  "a ratio of about 3 is usual with activation checkpointing)" },
	{ "TIMING.BACKWARD_HEAVY", SKIPPED,
	  PASSES("20000000", "80000000") "integrity.verdict damaged\n", NULL,
	  "skipped: the trace is damaged: parts of either may be missing" },
	{ "TIMING.BACKWARD_HEAVY", CHANGED, PASSES("20000000", "50000000"),
	  "TIMING.BACKWARD_HEAVY.threshold=2.6", "" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("2000000", "20000000"), NULL,
	  "high: backward takes 10.0" },
	{ "TIMING.BACKWARD_HEAVY", SKIPPED, PASSES("2000000", "20000001"), NULL,
	  "skipped: backward takes 10 times as long as forward: most forward work is in no phase" },
	{ "TIMING.BACKWARD_HEAVY", FIRES, PASSES("20000000", "80000000") "budget.wall_total_ns 1\n",
	  NULL,
	  "low: backward takes 4.0 times as long as forward (80.00 ms against 20.00 ms per step; a "
	  "ratio of about 2 is usual)" },
	/* Without a device: operators that vary by 30 and 40 ms, hence by 50, of 100. */
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "100000000") UNSTEADY("30000000"), NULL,
	  "skipped: the same operators take very different times from step to step, as where more "
	  "threads run than there are cores" },
	{ "TIMING.BACKWARD_HEAVY", AT, PASSES("20000000", "100000000") UNSTEADY("29999999"), NULL,
	  "high: backward takes 5.0" },
	{ "TIMING.BACKWARD_HEAVY", SKIPPED, PASSES("0", "50000000"), NULL,
	  "skipped: no step with a known forward and backward time" },
	{ "TIMING.BACKWARD_HEAVY", SKIPPED, PASSES("20000000", "0"), NULL,
	  "skipped: no step with a known forward and backward time" },
	{ "TIMING.OPTIMIZER_HEAVY", FIRES, OPTIMIZER("0.5", "50000000"), NULL,
	  "low: the optimizer takes 50.0 % of the step (50.00 ms of a step of 100.0 ms)" },
	{ "TIMING.OPTIMIZER_HEAVY", SKIPPED,
	  OPTIMIZER("0.5", "50000000") "steps.boundary train_batch\n", NULL,
	  "skipped: Composer marks no optimizer: the phase is what a batch holds besides forward "
	  "and "
	  "backward" },
	{ "TIMING.OPTIMIZER_HEAVY", QUIET, OPTIMIZER("0.05", "5000000"), NULL, "" },
	{ "TIMING.OPTIMIZER_HEAVY", AT, OPTIMIZER("0.15", "15000000"), NULL,
	  "low: the optimizer takes 15.0 % of the step" },
	{ "TIMING.OPTIMIZER_HEAVY", AT, OPTIMIZER("0.1499", "14990000"), NULL, "" },
	{ "TIMING.OPTIMIZER_HEAVY", CHANGED, OPTIMIZER("0.15", "15000000"),
	  "TIMING.OPTIMIZER_HEAVY.threshold=0.2", "" },
	{ "TIMING.JITTER", FIRES, SPREAD("100", "0.6", "2.0"), NULL,
	  "low: step time varies: p95 is 2.00 times the median (100 steps) [10000000 ns]" },
	{ "TIMING.JITTER", QUIET, SPREAD("100", "0.1", "1.1"), NULL, "" },
	/* Either of both is enough, from 10 steps on. */
	{ "TIMING.JITTER", AT, SPREAD("10", "0.5", "1.0"), NULL, "low: step time varies" },
	{ "TIMING.JITTER", AT, SPREAD("10", "0.1", "1.5"), NULL, "low: step time varies" },
	{ "TIMING.JITTER", AT, SPREAD("10", "0.4999", "1.4999"), NULL, "" },
	{ "TIMING.JITTER", SKIPPED, SPREAD("9", "0.9", "9.0"), NULL,
	  "skipped: 9 steps; it needs 10" },
	{ "TIMING.JITTER", CHANGED, SPREAD("9", "0.9", "9.0"), "TIMING.JITTER.steps=9",
	  "low: step time varies" },
	{ "TIMING.JITTER", CHANGED, SPREAD("10", "0.5", "1.0"), "TIMING.JITTER.threshold=0.6", "" },
	{ "TIMING.JITTER", CHANGED, SPREAD("10", "0.1", "1.5"), "TIMING.JITTER.tail=1.6", "" },
	/* The mean is 100 ms above the median: 500 ms in one of 5 steps. */
	{ "TIMING.JITTER", FIRES,
	  SPREAD("5", "2.0", "9.0") MEDIAN("10000000") "step_time.max_ns 510000000\n", NULL,
	  "low: one of 5 steps takes 510.0 ms, the median 10.00 ms [100000000 ns]" },
	{ "TIMING.JITTER", SKIPPED,
	  SPREAD("3", "2.0", "9.0") MEDIAN("10000000") "step_time.max_ns 510000000\n", NULL,
	  "skipped: 3 steps; it needs 10" },
	/* Three times the median: a step of 30 ms, but its 4 ms are no tenth of 110 ms. */
	{ "TIMING.JITTER", SKIPPED,
	  SPREAD("5", "2.0", "9.0") MEDIAN("10000000") "step_time.max_ns 30000000\n", NULL,
	  "skipped: 5 steps; it needs 10" },
	/* Half of the excess of 100 ms: other steps are slow, too. */
	{ "TIMING.JITTER", SKIPPED,
	  SPREAD("5", "2.0", "9.0") MEDIAN("10000000") "step_time.max_ns 260000000\n", NULL,
	  "skipped: 5 steps; it needs 10" },
	/* The host needed 20 ms for the last step, whose 510 end with the device's work. */
	{ "TIMING.JITTER", SKIPPED,
	  SPREAD("5", "2.0", "9.0")
		  MEDIAN("10000000") "step_time.max_ns 510000000\n"
				     "steps.list dur_ns=9000000 wall_ns=10000000\n"
				     "steps.list dur_ns=20000000 wall_ns=510000000\n",
	  NULL,
	  "skipped: the host runs ahead: the last step holds what the device does for several" },
	{ "TIMING.JITTER", AT,
	  SPREAD("5", "2.0", "9.0")
		  MEDIAN("10000000") "step_time.max_ns 510000000\n"
				     "steps.list dur_ns=30000000 wall_ns=510000000\n",
	  NULL, "low: one of 5 steps" },
	/* Nothing to win where the mean is not above the median. */
	{ "TIMING.JITTER", FIRES, SPREAD("10", "0.1", "1.5") MEDIAN("100000000"), NULL,
	  "low: step time varies: p95 is 1.50 times the median (10 steps)" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

#define LOADER(name)                                                                               \
	WAIT("0.5", "50000000")                                                                    \
	"idle.data_ns 8000000\n"                                                                   \
	"idle.culprits cause=data ns_per_step=8000000 name='enumerate(DataLoader)#" name "'\n"

TEST(advice_follows_the_loader)
{
	static const struct advice_case advised[] = {
		{ "TIMING.DATALOADER_BOUND", LOADER("_SingleProcessDataLoaderIter.__next__"),
		  "has no workers" },
		{ "TIMING.DATALOADER_BOUND", LOADER("_MultiProcessingDataLoaderIter.__next__"),
		  "raise num_workers" },
	};

	check_rule_advice(advised, TSI_COUNT_OF(advised));
}
