/* SPDX-License-Identifier: MIT */
/* HOST.PYTHON: the device idles while the host runs Python code between operators. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

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

#define OPTIMIZER_ADVICE                                                                           \
	"fused=True or foreach=True in torch.optim's optimizers; of others, "                      \
	"torch.compile(optimizer.step)"
#define OFFLOAD_ADVICE                                                                             \
	"keep the optimizer's states on the device where memory allows, or part of them "          \
	"(DeepSpeed: ratio in offload_optimizer); else give it more cores (OMP_NUM_THREADS, "      \
	"deepspeed --bind_cores_to_rank)"

/* For a host that waits for others. */
#define WAIT_ADVICE                                                                                \
	"find the thread or process that the host waits for (py-spy dump --pid shows them all) "   \
	"and let it work ahead: more of them, a longer queue"
#define LOAD_ELSE_WAIT                                                                             \
	"if these are waits for requests, record while there are some; else " WAIT_ADVICE

static const struct idle_claim host_python_claim = { { "python" } };

static const char *wait_advice(const char *name)
{
	static const char sleep[] = "<built-in function sleep>";

	return strncmp(name, sleep, strlen(sleep)) == 0 ? "take time.sleep() out of the step, or "
							  "wait for what it polls: an event, a "
							  "queue"
							: NULL;
}

static bool is_training(const struct rule_context *ctx)
{
	return strcmp(tsi_rule_text(ctx, "steps.workload"), "inference") != 0 &&
	       strcmp(tsi_rule_text(ctx, "steps.boundary"), "iteration") != 0;
}

/* No Python runs: nothing makes it faster, and a server without requests has nothing to win. */
static bool fire_wait(struct rule_context *ctx)
{
	double share = tsi_idle_claim_share(ctx, &host_python_claim), waits;
	const char *name = NULL;

	waits = tsi_waiting_ns(ctx, &name) / (double)tsi_rule_int(ctx, "idle.python_ns");
	if (!(share >= tsi_rule_parameter(ctx, "threshold")) ||
	    !(waits >= tsi_rule_parameter(ctx, "wait")))
		return false;
	tsi_rule_fire(ctx, TSCOPE_SEVERITY_HIGH,
		      "the device idles for %.1f %% of the step while the host waits in %.120s",
		      100 * share * waits, name);
	tsi_describe_idle(ctx, &host_python_claim);
	tsi_rule_bound(ctx);
	if (!is_training(ctx))
		tsi_rule_wins_nothing(ctx);
	const char *advice = wait_advice(name);
	tsi_rule_advice_for(ctx, ADVICE_TRAINING, advice ? advice : WAIT_ADVICE);
	tsi_rule_advice_for(ctx, ADVICE_INFERENCE, advice ? advice : LOAD_ELSE_WAIT);
	tsi_rule_advice_for(ctx, ADVICE_SERVING, advice ? advice : LOAD_ELSE_WAIT);
	return true;
}

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

/* The optimizers of DeepSpeed, ColossalAI and torchao that compute on the CPU. */
static bool runs_on_cpu(const char *name)
{
	static const char *const words[] = {
		"CPUAdam", "cpu_adam", "CPUAdagrad",         "cpu_adagrad",
		"CPULion", "cpu_lion", "CPUOffloadOptimizer"
	};

	for (size_t i = 0; i < TSI_COUNT_OF(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/* Most of it is within the optimizer's step: that is no Python of the model. */
static bool fire_optimizer(struct rule_context *ctx)
{
	const char *name = tsi_main_culprit(ctx, &host_python_claim);
	bool is_on_cpu = runs_on_cpu(name);
	char before[160];

	if (!is_on_cpu && strncmp(name, "Optimizer.step#", strlen("Optimizer.step#")) != 0)
		return false;
	snprintf(before, sizeof(before),
		 is_on_cpu ? "the device waits for the optimizer on the CPU (%.80s) for "
			   : "the device waits for Python code in %.80s for ",
		 name);
	if (!tsi_judge_idle(ctx, &host_python_claim, before, ""))
		return false;
	tsi_rule_advice(ctx, is_on_cpu ? OFFLOAD_ADVICE : OPTIMIZER_ADVICE);
	return true;
}

static void evaluate_host_python(struct rule_context *ctx)
{
	if (fire_wait(ctx) || fire_optimizer(ctx))
		return;
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
		   "the runtime: in Python, or in code that is not recorded. Where for at "
		   "least wait of that it is in functions that wait (a queue, a lock, "
		   "select, sleep) they are named, and nothing is won where no step of "
		   "training waits.",
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
			{ "wait", 0.75, "share of it in functions that wait" },
		},
		.facts = { "idle.python_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_host_python,
	.evaluate = evaluate_host_python,
};
