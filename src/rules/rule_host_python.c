/* SPDX-License-Identifier: MIT */
/* HOST.PYTHON: the device idles while the host runs Python code between operators. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#define FRAME_COUNT "idle.python_frame_count"
#define MOVE_ADVICE                                                                                \
	"move preparation and post-processing to the data loader's workers or behind the "         \
	"launches of the next step"
#define COMPILE_ADVICE "torch.compile removes the Python between operators of a model"

#define OUT_OF_STEP                                                                                \
	" out of the step or, if it comes once in the life of the process (start-up, "             \
	"compilation), out of the recording"

/* No graph replays what the host does in one long gap of each pass. */
#define OVERLAP_ADVICE "prepare the next request while the device computes"
#define NAME_LINES "; with_stack=True names the lines"

static const struct idle_claim host_python_claim = { { "python" } };

/* A gap that comes once is neither the model's Python nor work that graphs or loaders take over. */
static void advise_on_one_gap(struct rule_context *ctx)
{
	const char *advice =
		tsi_rule_has(ctx, FRAME_COUNT)
			? "most of it is one gap: move what the host does there" OUT_OF_STEP
			: "most of it is one gap: with_stack=True shows what the host does there; "
			  "move that" OUT_OF_STEP;

	for (size_t user = 0; user < ADVICE_USER_COUNT; user++)
		tsi_rule_advice_for(ctx, (enum advice_user)user, advice);
}

static void evaluate_host_python(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &host_python_claim,
			    "the device waits for Python code between operators for ", ""))
		return;
	if (tsi_is_one_gap(ctx, &host_python_claim)) {
		advise_on_one_gap(ctx);
		return;
	}
	bool is_long = tsi_is_long_gap(ctx, &host_python_claim);
	if (!tsi_rule_has(ctx, FRAME_COUNT)) {
		if (is_long)
			tsi_rule_advice_for(ctx, ADVICE_INFERENCE, OVERLAP_ADVICE NAME_LINES);
		return;
	}
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE,
			    is_long ? OVERLAP_ADVICE : COMPILE_FORWARD "; " OVERLAP_ADVICE);
	tsi_rule_advice_for(ctx, ADVICE_TRAINING,
			    tsi_is_idle_spread(ctx, "python") ? COMPILE_ADVICE "; " MOVE_ADVICE
							      : MOVE_ADVICE "; " COMPILE_ADVICE);
}

const struct rule tsi_rule_host_python = {
	.def = {
		.id = "HOST.PYTHON",
		.summary = "the device waits for Python code between operators",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step while the launching thread is in no operator and no call of "
		   "the runtime: in Python, or in code that is not recorded.",
		.meaning = "What the script does between operators, such as preparing inputs, "
		   "walking over modules, post-processing and bookkeeping, runs while "
		   "nothing is queued. With with_stack=True the functions are named; "
		   "recording stacks makes them slower, too.",
		.advice = "record with_stack=True to see the source lines; then " MOVE_ADVICE
			  "; " COMPILE_ADVICE,
		.serving_advice = OVERLAP_HOST "; " FEWER_ITERATIONS,
		.inference_advice = COMPILE_FORWARD "; " OVERLAP_ADVICE NAME_LINES,
		.example = "A step of 40 ms idles for 11 ms in which the main thread is in "
		   "forward hooks written in Python: 0.28 of the step.",
		.parameters = {
			{ "threshold", 0.10, "share of the step at which it fires" },
		},
		.facts = { "idle.python_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_host_python,
	.evaluate = evaluate_host_python,
};
