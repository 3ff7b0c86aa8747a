/* SPDX-License-Identifier: MIT */
/* Rules on what the host does to the device: launching late, waiting, allocating, pausing. */
#include "rule_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/attributes.h"

/* Two steps of 100 ms on one device: a line of n ms in all is n ÷ 200 of the step. */
#define STEPS "step_time.mean_ns 100000000\nbudget.wall_ns 200000000\n"

/* In all `ms` of the 200 the device waits for launches, and for nothing else. */
#define IDLE(ms)                                                                                   \
	STEPS "budget.launch_stall_ns " #ms "000000\nbudget.data_stall_ns 0\n"                     \
	      "budget.sync_stall_ns 0\nbudget.device_gap_ns 0\nbudget.unattributed_ns 0\n"

/* So many calls of cudaMalloc, of 2 ms each, in so many of the 4 steps after the first. */
#define MALLOCS(count, ns, steps)                                                                  \
	"launches.malloc_count 100\nlaunches.steady_malloc_count " #count                          \
	"\nlaunches.steady_malloc_ns " #ns "\nlaunches.steady_free_count 0\n"                      \
	"launches.steady_free_ns 0\nlaunches.steady_step_count 4\n"                                \
	"launches.allocating_step_count " #steps "\n"

/* So many ns of logging and of checkpoints in 10 s of the main thread. */
#define LOGGING(logging, checkpoint)                                                               \
	"python.main_ns 10000000000\npython.logging_ns " #logging                                  \
	"\npython.checkpoint_ns " #checkpoint "\n"

/* Of a step of 200 ms: shares and times of all, and of them the profiler's own. */
#define CALLBACKS(ratio, profiler_ratio, ns, profiler_ns)                                          \
	"callbacks.step_ratio " ratio "\ncallbacks.profiler_ratio " profiler_ratio                 \
	"\ncallbacks.in_step_ns_per_step " #ns "\ncallbacks.profiler_ns_per_step " #profiler_ns    \
	"\n"
#define TOP "callbacks.top_name SpeedMonitor\ncallbacks.top_ns_per_step 9000000\n"

static const struct rule_case cases[] = {
	{ "HOST.LAUNCH_BOUND", FIRES,
	  STEPS "budget.launch_stall_ns 24000000\nlaunches.launches_per_step 2400\n"
		"launches.host_bound_ratio 0.7\n",
	  NULL,
	  "med: for 12.0 % of the step the device waits for the host to launch work (2400 launch "
	  "calls a step; 70 % of the idle time ends with a late launch) [12000000 ns]" },
	{ "HOST.LAUNCH_BOUND", QUIET, STEPS "budget.launch_stall_ns 4000000\n", NULL, "" },
	{ "HOST.LAUNCH_BOUND", AT, STEPS "budget.launch_stall_ns 20000000\n", NULL,
	  "med: for 10.0 % of the step the device waits for the host to launch work [10000000 "
	  "ns]" },
	{ "HOST.LAUNCH_BOUND", AT, STEPS "budget.launch_stall_ns 19999999\n", NULL, "" },
	{ "HOST.LAUNCH_BOUND", AT, STEPS "budget.launch_stall_ns 60000000\n", NULL, "high" },
	{ "HOST.LAUNCH_BOUND", AT, STEPS "budget.launch_stall_ns 59999999\n", NULL, "med" },
	/* A budget of the host alone has no such line. */
	{ "HOST.LAUNCH_BOUND", SKIPPED, STEPS "budget.host.data_ns 1\n", NULL,
	  "skipped: no budget.launch_stall_ns: it needs a trace with device activity and a "
	  "complete step" },

	/* 0.04 + 0.03 of 10 s, so 7 ms of the step of 100 ms. */
	{ "HOST.LOGGING_STALL", FIRES,
	  STEPS LOGGING(400000000, 300000000) "python.by_cause cause=data_loading function=next\n"
					      "python.by_cause cause=logging function=Run.log\n",
	  NULL,
	  "med: logging and checkpoints take 7.0 % of the main thread's time (logging 4.0 %, "
	  "mostly in Run.log; checkpoints 3.0 %) [7000000 ns]" },
	/* A part that is too small is not told; the device idles for 5 ms of the step. */
	{ "HOST.LOGGING_STALL", FIRES, IDLE(10) LOGGING(0, 700000000), NULL,
	  "med: logging and checkpoints take 7.0 % of the main thread's time (checkpoints 7.0 %) "
	  "[5000000 ns]" },
	{ "HOST.LOGGING_STALL", QUIET, LOGGING(100000000, 0), NULL, "" },
	{ "HOST.LOGGING_STALL", QUIET,
	  "python.main_ns 0\npython.logging_ns 0\n"
	  "python.checkpoint_ns 0\n",
	  NULL, "" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(250000000, 250000000), NULL, "med" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(250000000, 249999999), NULL, "" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(0, 2000000000), NULL, "high" },
	{ "HOST.LOGGING_STALL", AT, LOGGING(0, 1999999999), NULL, "med" },

	{ "HOST.CALLBACKS", FIRES, CALLBACKS("0.1", "0.03", 20000000, 6000000) TOP, NULL,
	  "med: callbacks and algorithms take 7.0 % of the step (SpeedMonitor most of it, 9.00 ms "
	  "a step) [14000000 ns]" },
	/* All of it the profiler's own. */
	{ "HOST.CALLBACKS", QUIET, CALLBACKS("0.3", "0.3", 60000000, 60000000), NULL, "" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.05", "0", 10000000, 0), NULL,
	  "med: callbacks and algorithms take 5.0 % of the step [10000000 ns]" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.0499", "0", 9980000, 0), NULL, "" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.2", "0", 40000000, 0), NULL, "high" },
	{ "HOST.CALLBACKS", AT, CALLBACKS("0.1999", "0", 39980000, 0), NULL, "med" },
	{ "HOST.CALLBACKS", SKIPPED, STEPS, NULL,
	  "skipped: no callbacks.step_ratio: it needs a Composer trace (JSONTraceHandler)" },

	{ "SYNC.BLOCKING", FIRES,
	  STEPS "budget.sync_stall_ns 16000000\n"
		"launches.syncs op=aten::_local_scalar_dense call=cudaStreamSynchronize count=12 "
		"total_ns=90000000\n"
		"launches.syncs call=cudaDeviceSynchronize count=1 total_ns=1000000\n",
	  NULL,
	  "med: for 8.0 % of the step the device idles because the host waited for it "
	  "(cudaStreamSynchronize in aten::_local_scalar_dense waits longest: 12 calls, 90.00 ms "
	  "in "
	  "the trace) [8000000 ns]" },
	/* A call that no operator makes. */
	{ "SYNC.BLOCKING", FIRES,
	  STEPS "budget.sync_stall_ns 16000000\n"
		"launches.syncs call=cudaDeviceSynchronize count=2 total_ns=16000000\n",
	  NULL,
	  "med: for 8.0 % of the step the device idles because the host waited for it "
	  "(cudaDeviceSynchronize waits longest: 2 calls, 16.00 ms in the trace) [8000000 ns]" },
	{ "SYNC.BLOCKING", QUIET, STEPS "budget.sync_stall_ns 1000000\n", NULL, "" },
	{ "SYNC.BLOCKING", AT, STEPS "budget.sync_stall_ns 10000000\n", NULL,
	  "med: for 5.0 % of the step the device idles because the host waited for it [5000000 "
	  "ns]" },
	{ "SYNC.BLOCKING", AT, STEPS "budget.sync_stall_ns 9999999\n", NULL, "" },
	{ "SYNC.BLOCKING", AT, STEPS "budget.sync_stall_ns 40000000\n", NULL, "high" },
	{ "SYNC.BLOCKING", AT, STEPS "budget.sync_stall_ns 39999999\n", NULL, "med" },

	/* 12 calls in 4 steps of 2 ms each are 6 ms a step; the device idles for 10. */
	{ "ALLOC.CUDA_MALLOC", FIRES, IDLE(20) MALLOCS(12, 24000000, 4), NULL,
	  "med: 4 of 4 later steps still call cudaMalloc or cudaFree: 6.00 ms a step inside them "
	  "(12 calls allocate, 0 free) [6000000 ns]" },
	/* 12 calls that free of 10 ms each are 30 ms more; the device idles for 10. */
	{ "ALLOC.CUDA_MALLOC", FIRES,
	  IDLE(20) MALLOCS(12, 24000000, 4) "launches.steady_free_count 12\n"
					    "launches.steady_free_ns 120000000\n",
	  NULL,
	  "high: 4 of 4 later steps still call cudaMalloc or cudaFree: 36.00 ms a step inside them "
	  "(12 calls allocate, 12 free; memory goes back to the driver: empty_cache() in the loop, "
	  "or the device is full) [10000000 ns]" },
	{ "ALLOC.CUDA_MALLOC", QUIET, MALLOCS(0, 0, 0), NULL, "" },
	/* All in one step: a longest batch, an evaluation. */
	{ "ALLOC.CUDA_MALLOC", QUIET, IDLE(20) MALLOCS(40, 80000000, 1), NULL, "" },
	/* In half of the steps, and in three of many. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(12, 24000000, 2), NULL, "med: 2 of 4" },
	{ "ALLOC.CUDA_MALLOC", AT,
	  IDLE(20) MALLOCS(20, 40000000, 3) "launches.steady_step_count 20\n", NULL,
	  "low: 3 of 20" },
	{ "ALLOC.CUDA_MALLOC", AT,
	  IDLE(20) MALLOCS(20, 40000000, 2) "launches.steady_step_count 20\n", NULL, "" },
	/* Once a step, in the mean. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 8000000, 3), NULL, "low" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(3, 6000000, 3), NULL, "" },
	{ "ALLOC.CUDA_MALLOC", CHANGED, IDLE(20) MALLOCS(4, 8000000, 3),
	  "ALLOC.CUDA_MALLOC.threshold=1.1", "" },
	/* 10 ms of the 100 of a step; what little there is to win lowers the severity. */
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 40000000, 4), NULL, "high" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 39999996, 4), NULL, "med" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(4, 4000000, 4), NULL, "low" },
	/* Every second tensor goes to the driver: one step is enough to see that. */
	{ "ALLOC.CUDA_MALLOC", AT,
	  "launches.malloc_count 500\nlaunches.malloc_ns 50000000\nlaunches.free_count 498\n"
	  "launches.free_ns 150000000\nlaunches.uncached_ratio 0.5\n"
	  "launches.steady_step_count 0\n",
	  NULL,
	  "med: the caching allocator is bypassed: 50 % of new tensors call cudaMalloc (500 calls "
	  "allocate, 498 free, 200.00 ms inside them)" },
	{ "ALLOC.CUDA_MALLOC", AT, IDLE(20) MALLOCS(0, 0, 0) "launches.uncached_ratio 0.4999\n",
	  NULL, "" },
	{ "ALLOC.CUDA_MALLOC", CHANGED, IDLE(20) MALLOCS(0, 0, 0) "launches.uncached_ratio 0.4\n",
	  "ALLOC.CUDA_MALLOC.bypass=0.4", "med: the caching allocator is bypassed: 40 %" },
	{ "ALLOC.CUDA_MALLOC", SKIPPED, "launches.malloc_count 1\nlaunches.steady_step_count 0\n",
	  NULL, "skipped: no launches.steady_malloc_count: it needs a trace with launch calls" },
	{ "ALLOC.CUDA_MALLOC", SKIPPED, MALLOCS(2, 4, 1) "launches.steady_step_count 1\n", NULL,
	  "skipped: 2 complete steps: it needs 3, as the first fills the cache and one more does "
	  "not show what recurs" },

	/* 0.3 of 10 s, so 3 ms a step; the device idles for 10. */
	{ "GC.PAUSE", FIRES,
	  IDLE(20) "python.gc_ratio 0.03\npython.gc_total_ns 300000000\n"
		   "python.gc_count 2\npython.gc_max_ns 160000000\n",
	  NULL,
	  "med: Python's garbage collector takes 3.0 % of the time (2 pauses, the longest 160.00 "
	  "ms) [3000000 ns]" },
	/* While the device never idles nothing can be won. */
	{ "GC.PAUSE", FIRES, IDLE(0) "python.gc_ratio 0.03\n", NULL,
	  "low: Python's garbage collector takes 3.0 % of the time (0 pauses, the longest 0.00 ms) "
	  "[0 ns]" },
	{ "GC.PAUSE", QUIET, "python.gc_ratio 0\n", NULL, "" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.01\n", NULL, "med" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.009\n", NULL, "" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.1\n", NULL, "high" },
	{ "GC.PAUSE", AT, "python.gc_ratio 0.099\n", NULL, "med" },
	/* Where the trace has no length there is no share of it, and nothing to judge. */
	{ "GC.PAUSE", SKIPPED, "python.gc_total_ns 0\n", NULL,
	  "skipped: no python.gc_ratio: it needs a trace of VizTracer, or --python and a trace "
	  "with "
	  "Python frames" },
};

static void rules_on_the_host(void **state)
{
	(void)state;
	check_rule_cases(cases, TSI_COUNT_OF(cases));
}

/* The first finding of these facts: its rule and the beginning of its advice. */
static void check_first(const char *lines, const char *rule, const char *advice)
{
	struct fact_values facts = fact_values(lines);
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts.analysis, NULL, NULL), TSCOPE_OK);
	assert_true(tscope_diagnosis_finding_count(diagnosis) > 0);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, rule);
	if (strncmp(finding.advice, advice, strlen(advice)) != 0)
		fail_msg("'%s' and not '%s'", finding.advice, advice);
	tscope_diagnosis_free(diagnosis);
	fact_values_free(&facts);
}

#define SYNC_BY(op) STEPS "budget.sync_stall_ns 16000000\nlaunches.syncs " op "count=1 total_ns=1\n"

static void advice_is_for_who_waits(void **state)
{
	(void)state;
	check_first(SYNC_BY("op=aten::_local_scalar_dense "), "SYNC.BLOCKING",
		    "the script reads a number from the device");
	check_first(SYNC_BY("op=aten::copy_ "), "SYNC.BLOCKING", "the script waits for a copy");
	check_first(SYNC_BY("op=aten::nonzero "), "SYNC.BLOCKING", "the size of a result");
	check_first(SYNC_BY("op=my::op "), "SYNC.BLOCKING", "find what waits");
	check_first(SYNC_BY(""), "SYNC.BLOCKING", "find what waits");
}

/* Late launches are why the device idles, and short kernels are why launches are late. */
static void one_cause_is_told_once(void **state)
{
	(void)state;
	struct fact_values facts =
		fact_values(IDLE(50) "opportunities.wall_ns 200000000\nopportunities.step_count 2\n"
				     "opportunities.short_gap_count 900\n"
				     "opportunities.short_gap_ns 40000000\n"
				     "opportunities.short_gap_host_ns 40000000\n");
	struct tscope_diagnosis *diagnosis;

	assert_int_equal(tscope_diagnose(&diagnosis, facts.analysis, NULL, NULL), TSCOPE_OK);
	assert_int_equal(tscope_diagnosis_finding_count(diagnosis), 1);
	struct tscope_finding finding = tscope_diagnosis_finding(diagnosis, 0);
	assert_string_equal(finding.rule->id, "HOST.LAUNCH_BOUND");
	assert_int_equal(finding.gain_ns, 25000000);
	assert_int_equal(finding.also_count, 2);
	assert_string_equal(finding.also[0]->id, "KERNEL.SHORT");
	assert_string_equal(finding.also[1]->id, "GPU.IDLE");
	tscope_diagnosis_free(diagnosis);
	fact_values_free(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_on_the_host),
		cmocka_unit_test(advice_is_for_who_waits),
		cmocka_unit_test(one_cause_is_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
