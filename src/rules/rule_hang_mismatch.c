/* SPDX-License-Identifier: MIT */
/* HANG.MISMATCH: ranks made different calls under one number. */
#include "rules/hang_finding.h"

static void evaluate_hang_mismatch(struct rule_context *ctx)
{
	static const char branch[] =
		"look for a branch on the rank or its data, an exception that only some ranks "
		"have, a parameter that only some use; --full has the stacks that were recorded";
	static const char lengths[] =
		"look for batches or sequences of different lengths (pad them, drop_last=True), "
		"a parameter that only some ranks use, a model built differently";
	static const char setup[] = "look for a model, precision or list of parameters that is set "
				    "up differently on this rank, a branch on the rank";
	static const struct {
		const char *kind, *words, *advice;
	} kinds[] = {
		{ "other_collective", "called another operation", branch },
		{ "size", "passed another size", lengths },
		{ "dtype", "passed another type", setup },
		{ "count", "passed another number of tensors", setup },
		{ "root", "named another root",
		  "compute the root (src, dst) from what all ranks have alike: it is a rank of "
		  "the job, not of the group" },
		{ "split", "passed other splits",
		  "exchange the counts before the all_to_all, so that what one rank sends is what "
		  "the other expects" },
		{ "peer", "addressed the wrong peer",
		  "look at how this rank computes the peer of the message: its place in the "
		  "group, the first and last stage" },
	};
	bool is_tie = tsi_rule_flag(ctx, "hang.is_tie");
	bool is_named = tsi_rule_int(ctx, "hang.culprit_count") > 0;
	const char *detail = tsi_rule_text(ctx, "hang.detail");

	if (!tsi_hang_is_found(ctx, "other_collective size dtype count root split peer"))
		return;
	for (size_t i = 0; i < TSI_COUNT_OF(kinds); i++) {
		if (!tsi_hang_is(ctx, kinds[i].kind))
			continue;
		if (is_named && !is_tie)
			tsi_hang_fire(ctx, "%s %s: %.400s", tsi_hang_culprits(ctx).text,
				      kinds[i].words, detail);
		else if (is_named)
			tsi_hang_fire(ctx, "%s do not agree: %.400s", tsi_hang_culprits(ctx).text,
				      detail);
		else
			tsi_hang_fire(ctx, "its ranks do not agree: %.400s", detail);
		tsi_rule_advice(ctx, kinds[i].advice);
	}
}

const struct rule tsi_rule_hang_mismatch = {
	.def = {
		.id = "HANG.MISMATCH",
		.summary = "ranks of a group made different calls under one number",
		.facts = { "hang.kind" },
		.trigger = "Fires where flight-recorder dumps show, under the number of the "
			   "call that ranks wait in, another operation, number of tensors, "
			   "number of elements, type or root, splits of an all_to_all that do "
			   "not add up, messages of different sizes, or one to a rank that "
			   "never was a peer while another waits; high. The minority is to "
			   "blame; of two alike the one that never made such a call before.",
		.meaning = "The ranks took different paths, or the same with different data: "
			   "the library waits for ever, or worse, mixes up the data. Shapes "
			   "may differ where the elements agree. The root of a broadcast and "
			   "the pairs of an all_to_all are not recorded.",
		.advice = "look for a branch on the rank or its data, batches or sequences of "
			  "different lengths, a parameter that only some ranks use, a model built "
			  "differently; --full has the stacks that were recorded",
		.example = "Seven ranks call all_reduce [4096], rank 6 all_gather [1024] under "
			   "the same number: a finding of severity high that names rank 6.",
	},
	.evidence = { "hang.kind", "hang.call", "hang.culprit_ranks", "hang.waiting_count",
		      "hang.timeout_ns", "hang.detail" },
	.is_separate = true,
	.cause = CAUSE_hang_mismatch,
	.evaluate = evaluate_hang_mismatch,
};
