/* SPDX-License-Identifier: MIT */
/* HANG.MISSING_CALL: some ranks wait in a call that another never made, or made too late. */
#include "rules/hang_finding.h"

#include <inttypes.h>

/* "it waits in X (train.py:212 step)", "its last call is X, completed" */
static void fire_missing(struct rule_context *ctx)
{
	struct hang_words culprits = tsi_hang_culprits(ctx);
	bool is_one = tsi_rule_int(ctx, "hang.culprit_count") == 1;
	int64_t behind = tsi_rule_int(ctx, "hang.behind_count");
	const char *last = tsi_rule_text(ctx, "hang.culprit_call");

	if (*last == '\0')
		tsi_hang_fire(ctx, "%s never called it, nor anything else", culprits.text);
	else
		tsi_hang_fire(ctx, "%s never called it; %s last call is %.240s, %s", culprits.text,
			      is_one ? "its" : "the first one's", last,
			      tsi_rule_text(ctx, "hang.culprit_state"));
	if (behind > 1)
		tsi_rule_detail(ctx, "it is %" PRId64 " collectives behind its group", behind);
}

static void fire_late(struct rule_context *ctx)
{
	tsi_hang_fire(ctx, "%s called it %.0f s after the first, too late",
		      tsi_hang_culprits(ctx).text, tsi_rule_real(ctx, "hang.late_ns") / 1e9);
	tsi_rule_advice(ctx, "look at what this rank did before it made the call (its log): a slow "
			     "loader, a checkpoint, an evaluation, a retry. Where that is meant "
			     "to take so long, raise the timeout of the process group");
}

static void evaluate_hang_missing_call(struct rule_context *ctx)
{
	if (tsi_hang_is_found(ctx, "missing_call"))
		fire_missing(ctx);
	else if (tsi_hang_is(ctx, "late"))
		fire_late(ctx);
}

const struct rule tsi_rule_hang_missing_call = {
	.def = {
		.id = "HANG.MISSING_CALL",
		.summary = "a rank never made a call that others wait in",
		.facts = { "hang.kind" },
		.trigger = "Fires where flight-recorder dumps show ranks in a call of a group "
			   "that another rank, whose own calls are all complete, has not made, "
			   "or made only after nine tenths of the timeout; high. Not where the "
			   "dumps were written within two seconds of the call.",
		.meaning = "The rank is somewhere else on its host: in a branch that the "
			   "others did not take, in an exception handler, a data loader, a "
			   "checkpoint, an evaluation, or dead. All ranks of the group wait "
			   "for it until the timeout.",
		.advice = "look at what this rank did after its last call (py-spy dump on the "
			  "process, its log). Likely a branch on its rank or its data, an "
			  "exception, a slow loader or checkpoint: make all ranks of the group "
			  "take the same path",
		.example = "Ranks 4, 5 and 7 wait in all_reduce 1841 of group 2, rank 6 "
			   "completed its 1840 and made no call since: a finding of severity "
			   "high that names rank 6.",
	},
	.evidence = { "hang.kind", "hang.call", "hang.culprit_ranks", "hang.waiting_count",
		      "hang.timeout_ns", "hang.culprit_call", "hang.behind_count" },
	.is_separate = true,
	.cause = CAUSE_hang_missing_call,
	.evaluate = evaluate_hang_missing_call,
};
