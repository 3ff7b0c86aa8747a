/* SPDX-License-Identifier: MIT */
/* COPY.BLOCKING: the device runs dry because the host is inside a copy call that blocks. */
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <string.h>

static const struct idle_claim copy_blocking_claim = { { "blocking_copy" } };

static void evaluate_copy_blocking(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &copy_blocking_claim, "the device runs dry for ",
			    " because copies block the host"))
		return;
	const char *op = strstr(tsi_main_culprit(ctx, &copy_blocking_claim), " in ");
	if (op && tsi_reads_number(op + strlen(" in ")))
		tsi_rule_advice(ctx, READS_A_NUMBER);
}

const struct rule tsi_rule_copy_blocking = {
	.def = {
		.id = "COPY.BLOCKING",
		.summary = "copies stop the host, and the device runs dry",
		.trigger = "Fires where the device idles for at least threshold of the mean "
		   "step because the launching thread is inside copy calls of 50 µs or "
		   "more, from or to pageable memory or synchronous: until the call "
		   "returns, and until the host has launched again, as far as it could "
		   "have done so instead of waiting.",
		.meaning = "A copy from pageable memory is staged by the host before the call "
		   "returns; one to pageable memory returns when it is done. Either way "
		   "nothing is launched meanwhile.",
		.advice = "pin the memory (pin_memory=True in the DataLoader, torch.empty(..., "
		   "pin_memory=True)) and pass non_blocking=True; read results back once "
		   "a step, or every few steps",
		.serving_advice = OVERLAP_HOST "; copies of sampled tokens wait for the device",
		.inference_advice = "copy inputs from pinned memory (torch.empty(..., "
			  "pin_memory=True)) with non_blocking=True; read results back once a "
			  "request",
		.example = "A step of 60 ms idles for 5 ms inside hipMemcpyWithStream of "
		   "aten::copy_: 0.08 of the step.",
		.parameters = {
			{ "threshold", 0.03, "share of the step at which it fires" },
		},
		.facts = { "idle.blocking_copy_ns", "step_time.mean_ns" },
	},
	.cause = CAUSE_blocking_copy,
	.evaluate = evaluate_copy_blocking,
};
