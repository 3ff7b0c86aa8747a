/* SPDX-License-Identifier: MIT */
/* SERVING.*, and what all rules advise who serves with an inference engine. */
#include "rule_check.h"

#include <string.h>

#include "check.h"

#define GAP(ratio)                                                                                 \
	"inference.host_gap_ratio " ratio "\ninference.host_gap_ns 6000000\n"                      \
	"step_time.mean_ns 26000000\n"
#define PART(part, ratio) "inference.host.part " part "\ninference.host.part_ratio " ratio "\n"
#define MISS(count, idle)                                                                          \
	"inference.graph_miss_count " count "\ninference.graph_miss_idle_ns " idle "\n"            \
	"inference.miss_min_requests 65\nstep_time.mean_ns 20000000\n"
#define DELAY(ratio)                                                                               \
	"inference.prefill_delay_ratio " ratio "\ninference.clear_itl_p50_ns 20000000\n"           \
	"inference.delayed_itl_p50_ns 120000000\ninference.delayed_count 7\n"

#define WAIT(ns)                                                                                   \
	"idle.culprits cause=python kind=wait name='queue.py(154): get' ns_per_step=" ns "\n"

/* Of 100 ms of a device, in 10 iterations. */
#define KERNEL(name, kind, ns)                                                                     \
	"inference.iteration_count 10\ndevice_busy.span_ns 100000000\n"                            \
	"step_time.mean_ns 10000000\nkernels.by_name name=" name " kind=" kind " counted_ns=" ns   \
	"\n"

static const struct rule_case cases[] = {
	{ "SERVING.HOST_GAP", FIRES, GAP("0.23") "idle.python_ns 5000000\nidle.sync_ns 1000000\n",
	  NULL,
	  "high: the device idles between iterations for 23.0 % of the time, waiting for the "
	  "engine's host (6.000 ms before each iteration) [6000000 ns]" },
	/* Of 8 ms of host causes 6 are between iterations. */
	{ "SERVING.HOST_GAP", FIRES,
	  GAP("0.23") "idle.python_ns 6000000\nidle.op_overhead_ns 2000000\n", NULL,
	  "high: the device idles between iterations for 23.0 % of the time, waiting for the "
	  "engine's host (6.000 ms before each iteration) [6000000 ns]" },
	{ "SERVING.HOST_GAP", AT, GAP("0.10"), NULL,
	  "high: the device idles between iterations for 10.0 % of the time, waiting for the "
	  "engine's host (6.000 ms before each iteration)" },
	{ "SERVING.HOST_GAP", FIRES, GAP("0.23") PART("sampling", "0.6"), NULL,
	  "high: the device idles between iterations for 23.0 % of the time, waiting for the "
	  "engine's host (6.000 ms before each iteration; 60 % of it sampling)" },
	{ "SERVING.HOST_GAP", QUIET, GAP("0.099"), NULL, "" },
	{ "SERVING.HOST_GAP", QUIET, GAP("0.23") "inference.diffusion.count 2\n", NULL, "" },
	/* Three quarters of 13 ms: the engine has no request. Of a worker the scheduler does. */
	{ "SERVING.HOST_GAP", AT, GAP("0.5") WAIT("9750000"), NULL, "" },
	{ "SERVING.HOST_GAP", AT, GAP("0.5") WAIT("9749999"), NULL, "high: the device idles" },
	{ "SERVING.HOST_GAP", AT,
	  GAP("0.5") WAIT("9750000") PART("waiting for the scheduler", "0.6"), NULL,
	  "high: the device idles" },
	{ "SERVING.GRAPH_MISSED", FIRES, MISS("40", "3000000"), NULL,
	  "med: no decode iteration replays a graph, and the device waits for launches (the device "
	  "waits 3.000 ms per iteration for the host (15.0 %)) [3000000 ns]" },
	{ "SERVING.GRAPH_MISSED", FIRES, MISS("40", "3000000") "inference.graph_max_requests 64\n",
	  NULL,
	  "med: no graph for batches above 64 requests: 40 iterations launch kernel by kernel" },
	{ "SERVING.GRAPH_MISSED", FIRES, MISS("40", "3000000") "inference.graph_max_requests 128\n",
	  NULL, "med: 40 decode iterations miss the graphs and launch kernel by kernel" },
	{ "SERVING.GRAPH_MISSED", AT, MISS("1", "1000000"), NULL, "med: no decode iteration" },
	{ "SERVING.GRAPH_MISSED", QUIET, MISS("1", "900000"), NULL, "" },
	{ "SERVING.GRAPH_MISSED", QUIET, MISS("0", "0"), NULL, "" },
	/* Of 10 ms of launch stalls an iteration 8 are waits, so no more than 2 are launches. */
	{ "SERVING.GRAPH_MISSED", FIRES,
	  MISS("40", "3000000") WAIT("8000000") "budget.launch_stall_total_ns 20000000\n"
						"budget.step_count 2\n",
	  NULL,
	  "med: no decode iteration replays a graph, and the device waits for launches (the device "
	  "waits 2.000 ms per iteration for the host (10.0 %)) [2000000 ns]" },
	{ "SERVING.PREFILL", FIRES, DELAY("0.33"), NULL,
	  "high: prompts stall decoding: the next token takes 120.0 ms behind a prompt, 20.00 ms "
	  "otherwise (7 intervals with a prompt cost 33.0 % of the time between tokens)" },
	{ "SERVING.PREFILL", AT, DELAY("0.10"), NULL, "med: prompts stall decoding" },
	{ "SERVING.PREFILL", AT, DELAY("0.30"), NULL, "high: prompts stall decoding" },
	{ "SERVING.PREFILL", QUIET, DELAY("0.09"), NULL, "" },
	{ "SERVING.DEQUANTIZE", FIRES, KERNEL("awq::dequantize_weights", "quantize", "25000000"),
	  NULL,
	  "high: dequantization kernels take 25.0 % of device time: products run on expanded "
	  "weights (2.500 ms per iteration; most in awq::dequantize_weights) [2500000 ns]" },
	{ "SERVING.DEQUANTIZE", AT, KERNEL("DequantizeBlockwise", "quantize", "5000000"), NULL,
	  "med: dequantization kernels take 5.0 % of device time" },
	{ "SERVING.DEQUANTIZE", AT, KERNEL("DequantizeBlockwise", "quantize", "20000000"), NULL,
	  "high: dequantization kernels take 20.0 % of device time" },
	{ "SERVING.DEQUANTIZE", QUIET, KERNEL("awq::dequantize_weights", "quantize", "4900000"),
	  NULL, "" },
	/* Activations are quantized for fp8 products; a product dequantizes within. */
	{ "SERVING.DEQUANTIZE", QUIET, KERNEL("scaled_fp8_quant_kernel", "quantize", "25000000"),
	  NULL, "" },
	{ "SERVING.DEQUANTIZE", QUIET, KERNEL("gemm_dequant_fused", "gemm", "25000000"), NULL, "" },
	/* Reports that were changed by hand: no division by zero. */
	{ "SERVING.DEQUANTIZE", QUIET,
	  "inference.iteration_count 0\ndevice_busy.span_ns 9\n"
	  "kernels.by_name name=awq::dequantize_weights kind=quantize counted_ns=9\n",
	  NULL, "" },
	{ "SERVING.DEQUANTIZE", QUIET,
	  "inference.iteration_count 1\ndevice_busy.span_ns 0\n"
	  "kernels.by_name name=awq::dequantize_weights kind=quantize counted_ns=9\n",
	  NULL, "" },
};

TEST(rules_say_what_they_should)
{
	check_rule_cases(cases, sizeof(cases) / sizeof(cases[0]));
}

static const struct advice_case advices[] = {
	{ "SERVING.GRAPH_MISSED", MISS("40", "3000000"), "--enforce-eager" },
	{ "SERVING.GRAPH_MISSED", MISS("40", "3000000") "inference.graph_max_requests 64\n",
	  "--cuda-graph-max-bs" },
	{ "SERVING.HOST_GAP", GAP("0.23"), "SGLang without --disable-overlap-schedule); do more" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("scheduling", "0.6"), "--scheduler-recv-interval" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("input preparation", "0.6"),
	  "disable_overlap_scheduler" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("launching the model", "0.6"), "--enforce-eager" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("sampling", "0.6"), "--sampling-backend" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("output processing", "0.6"), "--stream-interval" },
	{ "SERVING.HOST_GAP", GAP("0.23") PART("waiting for the scheduler", "0.6"),
	  "its own work is in its process" },
	{ "HOST.PYTHON",
	  "idle.python_ns 30000\nstep_time.mean_ns 100000\nsteps.boundary iteration\n",
	  "--async-scheduling" },
	{ "HOST.PYTHON", "idle.python_ns 30000\nstep_time.mean_ns 100000\n",
	  "data loader's workers" },
	{ "HOST.PYTHON",
	  "idle.python_ns 30000\nstep_time.mean_ns 100000\nsteps.workload inference\n",
	  "prepare the next request" },
	{ "HOST.PYTHON",
	  "idle.python_ns 30000\nstep_time.mean_ns 100000\nsteps.workload inference\n"
	  "steps.boundary iteration\ninference.diffusion.count 2\n",
	  "prepare the next request" },
	{ "HOST.LAUNCH_BOUND",
	  "idle.op_overhead_ns 30000\nidle.launch_call_ns 0\nidle.start_latency_ns 0\n"
	  "step_time.mean_ns 100000\nsteps.boundary iteration\n",
	  "--disable-cuda-graph" },
};

TEST(advice_fits_who_asks)
{
	check_rule_advice(advices, sizeof(advices) / sizeof(advices[0]));
}

TEST(inference_is_not_advised_to_train)
{
	static const char *const training[] = { "prof.step",  "DataLoader", "data loader",
						"fused=True", "per rank",   "training",
						"backward",   "optimizer" };

	for (size_t i = 0; i < tscope_rule_count(); i++) {
		const char *of_serving = tscope_rule(i)->serving_advice;
		const char *of_inference = tscope_rule(i)->inference_advice;

		for (size_t k = 0; k < sizeof(training) / sizeof(training[0]); k++)
			if ((of_serving && strstr(of_serving, training[k])) ||
			    (of_inference && strstr(of_inference, training[k])))
				fail_msg("%s: %s", tscope_rule(i)->id, training[k]);
	}
}
