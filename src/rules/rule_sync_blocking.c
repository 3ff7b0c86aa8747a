/* SPDX-License-Identifier: MIT */
/*
 * SYNC.BLOCKING: the host waits for the device and launches nothing meanwhile, so the device runs
 * dry. The operator that waited longest points to the line of the script.
 */
#include "base/scaled_text.h"
#include "rules/advice.h"
#include "rules/idle_finding.h"

#include <inttypes.h>
#include <string.h>

#define SYNCS "launches.syncs"

static const struct idle_claim sync_claim = { { "sync" } };

struct waiter {
	const char *op, *advice;
};

static const char copies_at_once[] =
	"the script waits for a copy: .to(device, non_blocking=True) from pinned memory "
	"(pin_memory=True), and .cpu() only where the step ends";
static const char asks_for_a_size[] =
	"the size of a result depends on its data (nonzero, a boolean mask, unique): use "
	"torch.where, or pass size and indices that are known";

static const struct waiter waiters[] = {
	{ "aten::copy_", copies_at_once },
	{ "aten::_to_copy", copies_at_once },
	{ "aten::to", copies_at_once },
	{ "aten::nonzero", asks_for_a_size },
	{ "aten::masked_select", asks_for_a_size },
	{ "aten::_unique2", asks_for_a_size },
};

static void advise(struct rule_context *ctx, const char *op)
{
	if (tsi_reads_number(op))
		tsi_rule_advice(ctx, READS_A_NUMBER);
	for (size_t i = 0; i < TSI_COUNT_OF(waiters); i++)
		if (strcmp(waiters[i].op, op) == 0)
			tsi_rule_advice(ctx, waiters[i].advice);
}

/* The row of the calls that have most of the idle time; the first one, that waited longest. */
static size_t find_calls(const struct rule_context *ctx, const char *culprit)
{
	for (size_t row = 0; row < tsi_rule_rows(ctx, SYNCS); row++)
		if (tsi_is_call_of(ctx, SYNCS, row, "call", culprit))
			return row;
	return 0;
}

static void describe_calls(struct rule_context *ctx)
{
	const char *culprit = tsi_main_culprit(ctx, &sync_claim);

	if (tsi_rule_rows(ctx, SYNCS) == 0)
		return;
	size_t row = find_calls(ctx, culprit);
	const char *op = tsi_rule_cell_text(ctx, SYNCS, row, "op");
	const char *call = tsi_rule_cell_text(ctx, SYNCS, row, "call");
	int64_t count = tsi_rule_cell(ctx, SYNCS, row, "count").integer;
	int64_t total_ns = tsi_rule_cell(ctx, SYNCS, row, "total_ns").integer;
	struct scaled_text total = tsi_time_text((double)total_ns);

	if (tsi_is_call_of(ctx, SYNCS, row, "call", culprit))
		tsi_rule_detail(ctx, "%" PRId64 " such calls wait %s in total", count, total.chars);
	else
		tsi_rule_detail(ctx, "%s%s%s waits longest: %" PRId64 " calls, %s in the trace",
				call, *op ? " in " : "", op, count, total.chars);
	advise(ctx, op);
}

static void evaluate_sync_blocking(struct rule_context *ctx)
{
	if (tsi_judge_idle(ctx, &sync_claim, "the device runs dry for ",
			   " because the host waits for it"))
		describe_calls(ctx);
}

const struct rule tsi_rule_sync_blocking = {
	.def = {
		.id = "SYNC.BLOCKING",
		.summary = "the host stops to wait for the device",
		.trigger = "Fires where the device idles for at least threshold of the mean step "
			   "because the host waits for it: until the call returns, and until the "
			   "host has launched again, as far as it could have done so instead of "
			   "waiting.",
		.meaning = "A host that waits launches nothing, so that afterwards the device has "
			   "nothing to do until the host has caught up. One wait at the end of a "
			   "step costs little; a twentieth of the step means waits within it.",
		.advice = "find what waits (launches.syncs, with_stack=True names the line) and "
			  "remove it from the step: torch.cuda.synchronize(), .item(), .cpu(), "
			  "print of tensors; torch.cuda.set_sync_debug_mode(\"warn\") shows each "
			  "of them",
		.serving_advice = OVERLAP_HOST "; sampling parameters that need a number on the "
			  "host (penalties, logprobs, structured output) wait for each token",
		.example = "In a step of 100 ms loss.item() is called 60 times, and each time the "
			   "device idles 130 µs until the next kernel: 0.08, a finding that "
			   "names .item() and its line, with 8 ms a step to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.sync_ns", "step_time.mean_ns" },
	},
	.evidence = { "launches.sync_count", "launches.sync_ns" },
	.cause = CAUSE_sync_drain,
	.evaluate = evaluate_sync_blocking,
};
