/* SPDX-License-Identifier: MIT */
/* HOST.COMPILE: the device idles while the host compiles, or captures a graph. */
#include "rules/idle_finding.h"

#include <inttypes.h>
#include <string.h>

#define STEPS "steps.list"

static const struct idle_claim compile_claim = { { "compile" } };

static const char recompiles_advice[] =
	"TORCH_LOGS=recompiles names the guard that failed: mark_dynamic, pad shapes to a few "
	"sizes, or dynamic=True";

static const char capture_advice[] =
	"capture graphs before the loop, once for each of a few shapes to which batches are "
	"padded; a new shape, or an input at another address, is captured again";

/* Whether most of it is the capture of graphs: calls of the runtime, or of torch's trees. */
static bool is_capture(const struct rule_context *ctx)
{
	const char *culprit = tsi_main_culprit(ctx, &compile_claim);

	return strstr(culprit, "GraphInstantiate") || strstr(culprit, "BeginCapture") ||
	       strstr(culprit, "cudagraph_trees");
}

/* Steps that count, and of them those that compile after one that did not. */
struct compiling_steps {
	int64_t count, again_count;
};

static struct compiling_steps count_steps(const struct rule_context *ctx)
{
	double threshold = tsi_rule_parameter(ctx, "threshold");
	struct compiling_steps steps = { 0 };
	bool was_compiled = false;

	for (size_t row = 0; row < tsi_rule_rows(ctx, STEPS); row++) {
		if (*tsi_rule_cell_text(ctx, STEPS, row, "mark"))
			continue;
		steps.count++;
		if (!(tsi_rule_cell_real(ctx, STEPS, row, "compile_ns") >=
		      threshold * tsi_rule_cell_real(ctx, STEPS, row, "wall_ns")))
			was_compiled = true;
		else if (was_compiled)
			steps.again_count++;
	}
	return steps;
}

static void fire(struct rule_context *ctx, double share)
{
	struct compiling_steps steps = count_steps(ctx);
	bool is_graph = is_capture(ctx);
	const char *work = is_graph ? "capture of graphs" : "compilation";

	if (steps.again_count == 0) {
		tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
			      "%s takes %.1f %% of the step: this is not steady state", work,
			      100 * share);
		return;
	}
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "%s takes %.1f %% of the step: %" PRId64 " of %" PRId64 " steps %s%s again",
		      work, 100 * share, steps.again_count, steps.count,
		      is_graph ? "capture" : "compile", steps.again_count == 1 ? "s" : "");
	tsi_rule_advice(ctx, is_graph ? capture_advice : recompiles_advice);
}

static void evaluate_host_compile(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &compile_claim);

	if (!(share >= tsi_rule_parameter(ctx, "threshold")))
		return;
	fire(ctx, share);
	tsi_describe_idle(ctx, &compile_claim);
}

const struct rule tsi_rule_host_compile = {
	.def = {
		.id = "HOST.COMPILE",
		.summary = "compilation or the capture of a graph is in the steps",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the host compiles (dynamo, inductor, Triton, nvrtc, "
		   "TorchScript's fusers) or captures and instantiates a graph. Steps that "
		   "compile after one that did not are counted in the title.",
		.meaning = "torch.compile compiles at the first call and again for each new "
		   "shape that it cannot make dynamic; a step with a compilation says "
		   "nothing of the steps after it. While a graph is captured its "
		   "kernels do not run.",
		.advice = "record after warm-up: schedule(wait=1, warmup=3, active=5); where "
		   "steps compile again, TORCH_LOGS=recompiles names the guard that "
		   "failed: mark_dynamic, pad shapes to a few sizes, or dynamic=True",
		.serving_advice = "record after the engine's warm-up; shapes that compile while "
			  "serving belong into vLLM --compilation-config compile_sizes, SGLang "
			  "--torch-compile-max-bs",
		.example = "One of two steps of 350 ms compiles for 300 ms: 0.43 of the mean "
		   "step.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.compile_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_compile,
	.evaluate = evaluate_host_compile,
};
