/* SPDX-License-Identifier: MIT */
/* HOST.LAUNCH_BOUND: the device idles because launching its next work takes the host too long. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <string.h>

#define CALLS "launches.by_name"
#define OPERATORS "operators.by_name"

static const struct idle_claim launch_claim = { { "op_overhead", "launch_call", "start_latency" } };

static void describe_launches(struct rule_context *ctx, double count)
{
	bool is_one = count >= 0.5 && count < 1.5;

	tsi_rule_detail(ctx, "%.0f launch call%s per step", count, is_one ? "" : "s");
}

static bool has_graph_launches(const struct rule_context *ctx)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, CALLS); row++)
		if (strcmp(tsi_rule_cell_text(ctx, CALLS, row, "kind"), "graph_launch") == 0)
			return true;
	return false;
}

/* "Torch-Compiled Region: 3/0": the piece, and which of its compilations. */
static size_t piece_length(const char *name)
{
	static const char prefix[] = "Torch-Compiled Region: ";

	return strncmp(name, prefix, sizeof(prefix) - 1) == 0 ? strcspn(name, "/") : 0;
}

/* No model has more. */
enum { MAX_PIECES = 500 };

static bool is_among(const char *const *pieces, size_t count, const char *name)
{
	size_t length = piece_length(name);

	for (size_t i = 0; i < count; i++)
		if (piece_length(pieces[i]) == length && strncmp(pieces[i], name, length) == 0)
			return true;
	return false;
}

/* Pieces into which graph breaks cut a compiled model; 0: nothing is compiled. */
static size_t count_pieces(const struct rule_context *ctx)
{
	const char *pieces[MAX_PIECES];
	size_t count = 0;

	for (size_t row = 0; row < tsi_rule_rows(ctx, OPERATORS) && count < MAX_PIECES; row++) {
		const char *name = tsi_rule_cell_text(ctx, OPERATORS, row, "name");
		if (piece_length(name) && !is_among(pieces, count, name))
			pieces[count++] = name;
	}
	return count;
}

static void advise_on_pieces(struct rule_context *ctx, size_t count)
{
	static const char breaks[] =
		"TORCH_LOGS=graph_breaks says why the compiled model is in pieces: mend the "
		"largest breaks (fullgraph=True refuses them), then mode=\"reduce-overhead\" "
		"replays it as CUDA graphs";

	if (count < 2)
		return;
	tsi_rule_detail(ctx, "torch.compile left %zu pieces%s", count,
			count == MAX_PIECES ? " or more" : "");
	tsi_rule_advice_for(ctx, ADVICE_TRAINING, breaks);
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE, breaks);
}

static void evaluate_host_launch_bound(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &launch_claim, "the device waits for the host to launch work for ",
			    ""))
		return;
	if (tsi_rule_has(ctx, "launches.launches_per_step"))
		describe_launches(ctx, tsi_rule_real(ctx, "launches.launches_per_step"));
	advise_on_pieces(ctx, count_pieces(ctx));
	if (has_graph_launches(ctx))
		tsi_rule_advice_for(ctx, ADVICE_TRAINING,
				    "capture what is still launched one by one into the graphs "
				    "that are replayed already, or enlarge the batch");
}

const struct rule tsi_rule_host_launch_bound = {
	.def = {
		.id = "HOST.LAUNCH_BOUND",
		.summary = "the host is too slow to keep the device busy",
		.trigger = "Fires where the device is idle for at least threshold of the mean step "
			   "while the host dispatches operators or is inside launch calls of up to "
			   "1 ms, or the launched work is about to start. Start-up, compilation, "
			   "stalls and Python between operators have rules of their own.",
		.meaning = "The host should be ahead of the device by many launches. Where it is "
			   "behind, a faster device does not make the step shorter. Short stalls "
			   "at the ends of a step are normal; a tenth of it is not.",
		.advice = "use torch.compile(mode=\"reduce-overhead\") or "
			  "torch.cuda.CUDAGraph to launch a whole step at once; optimizers "
			  "with fused=True or foreach=True, larger batches",
		.serving_advice = DECODE_GRAPHS "; " OVERLAP_HOST,
		.inference_advice = COMPILE_FORWARD "; " MORE_REQUESTS,
		.example = "In a step of 100 ms the device waits 12 ms for launches: 0.12, a "
			   "finding with 12 ms a step to win.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
		},
		.facts = { "idle.op_overhead_ns", "idle.launch_call_ns",
			   "idle.start_latency_ns", "step_time.mean_ns" },
	},
	.evidence = { "launches.launches_per_step", "launches.queued_ratio" },
	.cause = CAUSE_launch_overhead,
	.evaluate = evaluate_host_launch_bound,
};
