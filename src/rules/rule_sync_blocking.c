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

struct caller {
	const char *op;
	const char *advice;
};

static const char reads_a_number[] =
	"the script reads a number from the device (.item(), float(tensor), print, an if on a "
	"tensor): do it every 100 steps, or keep the sum on the device";
static const char copies_at_once[] =
	"the script waits for a copy: .to(device, non_blocking=True) from pinned memory "
	"(pin_memory=True), and .cpu() only where the step ends";
static const char asks_for_a_size[] =
	"the size of a result depends on its data (nonzero, a boolean mask, unique): use "
	"torch.where, or pass size and indices that are known";

static const struct caller callers[] = {
	{ "aten::_local_scalar_dense", reads_a_number },
	{ "aten::item", reads_a_number },
	{ "aten::is_nonzero", reads_a_number },
	{ "aten::equal", reads_a_number },
	{ "aten::copy_", copies_at_once },
	{ "aten::_to_copy", copies_at_once },
	{ "aten::to", copies_at_once },
	{ "aten::nonzero", asks_for_a_size },
	{ "aten::masked_select", asks_for_a_size },
	{ "aten::_unique2", asks_for_a_size },
};

/* The first row of the table: whoever waited longest. */
static void describe_caller(struct rule_context *ctx)
{
	if (tsi_rule_rows(ctx, SYNCS) == 0)
		return;
	const char *op = tsi_rule_cell_text(ctx, SYNCS, 0, "op");
	const char *call = tsi_rule_cell_text(ctx, SYNCS, 0, "call");
	int64_t count = tsi_rule_cell(ctx, SYNCS, 0, "count").integer;
	int64_t total_ns = tsi_rule_cell(ctx, SYNCS, 0, "total_ns").integer;

	tsi_rule_detail(ctx, "%s%s%s waits longest: %" PRId64 " calls, %s in the trace", call,
			*op ? " in " : "", op, count, tsi_time_text((double)total_ns).chars);
	for (size_t i = 0; i < TSI_COUNT_OF(callers); i++)
		if (strcmp(callers[i].op, op) == 0)
			tsi_rule_advice(ctx, callers[i].advice);
}

static void evaluate_sync_blocking(struct rule_context *ctx)
{
	if (!tsi_judge_idle(ctx, &sync_claim, "for ",
			    " the device idles because the host waited for it"))
		return;
	describe_caller(ctx);
}

const struct rule tsi_rule_sync_blocking = {
	.def = {
		.id = "SYNC.BLOCKING",
		.summary = "the host stops to wait for the device",
		.trigger = "Fires where the device is idle while the host is inside a call that "
			   "waits for it, for at least threshold of the mean step.",
		.meaning = "A host that waits launches nothing, so that afterwards the device has "
			   "nothing to do until the host has caught up. One wait at the end of a "
			   "step costs little; a twentieth of the step means waits within it.",
		.advice = "find what waits (launches.syncs, with_stack=True names the line) and "
			  "remove it from the step: torch.cuda.synchronize(), .item(), .cpu(), "
			  "print of tensors; torch.cuda.set_sync_debug_mode(\"warn\") shows each "
			  "of them",
		.serving_advice = OVERLAP_HOST "; sampling parameters that need a number on the "
			  "host (penalties, logprobs, structured output) wait for each token",
		.example = "In a step of 100 ms the device idles 8 ms during loss.item(): 0.08, a "
			   "finding that names aten::_local_scalar_dense, with 8 "
			   "ms a step to win.",
		.parameters = {
			{ "threshold", 0.05, "share of the step at which it fires" },
		},
		.facts = { "idle.sync_ns", "step_time.mean_ns" },
	},
	.evidence = { "launches.sync_count", "launches.sync_ns" },
	.cause = CAUSE_sync_drain,
	.evaluate = evaluate_sync_blocking,
};
