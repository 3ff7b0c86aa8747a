/* SPDX-License-Identifier: MIT */
/* SERVING.GRAPH_MISSED: decoding launches kernel by kernel although graphs would do. */
#include "base/scaled_text.h"
#include "rules/idle_finding.h"

#include <inttypes.h>
#include <math.h>

static void fire(struct rule_context *ctx)
{
	int64_t missed = tsi_rule_int(ctx, "inference.graph_miss_count");
	int64_t largest = tsi_rule_int(ctx, "inference.graph_max_requests");
	int64_t smallest = tsi_rule_int(ctx, "inference.miss_min_requests");

	if (!tsi_rule_has(ctx, "inference.graph_max_requests"))
		tsi_rule_fire(
			ctx, TSCOPE_SEVERITY_HIGH,
			"no decode iteration replays a graph, and the device waits for launches");
	else if (smallest > largest)
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "no graph for batches above %" PRId64 " requests: %" PRId64
			      " iterations launch kernel by kernel",
			      largest, missed);
	else
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "%" PRId64 " decode iterations miss the graphs and launch kernel by "
			      "kernel",
			      missed);
}

/* The host's part of iterations without a graph, but for waits, which no graph makes shorter. */
static int64_t late_ns(const struct rule_context *ctx)
{
	double idle_ns = tsi_rule_real(ctx, "inference.graph_miss_idle_ns");
	const char *name = "";
	double wait_ns = tsi_waiting_ns(ctx, &name);
	double host_ns = tsi_rule_real(ctx, "budget.launch_stall_total_ns") /
			 tsi_rule_real(ctx, "budget.step_count");

	if (wait_ns > 0)
		idle_ns = fmax(0, fmin(idle_ns, host_ns - wait_ns));
	return llround(idle_ns);
}

static void evaluate_serving_graph_missed(struct rule_context *ctx)
{
	int64_t idle_ns = late_ns(ctx);
	double share = (double)idle_ns / tsi_rule_real(ctx, "step_time.mean_ns");

	if (tsi_rule_int(ctx, "inference.graph_miss_count") == 0 ||
	    !(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	fire(ctx);
	tsi_rule_detail(ctx, "the device waits %s per iteration for the host (%.1f %%)",
			tsi_time_text((double)idle_ns).chars, 100 * share);
	tsi_rule_gain(ctx, GAIN_LAUNCH, idle_ns);
	if (!tsi_rule_has(ctx, "inference.graph_max_requests"))
		tsi_rule_advice(ctx, "let decoding replay graphs (vLLM without --enforce-eager, "
				     "SGLang without --disable-cuda-graph)");
}

const struct rule tsi_rule_serving_graph_missed = {
	.def = {
		.id = "SERVING.GRAPH_MISSED",
		.summary = "decode iterations run without a graph",
		.trigger = "Fires where decode or speculative iterations replay no graph, and the "
			   "device waits for the host in them for at least threshold of the mean "
			   "iteration; time in functions of Python that wait is left out.",
		.meaning = "A graph launches all kernels of an iteration at once. Without one the "
			   "host launches hundreds of kernels of some microseconds, and cannot "
			   "keep up. Engines capture graphs for a list of batch sizes; what is "
			   "larger, or not alike, runs without.",
		.advice = "capture graphs for the batches that occur (vLLM "
			  "--max-cudagraph-capture-size, SGLang --cuda-graph-max-bs-decode, in "
			  "older ones --cuda-graph-max-bs); inference.batches has the sizes that "
			  "missed, for vLLM --cudagraph-capture-sizes and SGLang "
			  "--cuda-graph-bs-decode",
		.example = "Of 100 iterations of 20 ms those with more than 64 requests launch "
			   "kernel by kernel; the device waits 3 ms an iteration for it: 0.15, a "
			   "finding with 3 ms an iteration to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the mean iteration at which it fires" },
		},
		.facts = { "inference.graph_miss_count", "inference.graph_miss_idle_ns",
			   "step_time.mean_ns" },
	},
	.evidence = { "inference.graph_hit_ratio", "inference.graph_coverage_ratio",
		      "inference.graph_miss_idle_ns" },
	.cause = CAUSE_graph_missed,
	.evaluate = evaluate_serving_graph_missed,
};
