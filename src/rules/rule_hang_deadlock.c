/* SPDX-License-Identifier: MIT */
/* HANG.DEADLOCK: ranks call the same operations in different orders. */
#include "rules/hang_finding.h"

#include <string.h>

/* "0, 2-3" → "s" */
static const char *plural(const char *ranks)
{
	return strpbrk(ranks, ",-") ? "s" : "";
}

/* "ranks 0, 2-3 wait in all_reduce #7 of group 2 for rank 1" */
static void describe_link(struct rule_context *ctx, size_t row)
{
	const char *ranks = tsi_rule_cell_text(ctx, "hang.chain", row, "ranks");
	const char *call = tsi_rule_cell_text(ctx, "hang.chain", row, "call");
	const char *others = tsi_rule_cell_text(ctx, "hang.chain", row, "waits_for");

	tsi_rule_detail(ctx, "rank%s %.40s wait%s in %.100s for rank%s %.40s", plural(ranks), ranks,
			*plural(ranks) ? "" : "s", call, plural(others), others);
}

/* Is it a message between two ranks? */
static bool is_message(const char *call)
{
	return strncmp(call, "send ", 5) == 0 || strncmp(call, "recv ", 5) == 0;
}

/* The title has both calls of a circle of two, but not for whom the culprit waits. */
static void describe_circle(struct rule_context *ctx)
{
	const char *culprits = tsi_rule_text(ctx, "hang.culprit_ranks");
	size_t count = tsi_rule_rows(ctx, "hang.chain");
	bool is_named = count == 2 && !tsi_rule_flag(ctx, "hang.is_tie");

	for (size_t row = 0; row < count && row < 4; row++) {
		const char *others = tsi_rule_cell_text(ctx, "hang.chain", row, "waits_for");

		if (!is_named)
			describe_link(ctx, row);
		else if (strcmp(tsi_rule_cell_text(ctx, "hang.chain", row, "ranks"), culprits) == 0)
			tsi_rule_detail(ctx, "%s wait%s for rank%s %.40s",
					tsi_hang_culprits(ctx).text, *plural(culprits) ? "" : "s",
					plural(others), others);
	}
}

static void evaluate_hang_deadlock(struct rule_context *ctx)
{
	const char *own = tsi_rule_text(ctx, "hang.culprit_call");

	if (!tsi_hang_is_found(ctx, "order"))
		return;
	if (tsi_rule_flag(ctx, "hang.is_tie"))
		tsi_hang_fire(ctx, "deadlock: %s wait for each other, each in another call",
			      tsi_hang_culprits(ctx).text);
	else
		tsi_hang_fire(ctx, "deadlock: %s waits in %.240s first",
			      tsi_hang_culprits(ctx).text, own);
	describe_circle(ctx);
	if (is_message(tsi_rule_text(ctx, "hang.call")) && is_message(own))
		tsi_rule_advice(ctx, "let one side of each pair receive first, or post both "
				     "messages in one batch_isend_irecv; look for a message that "
				     "only one side skipped");
}

const struct rule tsi_rule_hang_deadlock = {
	.def = {
		.id = "HANG.DEADLOCK",
		.summary = "ranks wait for each other in calls of different groups",
		.facts = { "hang.kind" },
		.trigger = "Fires where flight-recorder dumps show a circle: ranks wait in a "
			   "call for others that wait in another call, of another group or of "
			   "messages, for the first; high. Where fewer ranks are in one of the "
			   "calls than in the others these are to blame.",
		.meaning = "The ranks called the same operations in different orders. Calls of "
			   "different groups share the device: the second starts only when the "
			   "first is done.",
		.advice = "call operations of different groups in the same order on all "
			  "ranks; of messages let one side receive first, or post both in one "
			  "batch_isend_irecv",
		.example = "Rank 0 waits in all_reduce of group 1 for rank 1, rank 1 in "
			   "all_gather of group 2 for rank 0: a finding of severity high that "
			   "names both.",
	},
	.evidence = { "hang.kind", "hang.call", "hang.culprit_ranks", "hang.waiting_count",
		      "hang.timeout_ns", "hang.culprit_call" },
	.is_separate = true,
	.cause = CAUSE_hang_deadlock,
	.evaluate = evaluate_hang_deadlock,
};
