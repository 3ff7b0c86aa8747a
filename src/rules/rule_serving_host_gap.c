/* SPDX-License-Identifier: MIT */
/* SERVING.HOST_GAP: the device idles between iterations, while the engine's host prepares one. */
#include "base/scaled_text.h"
#include "rules/idle_finding.h"

#include <string.h>

#include "base/attributes.h"

/* By inference.host.part: what shortens it, or takes it off the way. */
static const struct {
	const char *part, *advice;
} part_advice[] = {
	{ "scheduling",
	  "schedule the next iteration while the device computes (vLLM --async-scheduling, SGLang "
	  "without --disable-overlap-schedule, TensorRT-LLM without disable_overlap_scheduler); "
	  "poll for requests less often (SGLang --scheduler-recv-interval)" },
	{ "input preparation",
	  "prepare inputs while the device computes (vLLM --async-scheduling, SGLang without "
	  "--disable-overlap-schedule, TensorRT-LLM without disable_overlap_scheduler); do more in "
	  "one iteration (vLLM --max-num-seqs, SGLang --max-running-requests)" },
	{ "launching the model",
	  "replay graphs instead of launching kernel by kernel: vLLM without --enforce-eager, "
	  "SGLang without --disable-cuda-graph, TensorRT-LLM cuda_graph_config" },
	{ "sampling",
	  "keep sampling on the device: logprobs, penalties, structured output and logits "
	  "processors need the host for each token; sample beside the next iteration (vLLM "
	  "--async-scheduling) and with fused kernels (SGLang --sampling-backend flashinfer)" },
	{ "output processing",
	  "handle tokens while the device computes (vLLM --async-scheduling, SGLang without "
	  "--disable-overlap-schedule), and stream several at once (vLLM and SGLang "
	  "--stream-interval)" },
	{ "waiting for the scheduler",
	  "let the scheduler's process run ahead of the workers (vLLM --async-scheduling); its own "
	  "work is in its process, which this trace does not hold" },
};

static const struct {
	const char *fact;
	enum gain_part part;
} host_causes[] = {
	{ "idle.python_ns", GAIN_PYTHON },      { "idle.host_unrecorded_ns", GAIN_PYTHON },
	{ "idle.op_overhead_ns", GAIN_LAUNCH }, { "idle.launch_call_ns", GAIN_LAUNCH },
	{ "idle.cpu_work_ns", GAIN_CPU_WORK },  { "idle.sync_ns", GAIN_SYNC },
};

/* The gaps are won back from what the host did in them, in proportion. */
static void claim_gaps(struct rule_context *ctx, double gap_ns)
{
	double host_ns = 0, part_ns[GAIN_PART_COUNT] = { 0 };

	for (size_t i = 0; i < TSI_COUNT_OF(host_causes); i++) {
		double ns = (double)tsi_rule_int(ctx, host_causes[i].fact);
		part_ns[host_causes[i].part] += ns;
		host_ns += ns;
	}
	double share = host_ns > gap_ns ? gap_ns / host_ns : 1;
	for (size_t part = 0; part < GAIN_PART_COUNT; part++)
		if (part_ns[part] > 0)
			tsi_rule_gain(ctx, (enum gain_part)part, (int64_t)(share * part_ns[part]));
}

/* The largest part of the gaps, where Python functions or annotations say it. */
static void name_part(struct rule_context *ctx)
{
	const char *part = tsi_rule_text(ctx, "inference.host.part");

	if (!*part)
		return;
	tsi_rule_detail(ctx, "%.0f %% of it %s",
			100 * tsi_rule_real(ctx, "inference.host.part_ratio"), part);
	for (size_t i = 0; i < TSI_COUNT_OF(part_advice); i++)
		if (strcmp(part_advice[i].part, part) == 0)
			tsi_rule_advice(ctx, part_advice[i].advice);
}

/* Does the engine have nothing to do? Its scheduler is what workers wait for: that has a part. */
static bool has_no_request(const struct rule_context *ctx, double gap_share)
{
	static const double most = 0.75;
	const char *name = "";
	double wait_share = tsi_waiting_ns(ctx, &name) / tsi_rule_real(ctx, "step_time.mean_ns");

	return !tsi_rule_has(ctx, "inference.host.part") && wait_share >= most * gap_share;
}

static void evaluate_serving_host_gap(struct rule_context *ctx)
{
	double share = tsi_rule_real(ctx, "inference.host_gap_ratio");
	int64_t gap_ns = tsi_rule_int(ctx, "inference.host_gap_ns");

	/* Between images there may be no request. */
	if (tsi_rule_int(ctx, "inference.diffusion.count") > 0)
		return;
	if (!(share >= tsi_rule_parameter(ctx, "threshold")) || has_no_request(ctx, share))
		return;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the device idles between iterations for %.1f %% of the time, waiting for "
		      "the engine's host",
		      100 * share);
	tsi_rule_detail(ctx, "%s before each iteration", tsi_time_text((double)gap_ns).chars);
	name_part(ctx);
	claim_gaps(ctx, (double)gap_ns);
}

const struct rule tsi_rule_serving_host_gap = {
	.def = {
		.id = "SERVING.HOST_GAP",
		.summary = "an inference engine's host keeps the device waiting between iterations",
		.trigger = "Fires where the steps are iterations of an inference engine and, for "
			   "at least threshold of their time, no kernel of the next one's model "
			   "has started although the device is done with the one before. Silent "
			   "where for three quarters of that the engine waits in a queue, select "
			   "or sleep, not for its scheduler: it has no request.",
		.meaning = "Between two iterations the engine samples, detokenizes, schedules and "
			   "prepares inputs. Where this is not done while the device computes, it "
			   "is added to each token. Recorded with Python stacks, the trace says "
			   "which of these takes most (inference.host), and the advice is for "
			   "that.",
		.advice = "prepare the next iteration while the device computes (vLLM "
			  "--async-scheduling, SGLang without --disable-overlap-schedule); do "
			  "more in one iteration (vLLM --max-num-seqs, SGLang "
			  "--max-running-requests, speculative decoding); sampling that needs the "
			  "host (structured output, penalties, logprobs) costs most",
		.example = "Iterations decode for 20 ms and the device waits 6 ms for the next: "
			   "0.23, a finding with 6 ms an iteration to win.",
		.parameters = {
			{ "threshold", 0.10, "share of the iterations' time at which it fires" },
		},
		.facts = { "inference.host_gap_ratio", "inference.host_gap_ns",
			   "step_time.mean_ns" },
	},
	.evidence = { "inference.host_gap_ratio", "inference.host_gap_ns", "inference.host.part",
		      "inference.host.part_ratio" },
	.cause = CAUSE_serving_host_gap,
	.evaluate = evaluate_serving_host_gap,
};
